"""What the queue asks of the profiles: who hears of an event, who holds a pod back; and what an event is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Protocol

from scheduler_core.framework.events import ClusterEvent, EventRegistration
from scheduler_core.framework.status import Status
from scheduler_core.snapshot.node_info import PodInfo


class QueueingHints(Protocol):
    """Which plugins want to hear of an event, for one profile."""

    def __call__(self, scheduler_name: str, event: ClusterEvent) -> Sequence[tuple[str, EventRegistration]]:
        """Return (plugin, registration) of every registration that covers the event."""


PreEnqueue = Callable[[PodInfo], Status]
"""Runs the PreEnqueue plugins of the pod's profile: the first that is not a success, with its plugin named."""


class Requeue(Enum):
    """What an event means for a pod that was turned away."""

    SKIP = auto()
    AFTER_BACKOFF = auto()
    IMMEDIATELY = auto()
