"""InterPodAffinity: pods near or away from other pods, by what they demand or prefer, and by what pods there do.

Pods on nodes that the pod's terms mean are counted in columns; terms of pods on nodes are kept in groups of equal ones,
so each group is asked once whether it means the pod. Both become sums per place: per value of a topology label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import EventRegistration
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.plugins.inter_pod_affinity import counts
from scheduler_core.plugins.inter_pod_affinity.counts import (
    NO_LABELS,
    PerPlace,
    Said,
    Terms,
    labels_of_namespace,
    means,
    means_all,
    pods_meant,
    resolved,
    summed,
)
from scheduler_core.plugins.inter_pod_affinity.hints import REGISTRATIONS
from scheduler_core.snapshot.affinity_terms import NO_TERMS, TERMS_MAX, PodTerms, Weighted
from scheduler_core.snapshot.node_info import Kin, PodInfo
from scheduler_core.snapshot.pod_index import PodIndex
from scheduler_core.snapshot.snapshot import NO_VALUE, Ints, Mask, Rows, Snapshot, at

NAME: Final = counts.NAME

REASON_AFFINITY: Final = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY: Final = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING: Final = "node(s) didn't satisfy existing pods anti-affinity rules"

_REASONS: Final = ((), (REASON_AFFINITY,), (REASON_ANTI_AFFINITY,), (REASON_EXISTING,))
_CODES: Final = np.array(
    [Code.SUCCESS, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE], dtype=np.int8
)
"""By key, as `_REASONS`."""

_SCORE_KEY: Final = f"{NAME}/score"
_NOT_FILTERED: Final = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
_NOT_SCORED: Final = 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'

DEFAULT_HARD_WEIGHT: Final = 1


@dataclass(slots=True)
class _Demands:
    """PreFilter's state: the pod's own terms, and pods that count for or against each place."""

    affinity: Terms
    anti_affinity: Terms
    namespace_labels: Mapping[str, str]
    near: PerPlace
    """Pods that all affinity terms mean."""
    away: PerPlace
    """Pods that an anti-affinity term means, by that term's key."""
    existing: PerPlace
    """Anti-affinity terms of pods on nodes that mean the pod."""

    def clone(self) -> _Demands:
        return _Demands(
            self.affinity,
            self.anti_affinity,
            self.namespace_labels,
            self.near.clone(),
            self.away.clone(),
            self.existing.clone(),
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    """What spoke for and against places for pods of one kin with the same terms, and when that was."""

    index: PodIndex
    version: int
    namespace_labels: Mapping[str, str]
    said: Said

    def stands(self, index: PodIndex, namespace_labels: Mapping[str, str]) -> bool:
        """Return whether the same still speaks."""
        if index is not self.index or index.version != self.version:
            return False
        return namespace_labels == self.namespace_labels


class InterPodAffinity:
    """Filter on required terms, Score on preferred ones, both in either direction."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.CLUSTER
    score_reads: ClassVar[Reads] = Reads.CLUSTER
    score_ranged: ClassVar[bool] = True

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take InterPodAffinityArgs."""
        weight = arguments.get("hardPodAffinityWeight")
        self._hard_weight = DEFAULT_HARD_WEIGHT if weight is None else int(weight)
        self._ignores_preferred = bool(arguments.get("ignorePreferredTermsOfExistingPods"))
        self._listers = handle.listers
        self._spoken_by: dict[PodTerms, Weighted] = {}
        self._kept: dict[tuple[PodTerms, Kin], _Kept] = {}

    # Filter.

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Count pods for and against each place; Skip where nobody demands anything."""
        own, demanding = pod.terms, snapshot.pods.demanding
        if own is NO_TERMS and not len(demanding):
            return None, SKIP
        if own.error:
            return None, unresolvable(f"parsing pod: {own.error}")
        if not (own.affinity or own.anti_affinity or len(demanding)):
            return None, SKIP
        affinity = resolved(own.affinity, self._listers)
        anti_affinity = resolved(own.anti_affinity, self._listers)
        namespace_labels = labels_of_namespace(pod.pod.namespace, self._listers)
        existing = summed(
            snapshot,
            [
                (term.topology_key, held.counts, 1)
                for terms, held in demanding.about(pod.pod.metadata.labels).items()
                for term in terms.anti_affinity
                if means(term, pod, namespace_labels)
            ],
        )
        if not (affinity or anti_affinity or existing.any):
            return None, SKIP
        near, away = PerPlace({}), PerPlace({})
        for term in affinity:
            near.add(snapshot, term.topology_key, pods_meant(snapshot, affinity))
        for term in anti_affinity:
            away.add(snapshot, term.topology_key, pods_meant(snapshot, (term,)))
        state.write(NAME, _Demands(affinity, anti_affinity, namespace_labels, near, away, existing))
        return None, SUCCESS

    def pre_filter_key(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[()] | None:
        """Return that PreFilter skips while nobody demands anything."""
        return () if pod.terms is NO_TERMS and not len(snapshot.pods.demanding) else None

    def pre_score_key(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[()] | None:
        """Return that PreScore skips while nothing speaks for or against a place."""
        return () if pod.terms is NO_TERMS and not len(snapshot.pods.speaking) else None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Count a pod that a dry run put on the row."""
        return self._count(state, pod, added, snapshot, row, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Stop counting a pod that a dry run took from the row."""
        return self._count(state, pod, removed, snapshot, row, -1)

    def _count(self, state: CycleState, pod: PodInfo, moved: PodInfo, snapshot: Snapshot, row: int, by: int) -> Status:
        demands: _Demands = state.read(NAME)
        for term in moved.terms.anti_affinity:
            if means(term, pod, demands.namespace_labels):
                demands.existing.move(snapshot, term.topology_key, row, by)
        if means_all(demands.affinity, moved):
            for term in demands.affinity:
                demands.near.move(snapshot, term.topology_key, row, by)
        for term in demands.anti_affinity:
            if means(term, moved):
                demands.away.move(snapshot, term.topology_key, row, by)
        return SUCCESS

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure by the pod's affinity, its anti-affinity, then that of pods on nodes."""
        demands: _Demands = state.expect(NAME, _NOT_FILTERED)
        keys: Ints = np.zeros(snapshot.count(rows), dtype=np.int64)
        for key, sums in demands.existing.sums.items():
            keys[sums[snapshot.topology(key)[rows]] > 0] = 3
        for key, sums in demands.away.sums.items():
            keys[sums[snapshot.topology(key)[rows]] > 0] = 2
        if demands.affinity:
            keys[~self._near_enough(demands, pod, snapshot, rows)] = 1
        return Verdicts(_CODES[keys], keys, _REASONS.__getitem__)

    def _near_enough(self, demands: _Demands, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Mask:
        labelled: Mask = np.ones(snapshot.count(rows), dtype=np.bool_)
        found: Mask = np.ones(snapshot.count(rows), dtype=np.bool_)
        for key, sums in demands.near.sums.items():
            ids = snapshot.topology(key)[rows]
            labelled &= ids != NO_VALUE
            found &= sums[ids] > 0
        # The first pod of a group that wants its own kind near would wait for ever: it may go anywhere.
        if not demands.near.counts_any and means_all(demands.affinity, pod):
            return labelled
        return labelled & found

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the places where pods are missing, or where pods or their terms stand against the pod."""
        demands: _Demands = state.expect(NAME, _NOT_FILTERED)
        found: list[Detail] = []
        if demands.affinity and not self._near_enough(demands, pod, snapshot, np.array([row])).all():
            rule, sums = "affinity", demands.near.sums
        elif any(numbers[snapshot.topology(key)[row]] > 0 for key, numbers in demands.away.sums.items()):
            rule, sums = "antiAffinity", demands.away.sums
        else:
            rule, sums = "existing", demands.existing.sums
        first_of_its_kind = not demands.near.counts_any and means_all(demands.affinity, pod)
        for key, numbers in sums.items():
            place = int(snapshot.topology(key)[row])
            matching = 0 if place == NO_VALUE else int(numbers[place])
            enough = (matching > 0 or first_of_its_kind) and place != NO_VALUE
            if enough if rule == "affinity" else not matching:
                continue
            value = snapshot.infos[row].labels.get(key)
            found.append(
                {"kind": "podAffinity", "rule": rule, "topologyKey": key, "value": value, "matching": matching}
            )
        return found

    # Score.

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Sum the weights that speak for and against each place; Skip where nothing speaks."""
        own, speaking = pod.terms, snapshot.pods.speaking
        if own is NO_TERMS and not len(speaking):
            return SKIP
        affinity = pod.pod.spec.affinity
        near = affinity.pod_affinity.preferred if affinity is not None and affinity.pod_affinity is not None else ()
        away = affinity.pod_anti_affinity if affinity is not None else None
        prefers = bool(near or (away is not None and away.preferred))
        if self._ignores_preferred and not prefers:
            return SKIP
        if own.error:
            return error(f"failed to parse pod: {own.error}")
        places = summed(snapshot, self._said(pod, snapshot))
        if not places.any:
            return SKIP
        state.write(_SCORE_KEY, places)
        return SUCCESS

    def _said(self, pod: PodInfo, snapshot: Snapshot) -> Said:
        """Return what speaks for and against places, kept while the same terms are on nodes."""
        own, index = pod.terms, snapshot.pods
        namespace_labels = labels_of_namespace(pod.pod.namespace, self._listers) if len(index.speaking) else NO_LABELS
        kept = self._kept.get((own, pod.kin))
        if kept is not None and kept.stands(index, namespace_labels):
            return kept.said
        said: list[tuple[str, Ints, int]] = []
        is_kept = True
        for weighted, sign in ((own.preferred, 1), (own.preferred_anti, -1)):
            for weight, term in weighted:
                # What a selector of namespaces selects may be another thing the next time.
                is_kept = is_kept and not term.namespace_selector
                meant = pods_meant(snapshot, resolved((term,), self._listers))
                said.append((term.topology_key, meant, sign * weight))
        for theirs, held in index.speaking.about(pod.pod.metadata.labels).items():
            for weight, term in self._spoken(theirs):
                if means(term, pod, namespace_labels):
                    said.append((term.topology_key, held.counts, weight))
        if is_kept:
            if len(self._kept) >= TERMS_MAX:
                self._kept.clear()
            self._kept[own, pod.kin] = _Kept(index, index.version, namespace_labels, said)
        return said

    def _spoken(self, theirs: PodTerms) -> Weighted:
        """Return the terms by which pods on nodes like or dislike newcomers, with signed weights."""
        found = self._spoken_by.get(theirs)
        if found is None:
            if len(self._spoken_by) >= TERMS_MAX:
                self._spoken_by.clear()
            hard = tuple((self._hard_weight, term) for term in theirs.affinity) if self._hard_weight else ()
            disliked = ((-weight, term) for weight, term in theirs.preferred_anti)
            found = self._spoken_by[theirs] = (*hard, *theirs.preferred, *disliked)
        return found

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return the sums of the node's places."""
        places: PerPlace = state.expect(_SCORE_KEY, _NOT_SCORED)
        scores: Ints | None = None
        for key, sums in places.sums.items():
            own = sums[at(snapshot.topology(key), snapshot, rows)]
            scores = own if scores is None else scores + own
        return np.zeros(snapshot.count(rows), dtype=np.int64) if scores is None else scores

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return 100 for the largest sum down to 0 for the smallest; 0 for all where they are equal."""
        low, high = int(np.minimum.reduce(scores)), int(np.maximum.reduce(scores))
        if low == high:
            return np.zeros(len(scores), dtype=np.int64)
        shares: NDArray[np.float64] = (scores - low) / (high - low)
        shares *= 100.0
        return shares.astype(np.int64)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods that come near or go away, and nodes that come or change place."""
        return REGISTRATIONS
