"""The lots that a cycle may draw, keyed by its pod and attempt. Kept in CycleState, so that plugins can draw too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scheduler_core.api.draw import draw

KEY: Final = "framework/lots"
"""Where CycleState keeps the lots; without them (an oracle's cycle) plugins take the first in name order."""


@dataclass(frozen=True, slots=True)
class Lots:
    """One attempt's chance."""

    seed: int
    uid: str
    attempt: int

    def draw(self, purpose: str, below: int) -> int:
        """Return an integer in 0 ≤ n < below."""
        return draw(self.seed, purpose, self.uid, self.attempt, below=below)
