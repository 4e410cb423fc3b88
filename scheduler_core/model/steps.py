"""The engine refines the model: what it did, as a step; whether the model allows it; what it takes if it does not.

    engine                                  model
    a pod is bound (or assumed)             Scheduling(Pod), Objects' has its Spec.NodeName
    a node is nominated, victims condemned  Preemption(Pod), Objects' = Objects ∖ Pods
    a victim is gone at last                nothing: it left Objects with Preemption
    an attempt fails                        OTHER ⟶ UNCHANGED(Objects)

An assumed pod counts as bound, one that is leaving is no object any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.api.node import Node
from scheduler_core.api.selectors import compile_term
from scheduler_core.framework.verdicts import UNSEEN
from scheduler_core.model.affinity import is_concerned, pod_affinity, viability
from scheduler_core.model.deviations import (
    AS_WRITTEN,
    BIND_FAILS,
    CRITERIA,
    DEVIATIONS,
    GREEDY,
    LATER,
    MORE_FILTERS,
    MUTUAL,
    NEVER,
    NOMINATED_FIRST,
    NOMINATIONS,
    NORMALISED,
    SAMPLING,
    TODAY,
    UNREADABLE,
    Granted,
)
from scheduler_core.model.filters import feasibility, host_ports, resources
from scheduler_core.model.loop import bound, casualty, jeopardy, may_go, subsets, unbound
from scheduler_core.model.objects import Objects
from scheduler_core.preemption.budgets import split
from scheduler_core.preemption.dry_run import Candidate
from scheduler_core.preemption.evaluator import Preemption
from scheduler_core.preemption.importance import by_importance
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo


@dataclass(frozen=True, slots=True)
class Bind:
    """The pod (its uid) has got the node."""

    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class Preempt:
    """The node is nominated for the pod; these pods (their uids) must go."""

    pod: str
    node: str
    victims: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fail:
    """The attempt came to nothing; `refused` names the node to which the binding was refused."""

    pod: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Leave:
    """A victim is gone."""

    pod: str


Step = Bind | Preempt | Fail | Leave


@dataclass(frozen=True, eq=False)
class Situation:
    """What the step was taken in: the model's objects, and what only the engine knows.

    Attributes:
        objects: the model's state.
        leaving: pods that are being deleted and still hold their place.
        waiting: uid → name of the deviation by which a pod is out of the queue's active lane.
        nominations: uid → node.
        totals: node → weighted sum of normalised scores, as the engine has it; empty where it scored nothing.
        examined: the nodes that a sampled search looked at; None: all.
        refused: nodes that a filter refused which the model does not write out.
        turn: who competes is not asked: it is the pod's turn.
    """

    objects: Objects
    leaving: tuple[PodInfo, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    nominations: Mapping[str, str] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    examined: frozenset[str] | None = None
    refused: frozenset[str] = frozenset()
    turn: bool = False

    def seen(self, granted: Granted) -> Objects:
        """Return the objects that are judged: with `victims-leave-later` those that are leaving, too."""
        if LATER not in granted or not self.leaving:
            return self.objects
        return self.objects.with_bound((pod, pod.pod.spec.node_name) for pod in self.leaving)


def step_of(run: Run) -> Step:
    """Return the step that an attempt of the engine came to; what becomes of its binding is not asked."""
    if run.chosen:
        return Bind(run.uid, run.chosen)
    found = None if run.post_filter is None else run.post_filter.detail
    if isinstance(found, Preemption) and found.chosen is not None:
        return Preempt(run.uid, found.chosen.node_name, frozenset(victim.uid for victim in found.chosen.victims))
    return Fail(run.uid)


def totals_of(run: Run) -> dict[str, int]:
    """Return node → weighted sum of normalised scores; nothing where fewer than two nodes were feasible."""
    if run.scores is None:
        return {}
    names = [run.snapshot.names[row] for row in run.scores.rows.tolist()]
    return dict(zip(names, run.scores.total.tolist(), strict=True))


def examined_of(run: Run) -> frozenset[str] | None:
    """Return the nodes that the search looked at before it had enough; None: all of them."""
    if run.outcome is None or run.outcome.used_nominated_node:
        return None
    seen = run.outcome.first != UNSEEN
    if seen.all():
        return None
    return frozenset(name for name, looked_at in zip(run.snapshot.names, seen.tolist(), strict=True) if looked_at)


def fits(pod: PodInfo, node: Node, objects: Objects, situation: Situation, granted: Granted) -> bool:
    """Return Feasibility; with `nominations-count` also as if the pods nominated there had arrived."""
    if MORE_FILTERS in granted and node.name in situation.refused:
        return False
    promised = _promised(pod, node, objects, situation, granted)
    if promised is not None and not feasibility(pod, node, promised, _of_promised(pod, situation, granted)):
        return False
    return feasibility(pod, node, objects, granted)


def _of_promised(pod: PodInfo, situation: Situation, granted: Granted) -> Granted:
    """Return what is granted when nominated pods are judged as if they had arrived.

    Their own anti-affinity is not asked where the filter had nothing to do before they were thought to be there.
    """
    return granted if is_concerned(pod, situation.seen(granted)) else granted - {MUTUAL}


def _promised(pod: PodInfo, node: Node, objects: Objects, situation: Situation, granted: Granted) -> Objects | None:
    """Return the objects with the pods of no lower priority nominated to the node in place; None: there are none."""
    if NOMINATIONS not in granted or node.name not in situation.nominations.values():
        return None
    rivals = [
        (other, node.name)
        for other in objects.pods
        if situation.nominations.get(other.uid) == node.name and other.priority >= pod.priority and other is not pod
    ]
    return objects.with_bound(rivals) if rivals else None


def enabled(step: Step, situation: Situation, granted: Granted = AS_WRITTEN) -> bool:
    """Return whether the model has the step, once these deviations are granted."""
    match step:
        case Leave(uid):
            return LATER in granted and any(pod.uid == uid for pod in situation.leaving)
        case Bind(uid, name):
            return _picked(uid, situation, granted) and _may_bind(uid, name, situation, granted)
        case Fail(uid, refused):
            if not _picked(uid, situation, granted):
                return False
            if refused and BIND_FAILS in granted:
                return _may_bind(uid, refused, situation, granted)
            if UNREADABLE in granted and _prefers_unreadably(situation.objects.pod(uid)):
                return True
            pod, objects = situation.objects.pod(uid), situation.seen(granted)
            return not _can_schedule(pod, objects, situation, granted) and not any(
                True for _ in _candidates(pod, objects, situation, granted)
            )
        case Preempt(uid, name, victims):
            return _picked(uid, situation, granted) and _may_preempt(uid, name, victims, situation, granted)


def _picked(uid: str, situation: Situation, granted: Granted) -> bool:
    """Return whether the loop may pick the pod among those that compete."""
    pod = situation.objects.pod(uid)
    if situation.turn:
        return not bound(pod, situation.objects)
    competing = [
        other for other in unbound(situation.objects) if other is pod or situation.waiting.get(other.uid) not in granted
    ]
    return not bound(pod, situation.objects) and may_go(pod, competing)


def _may_bind(uid: str, name: str, situation: Situation, granted: Granted) -> bool:
    pod, objects = situation.objects.pod(uid), situation.seen(granted)
    examined = situation.examined if SAMPLING in granted else None
    nodes = {
        node.name: node
        for node in objects.nodes
        if (examined is None or node.name in examined) and fits(pod, node, objects, situation, granted)
    }
    if name not in nodes:
        return False
    nominated = pod.pod.status.nominated_node_name
    if NOMINATED_FIRST in granted and nominated in nodes:
        return name == nominated
    if NORMALISED in granted and situation.totals:
        if not nodes.keys() <= situation.totals.keys():
            # A node that the engine ruled out has no score to be compared.
            return False
        worth: Mapping[str, int] = {other: situation.totals[other] for other in nodes}
    else:
        worth = {other: viability(pod, node, objects) for other, node in nodes.items()}
    return worth[name] == max(worth.values())


def _prefers_unreadably(pod: PodInfo) -> bool:
    affinity = pod.pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return False
    return any(compile_term(one.preference).errors for one in affinity.node_affinity.preferred)


def _can_schedule(pod: PodInfo, objects: Objects, situation: Situation, granted: Granted) -> bool:
    return any(fits(pod, node, objects, situation, granted) for node in objects.nodes)


def _may_preempt(uid: str, name: str, victims: frozenset[str], situation: Situation, granted: Granted) -> bool:
    pod, objects = situation.objects.pod(uid), situation.seen(granted)
    if _can_schedule(pod, objects, situation, granted):
        return False
    if LATER not in granted:
        victims = victims - {other.uid for other in situation.leaving}
    found = list(_candidates(pod, objects, situation, granted))
    wanted = [cost for cost, node, pods in found if node == name and {one.uid for one in pods} == victims]
    return bool(wanted) and min(wanted) == min(cost for cost, _, _ in found)


def _candidates(
    pod: PodInfo, objects: Objects, situation: Situation, granted: Granted
) -> Iterator[tuple[tuple[float, ...], str, Sequence[PodInfo]]]:
    """Yield (cost, node, pods) of every preemption that the model has."""
    if NEVER in granted and pod.pod.spec.preemption_policy == "Never":
        return
    if LATER in granted and _waits_for_victims(pod, objects, situation, granted):
        return
    for node in objects.nodes:
        if GREEDY in granted and not _worth_trying(pod, node, objects, situation, granted):
            continue
        if GREEDY in granted:
            found = reprieved(pod, node, objects, situation, granted)
            sets = [] if found is None else [found]
        else:
            sets = [
                (pods, casualty(pods, objects)[0])
                for pods in subsets(jeopardy(pod, node, objects))
                if fits(pod, node, objects.without(pods), situation, granted)
            ]
        for pods, broken in sets:
            cost: tuple[float, ...] = (broken, len(pods))
            if CRITERIA in granted:
                cost = Candidate(node.name, tuple(by_importance(pods)), broken, ()).costs
            yield cost, node.name, pods


def reprieved(
    pod: PodInfo, node: Node, objects: Objects, situation: Situation, granted: Granted
) -> tuple[tuple[PodInfo, ...], int] | None:
    """Return the engine's victims on the node and how many of them break a budget; None where it finds none.

    All of Jeopardy goes; then, pods whose loss breaks a budget first, and the important first in both groups, each
    comes back as long as the pod still fits. Whether a loss breaks a budget is judged once, as if all were lost.
    """
    lesser = jeopardy(pod, node, objects)
    left = objects.without(lesser)
    if not lesser or not fits(pod, node, left, situation, granted):
        return None
    breaking, others = split(by_importance(lesser), objects.budgets)
    victims: list[PodInfo] = []
    for other in (*breaking, *others):
        trial = left.with_bound([(other, node.name)])
        if fits(pod, node, trial, situation, granted):
            left = trial
        else:
            victims.append(other)
    return (tuple(victims), sum(victim in breaking for victim in victims)) if victims else None


def _waits_for_victims(pod: PodInfo, objects: Objects, situation: Situation, granted: Granted) -> bool:
    """Return whether victims of an earlier preemption are still leaving the node that is nominated for the pod."""
    name = pod.pod.status.nominated_node_name
    node = objects.node_of.get(name)
    if node is None or not _worth_trying(pod, node, objects, situation, granted):
        return False
    return any(
        other.pod.spec.node_name == name
        and other.priority < pod.priority
        and any(one.reason == "PreemptionByScheduler" for one in other.pod.status.conditions)
        for other in situation.leaving
    )


def _worth_trying(pod: PodInfo, node: Node, objects: Objects, situation: Situation, granted: Granted) -> bool:
    """Return whether the filter that fails first on the node is one that taking pods away may help."""
    promised = _promised(pod, node, objects, situation, granted)
    first = _of_promised(pod, situation, granted)
    judged = promised if promised is not None and not feasibility(pod, node, promised, first) else objects
    empty = judged.without(judged.on.get(node.name, ()))
    if not resources(pod, node, empty, granted):
        return False
    near = pod_affinity(pod, node, judged, granted)
    return near or not (resources(pod, node, judged, granted) and host_ports(pod, node, judged, granted))


def explain(step: Step, situation: Situation) -> Granted | None:
    """Return a smallest set of deviations without which the model would refuse the step; None: it has no such step.

    Smallest by inclusion: none of them can be left out.
    """
    if enabled(step, situation):
        return AS_WRITTEN
    held = TODAY
    if not enabled(step, situation, held):
        return None
    for name in DEVIATIONS:
        if enabled(step, situation, held - {name}):
            held -= {name}
    return held
