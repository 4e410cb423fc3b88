"""Which pods are where, kept level pod by pod: counts by labels, and the affinity terms that pods hold.

Pods of one namespace with equal labels are kin: nothing that counts pods by their labels can tell them apart. So a
selector is asked about each kin once, and from then on a pod that comes or goes costs a step in the columns that count
its kin, however many pods and selectors there are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.api.selectors import deciding_labels
from scheduler_core.snapshot.affinity_terms import NO_TERMS, AffinityTerm, PodTerms
from scheduler_core.snapshot.node_info import Kin, NodeInfo, PodInfo

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counting:
    """Which pods count.

    Attributes:
        counts: (namespace, labels, whether deletion has begun) → whether such pods do.
        deciding: (key, value) labels of which every pod that counts has one; None: no label decides.
    """

    counts: Callable[[str, Mapping[str, str], bool], bool]
    deciding: tuple[tuple[str, str], ...] | None = None


KIN_COLUMNS_MAX: Final = 1_024
"""Columns of counts by labels; past it the one used longest ago is dropped."""


@dataclass(slots=True, eq=False)
class TermsHeld:
    """How many pods with one set of terms each node holds: (N,), and on all nodes."""

    counts: Ints
    total: int = 0


@dataclass(slots=True)
class _Kinfolk:
    """The pods of one kin: row → how many, and the columns that count them."""

    rows: dict[int, int] = field(default_factory=dict)
    columns: dict[Hashable, Ints] = field(default_factory=dict)


class TermsIndex:
    """Groups of pods with equal terms, found by a label that the terms ask for.

    Only terms that may mean a pod are worth asking: those that want a value of a label which the pod has, and those
    that no single label decides.
    """

    def __init__(self) -> None:
        self._by_label: dict[tuple[str, str], dict[PodTerms, TermsHeld]] = {}
        self._undecided: dict[PodTerms, TermsHeld] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, terms: PodTerms, held: TermsHeld, which: Iterable[AffinityTerm]) -> None:
        """Take in a group; `which` are those of its terms that count here, none: it does not belong here."""
        for place in self._places(which):
            place[terms] = held
        self._size += 1

    def drop(self, terms: PodTerms, which: Iterable[AffinityTerm]) -> None:
        """Take out a group that `put` took in."""
        for place in self._places(which):
            place.pop(terms, None)
        self._size -= 1

    def _places(self, which: Iterable[AffinityTerm]) -> list[dict[PodTerms, TermsHeld]]:
        labels: set[tuple[str, str]] = set()
        for term in which:
            deciding = deciding_labels(term.selector)
            if deciding is None:
                return [self._undecided]
            labels.update(deciding)
        return [self._by_label.setdefault(label, {}) for label in labels]

    def about(self, labels: Mapping[str, str]) -> dict[PodTerms, TermsHeld]:
        """Return the groups whose terms may mean a pod of these labels."""
        found = [group for label in labels.items() if (group := self._by_label.get(label))]
        if not found:
            return self._undecided
        if len(found) == 1 and not self._undecided:
            return found[0]
        merged = dict(self._undecided)
        for group in found:
            merged.update(group)
        return merged


class PodIndex:
    """The pods on all rows.

    Attributes:
        groups: terms → where the pods that have them are; groups without pods are dropped.
        demanding: those that turn newcomers away: required anti-affinity.
        speaking: those that like or dislike newcomers: every other term.
        version: grows when a group comes or goes, or a column is dropped: till then the arrays of each stay the same.
    """

    def __init__(self, infos: Sequence[NodeInfo]) -> None:
        self._size = len(infos)
        self._kins: dict[Kin, _Kinfolk] = {}
        self._columns: OrderedDict[Hashable, tuple[Ints, Counting]] = OrderedDict()
        self._by_label: dict[tuple[str, str], set[Hashable]] = {}
        self._undecided: set[Hashable] = set()
        self.groups: dict[PodTerms, TermsHeld] = {}
        self.demanding = TermsIndex()
        self.speaking = TermsIndex()
        self.version = 0
        for row, info in enumerate(infos):
            for pod in info.pods:
                self._count(row, pod, 1)

    def replace(self, row: int, old: tuple[PodInfo, ...], new: tuple[PodInfo, ...]) -> None:
        """Take in that the row has other pods than it had."""
        kept = len(old)
        if new[:kept] == old:
            for pod in new[kept:]:
                self._count(row, pod, 1)
            return
        if len(new) == kept and new[:-1] == old[:-1]:
            # A pod was confirmed, most often: it counts as before.
            gone, came = old[-1], new[-1]
            if gone.kin == came.kin and gone.terms is came.terms:
                return
        before = set(old)
        for pod in new:
            if pod in before:
                before.remove(pod)
            else:
                self._count(row, pod, 1)
        for pod in before:
            self._count(row, pod, -1)

    def _count(self, row: int, pod: PodInfo, by: int) -> None:
        kin = pod.kin
        folk = self._kins.get(kin)
        if folk is None:
            folk = self._kins[kin] = _Kinfolk(columns=self._columns_about(kin))
        number = folk.rows.get(row, 0) + by
        if number:
            folk.rows[row] = number
        else:
            del folk.rows[row]
            if not folk.rows:
                del self._kins[kin]
        for column in folk.columns.values():
            column[row] += by
        if pod.terms is not NO_TERMS:
            self._count_terms(row, pod.terms, by)

    def _columns_about(self, kin: Kin) -> dict[Hashable, Ints]:
        namespace, labels, terminating = kin
        told = dict(labels)
        keys = self._undecided.union(*(self._by_label.get(label, ()) for label in labels))
        found: dict[Hashable, Ints] = {}
        for key in keys:
            column, counting = self._columns[key]
            if counting.counts(namespace, told, terminating):
                found[key] = column
        return found

    def _count_terms(self, row: int, terms: PodTerms, by: int) -> None:
        held = self.groups.get(terms)
        if held is None:
            held = self.groups[terms] = TermsHeld(np.zeros(self._size, dtype=np.int64))
            self.version += 1
            if terms.anti_affinity:
                self.demanding.put(terms, held, terms.anti_affinity)
            if terms.spoken:
                self.speaking.put(terms, held, terms.spoken)
        held.counts[row] += by
        held.total += by
        if not held.total:
            del self.groups[terms]
            self.version += 1
            if terms.anti_affinity:
                self.demanding.drop(terms, terms.anti_affinity)
            if terms.spoken:
                self.speaking.drop(terms, terms.spoken)

    def column(self, key: Hashable, make: Callable[[], Counting]) -> Ints:
        """Return (N,) how many pods that count each row has; kept level from now on, treat it as frozen.

        Args:
            key: names the column; the same key always means the same pods.
            make: says which pods count; asked when the column is new.
        """
        found = self._columns.get(key)
        if found is not None:
            self._columns.move_to_end(key)
            return found[0]
        column: Ints = np.zeros(self._size, dtype=np.int64)
        counting = make()
        for (namespace, labels, terminating), folk in self._kins.items():
            if counting.counts(namespace, dict(labels), terminating):
                folk.columns[key] = column
                for row, number in folk.rows.items():
                    column[row] += number
        self._columns[key] = (column, counting)
        for place in self._places(counting):
            place.add(key)
        if len(self._columns) > KIN_COLUMNS_MAX:
            self._drop_oldest()
        return column

    def _places(self, counting: Counting) -> list[set[Hashable]]:
        if counting.deciding is None:
            return [self._undecided]
        return [self._by_label.setdefault(label, set()) for label in counting.deciding]

    def _drop_oldest(self) -> None:
        key, (_, counting) = self._columns.popitem(last=False)
        self.version += 1
        for place in self._places(counting):
            place.discard(key)
        for folk in self._kins.values():
            folk.columns.pop(key, None)
