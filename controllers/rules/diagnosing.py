"""Which rule a vote follows: option → rule, over what the class was asked about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from controllers.rules.deciding import Scene, decide
from controllers.rules.rule import ENGINE
from controllers.rules.table import RULES

NONE: Final = "none"
"""The option that nothing of the kind happens."""


def models_of(scene: Scene, kind: str, options: Iterable[str]) -> dict[str, str]:
    """Return option → the rule that gives it: the engine where it is right, else the first of the table that does.

    Args:
        scene: what the scheduler sees when it takes the pod in question.
        kind: node, or victims: then an option is one pod.
        options: names of nodes, or keys of pods, and `none`.
    """
    wanted, found, preempts = list(options), dict[str, str](), False
    for name, rule in RULES.items():
        if (rule.mistake is None and name != ENGINE) or (rule.mistake is not None and rule.mistake.era and preempts):
            # Earlier schedulers evicted nobody: of preemption they say nothing.
            continue
        answer = decide(scene, rule)
        if answer is None:
            continue
        preempts = preempts or answer.nominated
        if kind == "node":
            given = set(answer.nodes) or {NONE}
        else:
            given = {pod for dying in answer.dying for pod in dying} or {NONE}
        if name == ENGINE or len(given) <= (1 if kind == "node" else len(wanted)):
            for option in wanted:
                if option in given:
                    found.setdefault(option, name)
    return found
