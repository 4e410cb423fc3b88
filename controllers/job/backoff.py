"""How long a Job waits before it replaces failed pods.

Source: pkg/controller/job/backoff_utils.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from controllers.job.facts import all_failures_of, finished_ms
from scheduler_core.api.document import Document

FIRST_MS: Final = 10_000
"""The wait after one failure (DefaultJobPodFailureBackOff); it doubles with each that follows."""

MOST_MS: Final = 600_000
"""The longest wait (MaxJobPodFailureBackOff)."""


class Failures(NamedTuple):
    """Pods that failed since the last one that succeeded, and when the last of them did, in Unix milliseconds."""

    since_success: int = 0
    last_ms: int = 0

    def after(self, succeeded: Sequence[Document], failed: Sequence[Document]) -> Failures:
        """Return the count with pods that have newly ended."""
        ended = sorted(finished_ms(pod) for pod in failed)
        if not succeeded:
            return Failures(self.since_success + len(ended), ended[-1]) if ended else self
        since_ms = max(finished_ms(pod) for pod in succeeded)
        later = [at_ms for at_ms in ended if at_ms > since_ms]
        return Failures(len(later), later[-1] if later else 0)

    def remaining_ms(self, unix_ms: int) -> int:
        """Return how long to wait still."""
        if not self.since_success:
            return 0
        whole_ms = min(MOST_MS, FIRST_MS << min(self.since_success - 1, 20))
        return max(0, self.last_ms + whole_ms - unix_ms)


def remaining_of_index_ms(last_failed: Document | None, unix_ms: int) -> int:
    """Return how long an index waits for its next pod."""
    if last_failed is None:
        return 0
    return Failures(all_failures_of(last_failed) + 1, finished_ms(last_failed)).remaining_ms(unix_ms)
