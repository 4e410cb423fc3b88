"""How long a daemon that failed stays before it is deleted: twice as long with each failure on its node.

Source: `flowcontrol.Backoff`, k8s.io/client-go/util/flowcontrol, with the numbers of pkg/controller/daemon.
"""

from __future__ import annotations

from typing import Final

FIRST_MS: Final = 1_000
"""How long after a daemon's failure the next one is left alone."""

LONGEST_MS: Final = 900_000
"""The longest such wait; after twice as long without a failure it begins anew."""


class FailureBackoff:
    """Waits by place: a set, its generation and a node."""

    def __init__(self) -> None:
        """Begin without failures."""
        self._known: dict[str, tuple[int, int]] = {}

    def wait_ms(self, place: str, now_ms: int) -> int:
        """Return how long the next deletion has to wait; 0: it need not."""
        delay_ms, since_ms = self._known.get(place, (0, 0))
        if now_ms - since_ms > 2 * LONGEST_MS:
            self._known.pop(place, None)
            return 0
        return max(0, since_ms + delay_ms - now_ms)

    def failed(self, place: str, now_ms: int) -> None:
        """Take a failure that is being cleaned up."""
        delay_ms, _ = self._known.get(place, (0, 0))
        self._known[place] = (min(LONGEST_MS, 2 * delay_ms) or FIRST_MS, now_ms)
