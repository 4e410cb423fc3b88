"""Which nodes have the highest total, kept level node by node: of equal pods in a row each changes one node's."""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from scheduler_core.snapshot.snapshot import Ints, Snapshot


class Ranking:
    """The rows of the highest total in order of their nodes' names, in one epoch of a snapshot."""

    __slots__ = ("_by_name", "_place_of", "_places", "top")

    def __init__(self, snapshot: Snapshot, total: Ints) -> None:
        self._by_name = snapshot.by_name.rows
        self._place_of = snapshot.by_name.places
        self.top = 0
        """The highest total."""
        self._places: list[int] = []
        self.look(total)

    def look(self, total: Ints) -> None:
        """Look at all of the (N,) totals."""
        self.top = int(np.maximum.reduce(total))
        self._places = (total == self.top)[self._by_name].nonzero()[0].tolist()

    def change(self, row: int, total: Ints, after: int) -> None:
        """Write one row's new total among the (N,) totals."""
        before = int(total[row])
        total[row] = after
        if before == after:
            return
        if after > self.top:
            self.top, self._places = after, [int(self._place_of[row])]
        elif after == self.top:
            insort(self._places, int(self._place_of[row]))
        elif before == self.top:
            if len(self._places) == 1:
                self.look(total)
            else:
                del self._places[bisect_left(self._places, int(self._place_of[row]))]

    @property
    def count(self) -> int:
        """Return how many rows have the highest total."""
        return len(self._places)

    def row(self, number: int) -> int:
        """Return the `number`-th of these rows."""
        return int(self._by_name[self._places[number]])
