"""Columns that follow from the pods on each node, brought level when they are read.

Only rows touched since the last reading are worked out again, so a column costs nothing while nobody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scheduler_core.snapshot.affinity_terms import PodTerms
from scheduler_core.snapshot.node_info import NodeInfo

if TYPE_CHECKING:
    from scheduler_core.snapshot.snapshot import Snapshot


class PodCursor:
    """A position in a snapshot's log of rows whose pods changed."""

    __slots__ = ("_epoch", "_position")

    def __init__(self) -> None:
        self._epoch = -1
        self._position = 0

    def advance(self, snapshot: Snapshot) -> Iterable[int] | None:
        """Move to the log's end and return the rows touched in between; None: all of them."""
        known, position = self._epoch == snapshot.epoch, self._position
        self._epoch, self._position = snapshot.epoch, len(snapshot.pod_log)
        if not known:
            return None
        return () if position == self._position else set(snapshot.pod_log[position:])


class PodColumn:
    """One number per node."""

    __slots__ = ("_compute", "_cursor", "_values")

    def __init__(self, compute: Callable[[NodeInfo], int]) -> None:
        self._compute = compute
        self._cursor = PodCursor()
        self._values: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def level(self, snapshot: Snapshot) -> NDArray[np.int64]:
        """Return (N,) values as the pods are now."""
        rows = self._cursor.advance(snapshot)
        compute = self._compute
        if rows is None:
            values = (compute(info) for info in snapshot.infos)
            self._values = np.fromiter(values, dtype=np.int64, count=len(snapshot))
        else:
            for row in rows:
                self._values[row] = compute(snapshot.infos[row])
        return self._values


@dataclass(slots=True)
class TermsHeld:
    """How many pods with one set of terms each node holds: (N,), and on all nodes."""

    counts: NDArray[np.int64]
    total: int = 0


class AffinityIndex:
    """The pods that have affinity terms, grouped by these: pods of one Deployment are one group.

    Attributes:
        groups: terms → where their pods are; groups without pods are dropped.
    """

    def __init__(self) -> None:
        self.groups: dict[PodTerms, TermsHeld] = {}
        self._rows: list[tuple[PodTerms, ...]] = []
        self._cursor = PodCursor()

    def level(self, snapshot: Snapshot) -> None:
        """Take in the pods as they are now."""
        rows = self._cursor.advance(snapshot)
        if rows is None:
            self.groups.clear()
            self._rows = [()] * len(snapshot)
            rows = range(len(snapshot))
        for row in rows:
            found = snapshot.infos[row].terms
            before = self._rows[row]
            if not found and not before:
                continue
            self._rows[row] = found
            for terms in found:
                held = self.groups.get(terms)
                if held is None:
                    held = self.groups[terms] = TermsHeld(np.zeros(len(snapshot), dtype=np.int64))
                held.counts[row] += 1
                held.total += 1
            for terms in before:
                self._forget(terms, row)

    def _forget(self, terms: PodTerms, row: int) -> None:
        held = self.groups[terms]
        held.counts[row] -= 1
        held.total -= 1
        if not held.total:
            del self.groups[terms]
