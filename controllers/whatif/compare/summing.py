"""What came of one side, in numbers: placed, evicted, spread, the use of what is left, and how long pods waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from controllers.scheduler.past import Past
from controllers.whatif.compare.inputs import Given, Size
from controllers.whatif.compare.running import Played
from scheduler_core.api.document import Document
from scheduler_core.api.node import Node
from scheduler_core.api.requests import amounts
from scheduler_core.snapshot.node_info import PodInfo

ZONE: Final = "topology.kubernetes.io/zone"

_GROUP_LABELS: Final = ("app.kubernetes.io/name", "app")


def of_side(given: Given, played: Played) -> Document:
    """Return the sums of a side.

    Returns:
        `pods`, `placed` (of them, and not evicted again), `evicted` (pods that preemption took, others too), `spread`
        (`skew`, `group`, `over`), `room` (`size`, `fits`, `cpuFree` in millicores, `stranded`: the part of it that no
        pod of that size can use), `waited` in seconds (`half`: the pod in the middle, `longest` of those that were
        placed; None where it never got a node), `simTime` at the end, and `atRest`.
    """
    past = Past(played.store)
    there = [info for info in past.pods if info.pod.spec.node_name and not info.pod.is_finished]
    waits = sorted((at_ms - played.came[uid]) / 1000 for uid, (_, at_ms) in played.bound.items())
    middle = len(given.played) // 2
    return {
        "pods": len(given.played),
        "placed": sum(1 for uid in played.bound if uid not in played.evicted),
        "evicted": len(played.evicted),
        "spread": _spread([info for info in there if info.uid in given.played], past.nodes),
        "room": _room(past.nodes, there, given.size),
        "waited": {
            "half": waits[middle] if middle < len(waits) else None,
            "longest": waits[-1] if waits else None,
        },
        "simTime": played.end_ms / 1000,
        "atRest": played.at_rest,
    }


def by_node(given: Given, played: Played) -> dict[str, Document]:
    """Return by node, in order of name: `zone`, `pods` (of those that are played), `used` and `cpu` in millicores."""
    past = Past(played.store)
    rows: dict[str, Document] = {
        node.name: {
            "zone": node.metadata.labels.get(ZONE, ""),
            "pods": 0,
            "used": 0,
            "cpu": amounts(node.status.allocatable).get("cpu", 0),
        }
        for node in past.nodes
    }
    for info in past.pods:
        row = rows.get(info.pod.spec.node_name)
        if row is not None and not info.pod.is_finished:
            row["pods"] += info.uid in given.played
            row["used"] += info.sums.asked.get("cpu", 0)
    return rows


def _spread(placed: Iterable[PodInfo], nodes: Iterable[Node]) -> Document | None:
    """Return the group of pods that is spread worst: the most in one zone (node, without zones) less the fewest."""
    zone_of = {node.name: node.metadata.labels.get(ZONE, "") for node in nodes}
    zones = {zone for zone in zone_of.values() if zone}
    over_zones = len(zones) > 1
    domains = sorted(zones) if over_zones else sorted(zone_of)
    counts: dict[str, Counter[str]] = {}
    for info in placed:
        where = info.pod.spec.node_name
        counts.setdefault(_group(info), Counter())[zone_of.get(where, "") if over_zones else where] += 1
    skews = [
        (max(count[one] for one in domains) - min(count[one] for one in domains), name)
        for name, count in sorted(counts.items())
        if name and domains
    ]
    if not skews:
        return None
    skew, name = max(skews, key=lambda one: one[0])
    return {"skew": skew, "group": name, "over": "zones" if over_zones else "nodes"}


def _group(info: PodInfo) -> str:
    """Return what pods that belong together share, empty for a pod that stands alone."""
    labels, owners = info.pod.metadata.labels, info.pod.metadata.owner_references
    named = next((labels[key] for key in _GROUP_LABELS if labels.get(key)), "")
    return named or next((owner.name for owner in owners if owner.controller), "")


def _room(nodes: Iterable[Node], there: Iterable[PodInfo], size: Size) -> Document:
    """Return how many pods of a size still fit, node by node, and what CPU is free for none of them."""
    used: dict[str, Counter[str]] = {}
    for info in there:
        one = used.setdefault(info.pod.spec.node_name, Counter())
        one.update({"cpu": info.sums.asked.get("cpu", 0), "memory": info.sums.asked.get("memory", 0), "pods": 1})
    fits = free = 0
    asked = {name: amount for name, amount in (("cpu", size.cpu), ("memory", size.memory), ("pods", 1)) if amount}
    for node in nodes:
        if node.spec.unschedulable:
            continue
        allocatable, taken = amounts(node.status.allocatable), used.get(node.name, Counter())
        left = {name: max(0, allocatable.get(name, 0) - taken[name]) for name in ("cpu", "memory", "pods")}
        fits += min(left[name] // amount for name, amount in asked.items())
        free += left["cpu"]
    return {
        "size": {"cpu": size.cpu, "memory": size.memory},
        "fits": fits,
        "cpuFree": free,
        "stranded": round(1 - fits * size.cpu / free, 4) if free and size.cpu else 0.0,
    }
