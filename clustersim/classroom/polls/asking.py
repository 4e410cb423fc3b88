"""What a class can choose from: every node, or those whose fates differ; victims; leaders. Facts, never verdicts.

The options are made from what the scheduler sees when it takes the pod, so that nothing that fits is missing, and
nothing that does not fit either: an option list without the impossible ones would give the filters away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from clustersim.classroom.polls.judging import rights
from controllers.log.store import Gone
from controllers.scheduler.past import Past
from controllers.whatif.deciding import Decision, attempt_now
from scheduler_core.api.errors import ApiError
from scheduler_core.api.node import Node
from scheduler_core.api.requests import amounts
from scheduler_core.framework.profile import ProfileError
from scheduler_core.preemption.budgets import RESOURCE as BUDGETS
from scheduler_core.preemption.budgets import Budget, budgets_of, split
from scheduler_core.snapshot.node_info import PodInfo

Option = dict[str, Any]

NODES_MAX: Final = 8
"""Nodes that a poll lets a class choose from: a phone shows so many at once, and a class of thirty can be read."""

VICTIMS_MAX: Final = 12
"""Pods that a poll lets a class choose victims from."""

LABEL_LENGTH_MAX: Final = 200
"""Characters of a question, or of what an option or a reason is called; longer ones are refused with 422."""

NONE: Final = "none"
"""The option that nothing of the kind happens."""

SHOWN: Final = ("cpu", "memory")
"""Resources that options show beside those that the pod asks for."""

ZONE: Final = "topology.kubernetes.io/zone"

_NONE_OF: Final = {
    "node": {"en": "no node: it waits", "zh": "都不选，继续等待"},
    "victims": {"en": "nobody", "zh": "谁也不用"},
    "leader": {"en": "nobody leads", "zh": "没有领导者"},
}


def labelled(text: str) -> dict[str, str]:
    """Return a text that is the same in every language."""
    return {"en": text, "zh": text}


def none_of(kind: str) -> Option:
    """Return the option that nothing of a kind of poll happens."""
    return {"id": NONE, "label": dict(_NONE_OF[kind])}


def forecast(past: Past, pod: PodInfo) -> Mapping[str, Any] | None:
    """Return the result that the engine would come to now; None where it cannot be told.

    For whoever makes options or advises a teacher: it never leaves the server before the reveal.
    """
    try:
        decision = Decision(past, attempt_now(past, pod, 1))
        result: Mapping[str, Any] = decision.taken(decision.world())["result"]
    except (Gone, ApiError, ProfileError, KeyError):
        return None
    return result


def node_options(past: Past, pod: PodInfo, result: Mapping[str, Any] | None) -> list[Option]:
    """Return a node poll's options: every node, or of many the ones whose fates differ most; and none of them."""
    nodes = _some_nodes(past.nodes, result or {})
    budgets = budgets_of(past.list(BUDGETS))
    return [*(_node_option(past, node, pod, budgets) for node in nodes), none_of("node")]


def victim_options(past: Past, pod: PodInfo, result: Mapping[str, Any] | None) -> list[Option]:
    """Return a victims poll's options: the pods of a lower priority that have a node; and nobody."""
    lower = [
        one
        for one in past.pods
        if one.pod.spec.node_name and one.priority < pod.priority and not one.pod.metadata.deletion_timestamp
    ]
    if len(lower) > VICTIMS_MAX:
        meant = {name for option in rights("victims", result or {}) for name in option}
        first = [one for one in lower if one.key in meant]
        others = sorted((one for one in lower if one.key not in meant), key=lambda one: (one.priority, one.key))
        kept = {one.key for one in [*first, *others][:VICTIMS_MAX]}
        lower = [one for one in lower if one.key in kept]
    return [*(_victim_option(one) for one in sorted(lower, key=lambda one: natural(one.key))), none_of("victims")]


def leader_options(replicas: Iterable[Mapping[str, Any]], component: str) -> list[Option]:
    """Return a leader poll's options: the replicas of a component by identity; and nobody."""
    names = [one["metadata"]["name"] for one in replicas if (one.get("spec") or {}).get("component") == component]
    return [*({"id": name, "label": labelled(name)} for name in sorted(names, key=natural)), none_of("leader")]


def natural(name: str) -> list[Any]:
    """Return a key that puts n2 before n10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _some_nodes(nodes: Sequence[Node], result: Mapping[str, Any]) -> list[Node]:
    """Return at most NODES_MAX nodes, in order of name: some that win, some that lose, some that cannot be."""
    if len(nodes) <= NODES_MAX:
        return sorted(nodes, key=lambda one: natural(one.name))
    best = [name for choice in rights("node", result) for name in choice if name != NONE]
    failed = sorted(result.get("firstFail") or {}, key=natural)
    scores = result.get("scores") or {}
    by_total = sorted(zip(scores.get("total") or (), scores.get("nodes") or (), strict=False), reverse=True)
    losers = [name for _, name in by_total if name not in best]
    # In this order, so that neither kind crowds another out.
    wanted: list[str] = []
    for some in (best[:3], failed[:2], losers[:2], losers[-1:], failed[2:], losers, sorted(one.name for one in nodes)):
        wanted += [name for name in some if name not in wanted]
    kept = set(wanted[:NODES_MAX])
    return sorted((one for one in nodes if one.name in kept), key=lambda one: natural(one.name))


def _node_option(past: Past, node: Node, pod: PodInfo, budgets: Sequence[Budget]) -> Option:
    allocatable = amounts(node.status.allocatable)
    there = [one for one in past.pods if one.pod.spec.node_name == node.name and not one.pod.is_finished]
    wanted = [*SHOWN, *(name for name in pod.requests if name not in SHOWN)]
    taken = {name: sum(one.requests.get(name, 0) for one in there) for name in wanted}
    facts = {
        "allocatable": {name: allocatable.get(name, 0) for name in wanted},
        "free": {name: allocatable.get(name, 0) - taken[name] for name in wanted},
        "pods": len(there),
        "taints": [taint.key for taint in node.spec.taints],
        "priorities": sorted((one.priority for one in there), reverse=True)[:VICTIMS_MAX],
    }
    zone = node.metadata.labels.get(ZONE)
    ready = all(one.status == "True" for one in node.status.conditions if one.type == "Ready")
    guarded = len(split([one for one in there if one.priority < pod.priority], budgets)[0])
    # What is as usual takes no room on a phone.
    facts |= {"guarded": guarded} if guarded else {}
    facts |= {"zone": zone} if zone else {}
    facts |= {} if ready else {"ready": False}
    facts |= {"unschedulable": True} if node.spec.unschedulable else {}
    return {"id": node.name, "label": labelled(node.name), "facts": facts}


def _victim_option(one: PodInfo) -> Option:
    facts = {
        "node": one.pod.spec.node_name,
        "priority": one.priority,
        "requests": {name: one.requests.get(name, 0) for name in SHOWN},
    }
    return {"id": one.key, "label": labelled(one.pod.metadata.name), "facts": facts}
