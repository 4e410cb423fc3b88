"""Which pods matter more: by priority, then by how long they have run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from scheduler_core.snapshot.node_info import PodInfo

NOT_STARTED: Final = float("inf")
"""Start time of a pod that has none yet: later than any that has."""


@lru_cache(maxsize=65_536)
def start_time(text: str | None) -> float:
    """Return Unix seconds of `status.startTime`, NOT_STARTED where it is absent."""
    if not text:
        return NOT_STARTED
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def importance(pod: PodInfo) -> tuple[int, float]:
    """Return a key: the smallest is the most important."""
    return -pod.priority, start_time(pod.pod.status.start_time)


def by_importance(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Return the pods, the most important first.

    Of equal pods that have not started the last counts most: upstream takes "now" for their start, and of two such
    always the one that it asks first is the earlier, which turns their order round as it sorts.
    """
    waiting = [pod for pod in pods if not pod.pod.status.start_time]
    if len(waiting) < 2:
        return sorted(pods, key=importance)
    started = [pod for pod in pods if pod.pod.status.start_time]
    return sorted((*reversed(waiting), *started), key=importance)
