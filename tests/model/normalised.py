"""Viability as the engine has it, in plain formulas: each plugin's score, normalised over the feasible nodes, weighted.

    Viability'(Pod, Node) ≝ Σ over plugins : weight · normalise(score(Pod, Node))

Written out are the plugins that have a say in the tiny clusters; images and spreading say the same of every node there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scheduler_core.api.node import Node
from scheduler_core.model.affinity import match_term
from scheduler_core.model.deviations import TODAY
from scheduler_core.model.filters import match
from scheduler_core.model.objects import Objects
from scheduler_core.snapshot.affinity_terms import AffinityTerm
from scheduler_core.snapshot.node_info import PodInfo

Scores = Sequence[int]


def disliked_taints(pod: PodInfo, node: Node, objects: Objects) -> int:
    """{Taint : Effect = PreferNoSchedule ∧ ¬∃ Toleration : Match(Toleration, Taint)}, counted."""
    tolerations = pod.pod.spec.tolerations
    return sum(
        taint.effect == "PreferNoSchedule" and not any(match(one, taint, TODAY) for one in tolerations)
        for taint in node.spec.taints
    )


def liked_nodes(pod: PodInfo, node: Node, objects: Objects) -> int:
    affinity = pod.pod.spec.affinity
    terms = affinity.node_affinity.preferred if affinity is not None and affinity.node_affinity is not None else ()
    return sum(one.weight for one in terms if match_term(one.preference, node, TODAY))


def liked_neighbours(pod: PodInfo, node: Node, objects: Objects) -> int:
    """Every neighbour counts, and what neighbours wish of the newcomer counts as much; anti-affinity is subtracted."""

    def near(term: AffinityTerm, place: Node) -> bool:
        value = node.metadata.labels.get(term.topology_key)
        return value is not None and place.metadata.labels.get(term.topology_key) == value

    def means(term: AffinityTerm, other: PodInfo) -> bool:
        return term.matches(other.pod.namespace, other.pod.metadata.labels, {})

    total = 0
    for other, place in objects.placed:
        own, theirs = pod.terms, other.terms
        total += sum(weight for weight, term in own.preferred if near(term, place) and means(term, other))
        total -= sum(weight for weight, term in own.preferred_anti if near(term, place) and means(term, other))
        total += sum(1 for term in theirs.affinity if near(term, place) and means(term, pod))
        total += sum(weight for weight, term in theirs.preferred if near(term, place) and means(term, pod))
        total -= sum(weight for weight, term in theirs.preferred_anti if near(term, place) and means(term, pod))
    return total


def room(pod: PodInfo, node: Node, objects: Objects) -> int:
    """The mean free share of cpu and memory, in percent; containers that ask nothing count 100m and 200Mi."""
    here = objects.on.get(node.name, ())
    size = {"cpu": int(node.status.allocatable["cpu"]) * 1000, "memory": 8 * 2**30}
    shares = []
    for index, resource in enumerate(("cpu", "memory")):
        used = sum(other.sums.non_zero[index] for other in here) + pod.sums.scoring_requests[resource]
        shares.append(max(size[resource] - used, 0) * 100 // size[resource])
    return sum(shares) // 2


def balance(pod: PodInfo, node: Node, objects: Objects) -> int:
    """How alike the used shares of cpu and memory are, in percent; nothing for a pod that asks for neither."""
    if not (pod.requests.get("cpu") or pod.requests.get("memory")):
        return 0
    here = (*objects.on.get(node.name, ()), pod)
    cpu = min(sum(other.requests.get("cpu", 0) for other in here) / (int(node.status.allocatable["cpu"]) * 1000), 1.0)
    memory = min(sum(other.requests.get("memory", 0) for other in here) / (8 * 2**30), 1.0)
    return int((1.0 - abs((cpu - memory) / 2)) * 100)


def as_it_is(scores: Scores) -> Scores:
    return scores


def by_largest(scores: Scores) -> Scores:
    return [score * 100 // max(scores) if max(scores) else 0 for score in scores]


def by_largest_reversed(scores: Scores) -> Scores:
    return [100 - score for score in by_largest(scores)]


def by_range(scores: Scores) -> Scores:
    low, high = min(scores), max(scores)
    return [int(100.0 * ((score - low) / (high - low))) if high > low else 0 for score in scores]


PLUGINS: Mapping[str, tuple[int, Callable[[PodInfo, Node, Objects], int], Callable[[Scores], Scores]]] = {
    "TaintToleration": (3, disliked_taints, by_largest_reversed),
    "NodeAffinity": (2, liked_nodes, by_largest),
    "InterPodAffinity": (2, liked_neighbours, by_range),
    "NodeResourcesFit": (1, room, as_it_is),
    "NodeResourcesBalancedAllocation": (1, balance, as_it_is),
}
"""Plugin → (weight, score, normalise)."""


def sums(pod: PodInfo, feasible: Sequence[Node], objects: Objects) -> dict[str, int]:
    """Return node → Viability' over the feasible nodes."""
    totals = dict.fromkeys((node.name for node in feasible), 0)
    for weight, score, normalise in PLUGINS.values():
        scores = normalise([score(pod, node, objects) for node in feasible])
        for node, one in zip(feasible, scores, strict=True):
            totals[node.name] += weight * one
    return totals
