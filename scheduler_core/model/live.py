"""The same definitions over a live cluster: what they say of one pod, node by node, as a screen shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.node import Node
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.model.affinity import viability
from scheduler_core.model.deviations import AS_WRITTEN, DEVIATIONS, TODAY
from scheduler_core.model.filters import FILTERS, FORMULAS, differences, feasibility, is_beyond_help
from scheduler_core.model.loop import (
    PREEMPTION,
    SCHEDULING,
    UNCHANGED,
    bound,
    bound_to,
    casualty,
    jeopardy,
    may_go,
    subsets,
    unbound,
)
from scheduler_core.model.objects import Objects
from scheduler_core.model.steps import Bind, Preempt, Situation, examined_of, explain, step_of, totals_of
from scheduler_core.preemption.budgets import budgets_of
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo

CELLS_MAX: Final = 100_000
"""Nodes × pods of a cluster that the definitions are evaluated on; larger ones are refused with 422."""

JEOPARDY_MAX: Final = 10
"""Pods in jeopardy on one node whose subsets are all tried: 2¹⁰. With more, taking them all away decides, and the least
Casualty is not told."""

SUBSETS_MAX: Final = 4_096
"""Subsets tried in one answer; past it nodes are judged as if too many of their pods were in jeopardy."""

EXPLAINED_MAX: Final = 512
"""Subsets that explaining a failure or a preemption may try, many times over; past it there is no explanation."""

WRITTEN_OUT: Final = frozenset(
    {"NodeUnschedulable", "NodeResourcesFit", "NodeAffinity", "TaintToleration", "InterPodAffinity", "NodePorts"}
)
"""Plugins whose filters the model has as formulas."""

BOUND: Final = "Bound"
"""The CASE of a pod that the loop does not pick: it has a node."""


def objects_of(
    nodes: Sequence[Node],
    pods: Sequence[PodInfo],
    budgets: Sequence[FrozenDocument] = (),
    namespaces: Sequence[FrozenDocument] = (),
) -> tuple[Objects, tuple[PodInfo, ...]]:
    """Return the model's state of a cluster, and the pods that are leaving; those that have finished are neither.

    Args:
        nodes: all of them.
        pods: all of them.
        budgets: PodDisruptionBudget documents.
        namespaces: Namespace documents.
    """
    infos = [info for info in pods if not info.pod.is_finished]
    objects = Objects(
        tuple(info for info in infos if not info.pod.is_terminating),
        tuple(nodes),
        budgets_of(budgets),
        {one["metadata"]["name"]: one["metadata"].get("labels") or {} for one in namespaces},
    )
    leaving = (info for info in infos if info.pod.is_terminating and info.pod.spec.node_name in objects.node_of)
    return objects, tuple(leaving)


@dataclass(slots=True)
class _Preemption:
    """What PreemptionEnabled says of one node; `enabled` None: too many subsets to know."""

    enabled: bool | None
    pods: tuple[PodInfo, ...] | None = None
    casualty: tuple[int, int] | None = None

    def as_dict(self, lesser: Sequence[PodInfo]) -> dict[str, Any]:
        return {
            "jeopardy": [pod.key for pod in lesser],
            "enabled": self.enabled,
            "pods": None if self.pods is None else [pod.key for pod in self.pods],
            "casualty": _casualty(self.casualty),
        }


def _casualty(cost: tuple[int, int] | None) -> dict[str, int] | None:
    return None if cost is None else {"brokenBudgets": cost[0], "pods": cost[1]}


class _Search:
    """Looks for the least harm on node after node, within `SUBSETS_MAX`."""

    def __init__(self, pod: PodInfo, objects: Objects) -> None:
        self._pod = pod
        self._objects = objects
        self._left = SUBSETS_MAX

    def on(self, node: Node, lesser: Sequence[PodInfo]) -> _Preemption:
        pod, objects = self._pod, self._objects
        if is_beyond_help(pod, node, objects):
            return _Preemption(False)
        count = 2 ** len(lesser)
        if len(lesser) > JEOPARDY_MAX or count > self._left:
            if feasibility(pod, node, objects.without(lesser)):
                return _Preemption(True)
            # Fewer pods only ever help, but for a pod that wants others near.
            return _Preemption(None if pod.terms.affinity else False)
        self._left -= count
        for cost, pods in sorted(((casualty(pods, objects), pods) for pods in subsets(lesser)), key=lambda one: one[0]):
            if feasibility(pod, node, objects.without(pods)):
                return _Preemption(True, pods, cost)
        return _Preemption(False)


def evaluate(
    pod: PodInfo, objects: Objects, run: Run | None = None, leaving: tuple[PodInfo, ...] = ()
) -> dict[str, Any]:
    """Return what the definitions say of a pod.

    A pod that is bound is judged as if it were not: its own place is free to it.

    Args:
        pod: one of the objects' pods.
        objects: the cluster.
        run: the engine's attempt at the pod in the same objects, for its verdicts, its sums and its step.
        leaving: pods that are being deleted and still hold their place.
    """
    others = objects.without((pod,))
    engine = _Engine(run)
    search = _Search(pod, others)
    nodes, allowed, worth = [], [], {}
    named: set[str] = set()
    found: list[tuple[Node, _Preemption]] = []
    for node in objects.nodes:
        filters = [_filter(section, pod, node, others) for section in FILTERS]
        named.update(*(one["deviations"] for one in filters))
        worth[node.name] = viability(pod, node, others)
        feasible = all(one["holds"] for one in filters)
        if feasible:
            allowed.append(node.name)
        lesser = jeopardy(pod, node, others)
        preemption = _Preemption(True, (), (0, 0)) if feasible else search.on(node, lesser)
        found.append((node, preemption))
        nodes.append(
            {
                "node": node.name,
                "boundTo": bound_to(pod, node, objects),
                "feasible": feasible,
                "filters": filters,
                "viability": worth[node.name],
                "preemption": preemption.as_dict(lesser),
                "engine": engine.of(node.name),
            }
        )
    best = max((worth[name] for name in allowed), default=0)
    step: dict[str, Any] = {} if run is None else _step(pod, objects, run, leaving)
    named |= set(step.get("deviations") or ())
    return {
        **_loop(pod, objects, bool(allowed), [one for _, one in found]),
        "possible": [node.name for node in objects.nodes],
        "feasible": allowed,
        "viable": [name for name in allowed if worth[name] == best],
        "engine": None if run is None else {**engine.whole(), **step},
        "formulas": dict(FORMULAS),
        "named": {
            name: {
                "section": one.section,
                "model": one.model,
                "engine": one.engine,
                "why": one.why,
                "example": one.example,
            }
            for name, one in DEVIATIONS.items()
            if name in named
        },
        "nodes": nodes,
    }


def _filter(section: str, pod: PodInfo, node: Node, objects: Objects) -> dict[str, Any]:
    holds = FILTERS[section]
    return {
        "section": section,
        "holds": holds(pod, node, objects, AS_WRITTEN),
        "today": holds(pod, node, objects, TODAY),
        "deviations": differences(holds, pod, node, objects),
    }


def _loop(pod: PodInfo, objects: Objects, scheduling: bool, preemptions: Sequence[_Preemption]) -> dict[str, Any]:
    waiting = unbound(objects)
    is_bound = bound(pod, objects)
    can_preempt: bool | None = any(one.enabled for one in preemptions)
    if not can_preempt and any(one.enabled is None for one in preemptions):
        can_preempt = None
    known = [one.casualty for one in preemptions if one.casualty is not None]
    told = all(one.casualty is not None for one in preemptions if one.enabled is not False)
    branch: str | None = SCHEDULING if scheduling else PREEMPTION if can_preempt else UNCHANGED
    if not scheduling and can_preempt is None:
        branch = None
    return {
        "bound": is_bound,
        "boundTo": pod.pod.spec.node_name if is_bound else None,
        "priority": pod.priority,
        "unbound": len(waiting),
        "above": [other.key for other in waiting if other.priority > pod.priority],
        "mayGo": may_go(pod, waiting),
        "schedulingEnabled": scheduling,
        "preemptionEnabled": can_preempt,
        "casualty": _casualty(min(known)) if known and told else None,
        "case": BOUND if is_bound else branch,
    }


def _step(pod: PodInfo, objects: Objects, run: Run, leaving: tuple[PodInfo, ...]) -> dict[str, Any]:
    """Return the engine's step, and the deviations without which the model would refuse it.

    None: the model has no such step, or so many pods are in jeopardy that nobody can tell.
    """
    names = {other.uid: other.key for other in (*objects.pods, *leaving)}
    step = step_of(run)
    shown: dict[str, Any] = {"kind": type(step).__name__, "node": None, "victims": []}
    if isinstance(step, Bind | Preempt):
        shown["node"] = step.node
    if isinstance(step, Preempt):
        shown["victims"] = sorted(names.get(uid, uid) for uid in step.victims)
    situation = Situation(
        objects.with_bound([(pod, "")]) if bound(pod, objects) else objects,
        leaving,
        nominations={
            other.uid: other.pod.status.nominated_node_name
            for other in objects.pods
            if other.pod.status.nominated_node_name and not other.pod.spec.node_name
        },
        totals=totals_of(run),
        examined=examined_of(run),
        refused=_refused_elsewhere(run),
        turn=True,
    )
    tried = sum(2 ** len(jeopardy(pod, node, situation.seen(TODAY))) for node in objects.nodes)
    found = explain(step, situation) if isinstance(step, Bind) or tried <= EXPLAINED_MAX else None
    deviations = None if found is None else [name for name in DEVIATIONS if name in found]
    return {"step": shown, "deviations": deviations}


def _refused_elsewhere(run: Run) -> frozenset[str]:
    """Return the nodes refused by a plugin that the model does not write out."""
    snapshot = run.snapshot
    if run.outcome is None:
        return frozenset() if run.pre_filter_status.plugin in WRITTEN_OUT else frozenset(snapshot.names)
    return frozenset(
        snapshot.names[row]
        for row, status in run.outcome.failed()
        if status.plugin and status.plugin not in WRITTEN_OUT
    )


class _Engine:
    """What the engine's own attempt said."""

    def __init__(self, run: Run | None) -> None:
        self._run = run
        self._totals: Mapping[str, int] = {}
        self._outcome: FilterOutcome | None = None
        self._parts: dict[str, dict[str, int]] = {}
        if run is not None:
            self._outcome = run.outcome
            self._totals = totals_of(run)
            for plugin, scores in (run.scores.detail() if run.scores is not None else {}).items():
                for name, score in zip(self._totals, scores.weighted.tolist(), strict=True):
                    self._parts.setdefault(name, {})[plugin] = score

    def of(self, name: str) -> dict[str, Any] | None:
        """Return the verdict on one node, and its weighted sum of normalised scores; None: no attempt was made."""
        if self._run is None:
            return None
        row = self._run.snapshot.row_of.get(name)
        status = self._run.pre_filter_status
        if self._outcome is not None and row is not None:
            status = self._outcome.status_of(row)
        feasible = status.code is Code.SUCCESS
        return {
            "feasible": feasible,
            "plugin": status.plugin,
            "reasons": list(status.reasons),
            "total": self._totals.get(name) if feasible else None,
            "scores": self._parts.get(name, {}),
        }

    def whole(self) -> dict[str, Any]:
        """Return the nodes that pass and those that score highest."""
        names = [] if self._run is None else self._run.snapshot.names
        names = [name for name in names if (self.of(name) or {})["feasible"]]
        most = max(self._totals.values(), default=0)
        return {"feasible": names, "best": [name for name in names if self._totals.get(name, most) == most]}
