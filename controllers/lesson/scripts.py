"""Scripts: what happens in a phase of a step, as a list of actions that can be written into the log.

An action is a mapping of one key, what is to be done, to its argument: those of a scenario's step (docs/scenarios.md),
`run`, `step` and `race`, and what only the scripts made here have: `hold`, `clear`, `count`. The same scripts are
played live and headless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from controllers.lesson.shape import Ask, Step
from controllers.predicates import ExpressionError, Predicate
from controllers.registry.models.clustersim_v1 import RUN_SECONDS_MAX, STEP_COUNT_MAX
from controllers.scenario.reading import read_step
from controllers.scenario.shape import Action
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said
from scheduler_core.cel.language import Wanted
from scheduler_core.framework.registry import PluginRegistry

RUN_SECONDS: Final = 20.0
"""Real seconds that a run may take which does not say."""

STEPS_BY: Final = ("point", "cycle", "event")
STEPS_UNTIL_MAX: Final = 200
"""Steps after which a `step` with `until` gives up."""

SETTLED: Final = "nodes().all(n, n.ready && !('node.kubernetes.io/not-ready' in n.taints)) || since() >= 12"
"""What a cleared cluster with new nodes waits for: all take pods. A node whose machine is silent never does."""

COUNT_FROM_SCENE: Final = {"count": {"from": "scene"}}
"""From here on `since()` counts; nothing is waited for."""

COUNT_FROM_WAIT: Final = {"count": {"from": "wait"}}
"""From here on `waited()` counts."""

_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "run": (("until",), ("seconds",)),
    "step": ((), ("by", "count", "until")),
    "race": (("kind", "name", "patches"), ("apiVersion", "namespace")),
}
"""Of the actions that only lessons have: the fields that must be there, and those that may."""


def read_script(entries: Sequence[Any], path: str, plugins: PluginRegistry | None, causes: list[Cause]) -> None:
    """Read a list of actions; what is wrong is added to `causes`."""
    for index, entry in enumerate(entries):
        where = f"{path}[{index}]"
        if len(entry) != 1:
            causes.append(Cause(where, said("package.oneKey", "must have one key, what is to be done")))
            continue
        ((what, argument),) = entry.items()
        if what not in _FIELDS:
            read_step(entry, where, [], plugins, causes)
        elif not isinstance(argument, dict):
            causes.append(Cause(f"{where}.{what}", said("package.mapping", "must be a mapping")))
        else:
            causes.extend(_wrong(what, argument, f"{where}.{what}"))


def _wrong(what: str, argument: Document, where: str) -> Iterator[Cause]:
    needed, allowed = _FIELDS[what]
    yield from (
        Cause(f"{where}.{name}", said("package.required", "is required")) for name in needed if name not in argument
    )
    for name in argument:
        if name not in needed + allowed:
            yield Cause(
                f"{where}.{name}",
                said("package.unknownOf", "unknown field; known are {known}", known=", ".join(needed + allowed)),
            )
    if "until" in argument:
        yield from wrong_predicate(argument["until"], f"{where}.until")
    if what == "run" and not _is_number(argument.get("seconds", RUN_SECONDS), RUN_SECONDS_MAX):
        yield Cause(
            f"{where}.seconds",
            said(
                "package.seconds",
                "must be a number above 0 and at most {run_seconds_max}",
                run_seconds_max=RUN_SECONDS_MAX,
            ),
        )
    if what == "step" and argument.get("by", "point") not in STEPS_BY:
        yield Cause(f"{where}.by", said("package.oneOf", "must be one of {known}", known=", ".join(STEPS_BY)))
    if what == "step" and not _is_number(argument.get("count", 1), STEP_COUNT_MAX):
        yield Cause(
            f"{where}.count",
            said("package.count", "must be a whole number from 1 to {step_count_max}", step_count_max=STEP_COUNT_MAX),
        )
    patches = argument.get("patches")
    if what == "race" and not (isinstance(patches, list) and patches and all(isinstance(one, dict) for one in patches)):
        yield Cause(f"{where}.patches", said("package.patches", "must be a list of merge patches, one a writer"))


def wrong_predicate(text: Any, where: str, wanted: Wanted = "bool") -> Iterator[Cause]:
    """Yield what is wrong with a predicate."""
    if not isinstance(text, str):
        yield Cause(where, said("package.predicate", "must be a predicate, as a text"))
        return
    yield from (Cause(where, problem) for problem in _problems_of(text, wanted))


@lru_cache(maxsize=1024)
def _problems_of(text: str, wanted: Wanted) -> tuple[str, ...]:
    """Return what is wrong with a predicate's text: many stand in several steps of a lesson."""
    try:
        Predicate.compile(text, wanted)
    except ExpressionError as wrong:
        return tuple(str(problem) for problem in wrong.problems)
    return ()


def _is_number(value: Any, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most


def actions(script: Sequence[Document], path: str) -> list[Action]:
    """Return a script's actions; `path` names them in errors."""
    return [
        Action(0, what, _listed(argument) if what == "apply" else argument, f"{path}[{index}].{what}", False)
        for index, entry in enumerate(script)
        for what, argument in entry.items()
    ]


def _listed(argument: Any) -> list[Any]:
    return argument if isinstance(argument, list) else [argument]


def key_of(pod: str) -> str:
    """Return `namespace/name` of a pod that a package names."""
    return pod if "/" in pod else f"default/{pod}"


def holds(ask: Ask | None) -> bool:
    """Return whether a question holds its pod before PreFilter."""
    return ask is not None and ask.hold == "before-prefilter"


def scene_script(step: Step, begin: Sequence[Document], pace: int) -> list[Document]:
    """Return what happens before the question.

    Args:
        step: whose.
        begin: the objects that a cleared cluster gets, nodes among them; none where the step is not `fresh`.
        pace: the lesson's.
    """
    script: list[Document] = [{"hold": {"pod": ""}}, COUNT_FROM_SCENE]
    if begin:
        script.append({"clear": {"pace": pace}})
        script.append({"run": {"until": _cleared(begin), "seconds": RUN_SECONDS}})
        nodes = [one for one in begin if one["kind"] == "Node"]
        script.append({"apply": nodes + [one for one in begin if one["kind"] != "Node"]})
        if nodes:
            script.append({"run": {"until": SETTLED, "seconds": RUN_SECONDS}})
        script.append(COUNT_FROM_SCENE)
    if step.ask is not None and holds(step.ask):
        script.append({"hold": {"pod": key_of(step.ask.pod)}})
    script.extend(step.scene.do)
    if step.ask is not None and holds(step.ask):
        until = f"held() == '{step.ask.pod.removeprefix('default/')}'"
        script.append({"run": {"until": until, "seconds": RUN_SECONDS}})
    return script


def _cleared(begin: Sequence[Document]) -> str:
    """Return what a cleared cluster waits for: a namespace that is to come again has to be gone, after some seconds."""
    names = [one["metadata"]["name"] for one in begin if one["kind"] == "Namespace"]
    return " && ".join(["since() >= 2", *(f"size(object('namespaces', '{name}')) == 0" for name in names)])


def wait_script(step: Step) -> list[Document]:
    """Return what happens between answer and reveal."""
    script: list[Document] = [{"hold": {"pod": ""}}, COUNT_FROM_WAIT]
    script.extend(step.wait.do if step.wait is not None else ())
    until = until_of(step)
    if until:
        seconds = step.wait.seconds if step.wait is not None else RUN_SECONDS
        script.append({"run": {"until": until, "seconds": seconds}})
    return script


def run_again(step: Step) -> list[Document]:
    """Return the script that waits on."""
    return [entry for entry in wait_script(step)[-1:] if "run" in entry]


def until_of(step: Step) -> str:
    """Return what a step waits for; empty where it waits for nothing."""
    if step.wait is not None and step.wait.until:
        return step.wait.until
    if step.ask is not None and holds(step.ask):
        return f"trace('{step.ask.pod}').exists"
    return ""


def make_it_so_script(step: Step) -> list[Document]:
    """Return what brings about what a step waits for; empty where there is no such thing."""
    if step.wait is None:
        return []
    if step.wait.make_it_so == "step":
        return [{"step": {"by": "cycle", "count": 1}}]
    return list(step.wait.make_it_so)
