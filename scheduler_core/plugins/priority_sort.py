"""PrioritySort: pods with a larger priority go first, older ones first among equals."""

from __future__ import annotations

from typing import ClassVar, Final

from scheduler_core.snapshot.node_info import PodInfo

NAME: Final = "PrioritySort"


class PrioritySort:
    """QueueSort by priority, then by the time of queueing."""

    name: ClassVar[str] = NAME

    def sort_key(self, pod: PodInfo, queued_at_ms: int) -> tuple[int, ...]:
        """Return (−priority, queueing time)."""
        return -pod.priority, queued_at_ms
