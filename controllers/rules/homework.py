"""Homework: for each person a cluster of the same size on which a wrong rule goes wrong; the engine marks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from controllers.rules import telling
from controllers.rules.cases import Size
from controllers.rules.deciding import Answer, decide
from controllers.rules.finding import Found, find
from controllers.rules.rule import ENGINE, Rule
from controllers.rules.table import RULES
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw

NONE: Final = "none"
"""The option that no node is right, or that nobody dies."""

SEEDS_TRIED: Final = 12
"""Seeds that are tried, one after the other, until one leads to a cluster of the size that is wanted."""

KEPT_MAX: Final = 512
"""Clusters that one process keeps between requests; past it the one used longest ago is found anew."""

SIZE: Final = Size(3, 4)
"""How large the clusters of a homework are, unless said otherwise."""

TOPICS: Final[Mapping[str, Sequence[str]]] = {
    "preemption": ("fewest-victims", "lowest-priority-node", "lowest-first", "pdb-forbids"),
    "scores": ("emptiest-node", "first-in-list", "soft-is-small", "my-score-rules"),
    "filters": ("formula-is-code", "least-used", "only-bound-counts", "toleration-attracts"),
}
"""Topic → the rules that its tasks lead astray, a task each."""

Asked = Literal["node", "victims"]

QUESTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "node": {
        "en": "Which node does the new pod get, now or once others have left it?",
        "zh": "新 Pod 现在（或等别人离开后）会去哪个节点？",
    },
    "victims": {"en": "Which pods have to go for the new pod?", "zh": "为了新 Pod，哪些 Pod 必须离开？"},
}


@lru_cache(maxsize=KEPT_MAX)
def task(rule: str, seed: int, size: Size = SIZE) -> Found:
    """Return the cluster of one person's task.

    Raises:
        LookupError: no seed leads to such a cluster.
    """
    for attempt in range(SEEDS_TRIED):
        found = find(RULES[rule], draw(seed, "homework", rule, attempt, below=2**53), size=size)
        if found is not None:
            return found
    raise LookupError(f"no cluster of {size.nodes} nodes and {size.pods} pods leads {rule} astray")


def asked(rule: Rule) -> Asked:
    """Return what a task about a rule asks for."""
    return "victims" if rule.kind == "victims" else "node"


def question(rule: Rule, found: Found) -> Document:
    """Return a task as it is put: the cluster, the question and the options; nothing that tells the answer.

    Returns:
        `kind` (node or victims), `question`, `options` (names of nodes or keys of pods, and `none`), `pod`, `nodes`.
    """
    cluster = telling.cluster(found.case.scene())
    kind = asked(rule)
    there = [pod for node in cluster["nodes"] for pod in node["pods"]]
    lesser = [pod["key"] for pod in there if pod["priority"] < cluster["pod"]["priority"]]
    options = [node["name"] for node in cluster["nodes"]] if kind == "node" else sorted(lesser)
    return {"kind": kind, "question": dict(QUESTIONS[kind]), "options": [*options, NONE], **cluster}


def is_right(rule: Rule, answer: Answer, choice: Sequence[str]) -> bool:
    """Return whether a choice is what an answer says: one of the nodes, or one of the sets of victims, whole."""
    if asked(rule) == "node":
        return tuple(choice) in {(name,) for name in answer.nodes or (NONE,)}
    return tuple(sorted(name for name in choice if name != NONE)) in answer.dying and bool(choice)


def believed(rule: Rule, found: Found, choice: Sequence[str]) -> str:
    """Return the rule that a wrong choice follows: the task's own if it does, else any that comes to it; else empty."""
    if is_right(rule, found.engine, choice):
        return ENGINE
    if is_right(rule, found.believed, choice):
        return rule.id
    scene = found.case.scene()
    for other in RULES.values():
        if other.mistake is None or other.mistake.era or other.mistake.needs:
            continue
        answer = decide(scene, other)
        if answer is not None and is_right(rule, answer, choice):
            return other.id
    return ""


def solution(found: Found) -> Document:
    """Return what is told once a task is over: what the engine does, what the rule would have done, and the objects."""
    told = telling.found(found)
    return {"answers": told["answers"], "objects": told["objects"], "scheduler": told["scheduler"]}
