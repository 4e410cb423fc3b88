"""FIFO: pods go in the order in which they came; there are no priorities. Source: `podQueue`, Kubernetes 1.2."""

from __future__ import annotations

from typing import ClassVar, Final

from scheduler_core.snapshot.node_info import PodInfo

NAME: Final = "FIFO"


class FIFO:
    """Order by arrival; a pod that failed comes back at the end."""

    name: ClassVar[str] = NAME

    def sort_key(self, pod: PodInfo, queued_at_ms: int) -> tuple[int, ...]:
        """Return when the pod entered the queue."""
        return (queued_at_ms,)
