"""Columns that follow from the pods on each node, brought level when they are read.

Only rows touched since the last reading are worked out again, so a column costs nothing while nobody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.snapshot.node_info import NodeInfo


class PodColumn:
    """One number per node."""

    __slots__ = ("_compute", "_epoch", "_position", "_values")

    def __init__(self, compute: Callable[[NodeInfo], int]) -> None:
        self._compute = compute
        self._epoch = -1
        self._position = 0
        self._values: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def level(self, infos: Sequence[NodeInfo], epoch: int, log: Sequence[int]) -> NDArray[np.int64]:
        """Return (N,) values as the pods are now.

        Args:
            infos: the rows.
            epoch: the rows' epoch: in another one they are other rows.
            log: rows whose pods changed in this epoch, in order.
        """
        compute = self._compute
        if self._epoch != epoch:
            self._values = np.fromiter((compute(info) for info in infos), dtype=np.int64, count=len(infos))
        elif self._position != len(log):
            for row in set(log[self._position :]):
                self._values[row] = compute(infos[row])
        self._epoch, self._position = epoch, len(log)
        return self._values
