"""The rows of a snapshot in order of their nodes' names, by which ties are broken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class NameOrder:
    """One order of rows; the arrays are frozen, and hold while the rows do.

    Attributes:
        rows: (N,) the rows in order of their names.
        places: (N,) the place of each row in it.
    """

    __slots__ = ("places", "rows")

    def __init__(self, names: Sequence[str]) -> None:
        """Put the rows of these names in order."""
        count = len(names)
        self.rows: NDArray[np.intp] = np.array(sorted(range(count), key=names.__getitem__), dtype=np.intp)
        self.places: NDArray[np.intp] = np.empty(count, dtype=np.intp)
        self.places[self.rows] = np.arange(count)

    def nth(self, rows: NDArray[np.intp], number: int) -> int:
        """Return the `number`-th of some rows in order of their names: all need not be put in order for it."""
        if len(rows) == 1:
            return int(rows[0])
        places = self.places[rows]
        places.partition(number)
        return int(self.rows[places[number]])
