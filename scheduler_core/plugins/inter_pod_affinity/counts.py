"""What InterPodAffinity counts: pods by topology value, and the terms by which pods on nodes mean the pod in hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
import numpy as np

from scheduler_core.api.selectors import deciding_labels, selects
from scheduler_core.framework.interface import Listers
from scheduler_core.snapshot.affinity_terms import AffinityTerm
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.pod_index import Counting
from scheduler_core.snapshot.snapshot import NO_VALUE, Ints, Snapshot

NAME: Final = "InterPodAffinity"

NAMESPACES: Final = "namespaces"

NO_LABELS: Final[Mapping[str, str]] = {}

Terms = tuple[AffinityTerm, ...]


def resolved(terms: Iterable[AffinityTerm], listers: Listers) -> Terms:
    """Return the pod's own terms with the namespaces that their selectors select now.

    The selector stays, and is then asked about namespaces as if they had no labels: one that wants a label absent
    selects every namespace. That is what kube-scheduler 1.34 does, and so it is kept.
    """
    return tuple(term if not term.namespace_selector else _listed(term, listers) for term in terms)


def _listed(term: AffinityTerm, listers: Listers) -> AffinityTerm:
    found = {
        document["metadata"]["name"]
        for document in listers.list(NAMESPACES)
        if selects(term.namespace_selector, document["metadata"].get("labels") or NO_LABELS)
    }
    return msgspec.structs.replace(term, namespaces=term.namespaces | found)


def labels_of_namespace(namespace: str, listers: Listers) -> Mapping[str, str]:
    """Return the namespace's labels, none where it has no object."""
    found = listers.get(NAMESPACES, "", namespace)
    return NO_LABELS if found is None else found["metadata"].get("labels") or NO_LABELS


def means(term: AffinityTerm, pod: PodInfo, namespace_labels: Mapping[str, str] = NO_LABELS) -> bool:
    """Return whether a term means a pod; a pod's own terms are resolved and need no namespace labels."""
    return term.matches(pod.pod.namespace, pod.pod.metadata.labels, namespace_labels)


def means_all(terms: Terms, pod: PodInfo) -> bool:
    """Return whether there are terms and all of them mean the pod."""
    return bool(terms) and all(means(term, pod) for term in terms)


def pods_meant(snapshot: Snapshot, terms: Terms) -> Ints:
    """Return (N,) how many pods on each node all of the terms mean; treat it as frozen."""
    identity = tuple((term.namespaces, term.namespace_selector, term.selector) for term in terms)
    return snapshot.pods.column((NAME, identity), partial(_counting, terms))


def _counting(terms: Terms) -> Counting:
    def counts(namespace: str, labels: Mapping[str, str], terminating: bool) -> bool:
        return bool(terms) and all(term.matches(namespace, labels, NO_LABELS) for term in terms)

    return Counting(counts, deciding_labels(terms[0].selector) if terms else ())


@dataclass(slots=True)
class PerPlace:
    """Sums by place: topology key → (V,) by topology value, the first 0 for nodes without the label.

    `any` tells whether weights met at any place, also where they cancel out.
    """

    sums: dict[str, Ints]
    any: bool = False

    def clone(self) -> PerPlace:
        """Return a copy to be changed apart."""
        return PerPlace({key: one.copy() for key, one in self.sums.items()}, self.any)

    def add(self, snapshot: Snapshot, key: str, numbers: Ints) -> None:
        """Add (N,) numbers of nodes to their places by the key."""
        ids = snapshot.topology(key)
        if snapshot.origin is None and snapshot.topology_is_single(key):
            added: Ints = np.zeros(snapshot.topology_size(key), dtype=np.int64)
            added[ids] = numbers
        else:
            added = np.bincount(ids, weights=numbers, minlength=snapshot.topology_size(key)).astype(np.int64)
            added[NO_VALUE] = 0
        known = self.sums.get(key)
        self.sums[key] = added if known is None else known + added

    def move(self, snapshot: Snapshot, key: str, row: int, by: int) -> None:
        """Add a number at one row's place."""
        place = int(snapshot.topology(key)[row])
        if place == NO_VALUE:
            return
        if key not in self.sums:
            self.sums[key] = np.zeros(snapshot.topology_size(key), dtype=np.int64)
        self.sums[key][place] += by

    @property
    def counts_any(self) -> bool:
        """Return whether any place's sum is not 0."""
        return any(bool(one.any()) for one in self.sums.values())


Said = Sequence[tuple[str, Ints, int]]
"""(topology key, (N,) numbers of pods on nodes, weight) of terms that count."""


def summed(snapshot: Snapshot, said: Said) -> PerPlace:
    """Return the weighted sums by place."""
    numbers: dict[str, Ints] = {}
    for key, counts, weight in said:
        known = numbers.get(key)
        numbers[key] = counts * weight if known is None else known + counts * weight
    found = PerPlace({})
    for key, own in numbers.items():
        found.add(snapshot, key, own)
        if found.any or np.count_nonzero(found.sums[key]):
            found.any = True
            continue
        # Weights may cancel out at a node; that something was counted there still holds.
        labelled = snapshot.topology(key) != NO_VALUE
        found.any = any(bool(counts[labelled].any()) for other, counts, _ in said if other == key)
    return found
