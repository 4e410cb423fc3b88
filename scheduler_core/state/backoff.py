"""How long a pod waits after a failed attempt."""

from __future__ import annotations

from typing import Final

from scheduler_core.state.queued import QueuedPod

INITIAL_BACKOFF_MS: Final = 1_000
"""Wait after the first rejected attempt; it doubles with each."""
MAX_BACKOFF_MS: Final = 10_000
"""Where doubling stops (podMaxBackoffSeconds)."""
BACKOFF_WINDOW_MS: Final = 1_000
"""Backoff ends are cut to this, so that pods due together go by priority; a pod is due when its window is over."""

_DOUBLINGS_MAX: Final = 32


class Backoff:
    """Waits that double. `windowed` cuts their ends, as upstream does when pods are popped from backoff early."""

    def __init__(self, initial_ms: int, max_ms: int, *, windowed: bool) -> None:
        self._initial_ms = initial_ms
        self._max_ms = max_ms
        self._windowed = windowed

    def until_ms(self, queued: QueuedPod) -> int:
        """Return when the wait ends, cut to its window; 0 for a pod that never failed. Kept until it fails again."""
        if queued.backoff_until_ms is None:
            count = queued.consecutive_errors or queued.rejections
            if count == 0:
                return 0
            doubled = self._initial_ms << min(count - 1, _DOUBLINGS_MAX)
            until = queued.timestamp_ms + min(doubled, self._max_ms)
            if self._windowed:
                until -= until % BACKOFF_WINDOW_MS
            queued.backoff_until_ms = until
        return queued.backoff_until_ms

    def ready_at_ms(self, queued: QueuedPod) -> int:
        """Return when the pod may go: at the end of the window in which its wait ends."""
        until = self.until_ms(queued)
        return until + BACKOFF_WINDOW_MS if until and self._windowed else until
