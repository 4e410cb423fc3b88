"""What scoring said of the feasible nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.ranking import Ranking
from scheduler_core.snapshot.snapshot import Ints, Mask


@dataclass(slots=True)
class PluginScores:
    """One plugin's scores, each (K,) int64: `raw` as scored, `normalized` 0…100, `weighted` = normalized × weight."""

    raw: Ints
    normalized: Ints
    weighted: Ints


@dataclass(slots=True)
class Scores:
    """Scores of K feasible nodes.

    Attributes:
        rows: (K,) rows of the snapshot, ascending.
        total: (K,) int64, sum of the weighted scores; 1 each where no score plugin is enabled. As `detail` and
            `ranking` it is good until the next cycle's Score: of equal pods in a row one array is kept level.
        skipped: plugins whose PreScore answered Skip.
    """

    rows: NDArray[np.intp]
    total: Ints
    skipped: frozenset[str]
    detail: Callable[[], Mapping[str, PluginScores]]
    """Works out each plugin's part on request; good until the next cycle's Score."""
    _top: int | None = None
    _is_best: Mask | None = None
    ranking: Ranking | None = None
    """The best in order, where they are known; good until the next cycle's Score."""

    @property
    def top(self) -> int:
        """Return the highest total; worked out once, when all have scored."""
        if self._top is None:
            self._top = int(np.maximum.reduce(self.total))
        return self._top

    @property
    def is_best(self) -> Mask:
        """Return (K,) whether the total is the highest; worked out once, when all have scored."""
        if self._is_best is None:
            self._is_best = self.total == self.top
        return self._is_best

    def best(self) -> NDArray[np.intp]:
        """Return the rows with the highest total: the tie set."""
        return self.rows[self.is_best]

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        """Return the trace's form; `names` are the snapshot's node names by row."""
        return {
            "nodes": [names[row] for row in self.rows.tolist()],
            "skip": sorted(self.skipped),
            "plugins": {
                plugin: {
                    "raw": part.raw.tolist(),
                    "normalized": part.normalized.tolist(),
                    "weighted": part.weighted.tolist(),
                }
                for plugin, part in self.detail().items()
            },
            "total": self.total.tolist(),
        }
