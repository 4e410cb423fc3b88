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


def _arrival(pod: PodInfo) -> int:
    """Return a number that is larger the later the cache heard of the pod, 0 for objects without a version."""
    version = pod.pod.metadata.resource_version
    return int(version) if version.isdecimal() else 0


def by_importance(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Return the pods, the most important first.

    Equal ones that have started come in the order in which the cache heard of them. Of equal ones that have not, the
    last counts most: upstream takes "now" for their start, and of two such always the one that it asks first is the
    earlier, which turns their order round as it sorts.
    """
    heard = sorted(pods, key=_arrival)
    waiting = [pod for pod in heard if not pod.pod.status.start_time]
    started = [pod for pod in heard if pod.pod.status.start_time]
    return sorted((*reversed(waiting), *started), key=importance)
