"""A wrong rule as a scheduler: the engine runs it as it runs everything, with another configuration.

So there is one way from a rule to an answer: a decision in a poll, a search for a counterexample and a world that lives
under the rule all run kube-scheduler's cycle with what stands here in place of a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.rules.plugin import NAME as WRONG_RULE
from controllers.rules.preempting import MANNERS
from scheduler_core.api.document import Document
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.legacy.eras import ALGORITHM_PROVIDER
from scheduler_core.plugins.cel import NAME as CEL
from scheduler_core.plugins.default_preemption import NAME as PREEMPTION
from scheduler_core.plugins.node_resources_fit import NAME as FIT
from scheduler_core.plugins.taint_toleration import NAME as TAINTS


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a rule changes about a scheduler.

    Attributes:
        enabled: point of a profile → plugins that run there besides.
        disabled: point → plugins that do not run there, `*` for all others.
        arguments: plugin → its arguments.
        era: the rule is another era's scheduler altogether; empty: today's.
        needs: a plugin that the session must run for the rule to mean anything.
    """

    enabled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    disabled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    era: str = ""
    needs: str = ""

    def spec(self, spec: Mapping[str, Any]) -> Document:
        """Return what a session's scheduler must be told to be for the rule to hold there.

        Args:
            spec: what it is told now; of an era other than today's nothing is kept.
        """
        if self.era:
            return {"era": self.era}
        kept = deepcopy(dict(spec)) if (spec.get("era") or CURRENT_ERA) == CURRENT_ERA else {}
        configuration: Document = kept.get("configuration") or {}
        profiles = [self._profile(profile) for profile in configuration.get("profiles") or [{}]]
        return {"era": CURRENT_ERA, "configuration": {**configuration, "profiles": profiles}}

    def _profile(self, profile: Document) -> Document:
        plugins: Document = dict(profile.get("plugins") or {})
        for point in {**self.enabled, **self.disabled}:
            gone, more = self.disabled.get(point, ()), self.enabled.get(point, ())
            weight = {"weight": 1} if point in ("score", "multiPoint") else {}
            own = plugins.get(point) or {}
            kept = [one for one in own.get("enabled") or () if one["name"] not in (*gone, *more) and "*" not in gone]
            plugins[point] = {
                "enabled": [*kept, *({"name": name, **weight} for name in more)],
                "disabled": [*(own.get("disabled") or ()), *({"name": name} for name in gone)],
            }
        given = [one for one in profile.get("pluginConfig") or () if one["name"] not in self.arguments]
        given += [{"name": name, "args": dict(arguments)} for name, arguments in self.arguments.items()]
        return {**profile, "plugins": plugins, **({"pluginConfig": given} if given else {})}


def _alone(plugin: str, **arguments: Any) -> Mistake:
    """Return a scheduler in which one plugin scores and no other."""
    return Mistake({"score": [plugin]}, {"score": ["*"]}, {plugin: arguments} if arguments else {})


def _fit(strategy: str) -> Mistake:
    return _alone(FIT, scoringStrategy={"type": strategy})


def _preempting(rule: str) -> Mistake:
    """Return a scheduler that preempts by another manner."""
    return Mistake({"multiPoint": [WRONG_RULE]}, {"multiPoint": [PREEMPTION]}, {WRONG_RULE: {"rule": rule}})


def _scoring(rule: str) -> Mistake:
    return _alone(WRONG_RULE, rule=rule)


def _instead_of_fit(rule: str) -> Mistake:
    return Mistake({"filter": [WRONG_RULE]}, {"filter": [FIT]}, {WRONG_RULE: {"rule": rule}})


MISTAKES: Final[Mapping[str, Mistake]] = {
    "emptiest-node": _fit("LeastAllocated"),
    "fullest-node": _fit("MostAllocated"),
    "least-used": Mistake(
        {"score": [WRONG_RULE], "filter": [WRONG_RULE]},
        {"score": ["*"], "filter": [FIT]},
        {WRONG_RULE: {"rule": "least-used"}},
    ),
    "first-in-list": _scoring("first-in-list"),
    "same-scale-same-winner": Mistake(era=ALGORITHM_PROVIDER),
    "soft-is-small": Mistake(disabled={"score": [TAINTS]}),
    "my-score-rules": Mistake({"score": [CEL]}, {"score": ["*"]}, needs=CEL),
    "toleration-attracts": _scoring("toleration-attracts"),
    "only-bound-counts": _instead_of_fit("only-bound-counts"),
    "formula-is-code": _instead_of_fit("formula-is-code"),
    "reserved-seat": Mistake({"filter": [WRONG_RULE]}, arguments={WRONG_RULE: {"rule": "reserved-seat"}}),
    **{rule: _preempting(rule) for rule in MANNERS},
}
"""Rule → the scheduler that follows it; rules that are not here say nothing of where a pod goes."""
