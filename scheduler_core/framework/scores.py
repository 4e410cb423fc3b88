"""What scoring said of the feasible nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.snapshot.snapshot import Ints


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
        total: (K,) int64, sum of the weighted scores; 1 each where no score plugin is enabled.
        skipped: plugins whose PreScore answered Skip.
    """

    rows: NDArray[np.intp]
    total: Ints
    skipped: frozenset[str]
    detail: Callable[[], Mapping[str, PluginScores]]
    """Works out each plugin's part on request; good until the next cycle's Score."""

    def best(self) -> NDArray[np.intp]:
        """Return the rows with the highest total: the tie set."""
        return self.rows[np.flatnonzero(self.total == self.total.max())]

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
