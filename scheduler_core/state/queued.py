"""What the queue keeps about one pod, and the lanes a pod can be in."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from scheduler_core.api.pod import Pod
from scheduler_core.framework.events import ClusterEvent
from scheduler_core.snapshot.node_info import PodInfo


class Lane(StrEnum):
    """Where a pod without a node is. `IN_FLIGHT` is the scheduler's hand; the others are lanes of the queue."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in-flight"
    GONE = "gone"


SortKey = tuple[int, ...]
"""What QueueSort orders by: smaller goes first."""

SortKeyOf = Callable[["QueuedPod"], SortKey]

POD_ADDED: Final = "UnschedulablePodAdd"
"""Labels of what moved a pod, as upstream's metrics have them; other labels are those of cluster events."""
POD_UPDATED: Final = "UnscheduledPodUpdate"
ATTEMPT_FAILED: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"
POPPED_FROM_BACKOFF: Final = "PopFromBackoffQ"


class QueuedPod:
    """One pod that waits for a node, with what earlier attempts left behind (upstream's QueuedPodInfo)."""

    __slots__ = (
        "attempts",
        "backoff_until_ms",
        "consecutive_errors",
        "entry",
        "first_attempt_ms",
        "gate_message",
        "gating_plugin",
        "heap",
        "hopes",
        "info",
        "key",
        "lane",
        "message",
        "moved_by",
        "order",
        "parked_under",
        "pending_plugins",
        "rejections",
        "timestamp_ms",
        "uid",
        "unschedulable_plugins",
    )

    def __init__(self, info: PodInfo, now_ms: int, order: int) -> None:
        self.info = info
        self.uid = info.uid
        self.key = info.key
        self.timestamp_ms = now_ms
        """When the pod last entered the queue: creation, or the end of its last attempt."""
        self.order = order
        """Order of arrival: breaks ties of pods that came within one millisecond."""
        self.attempts = 0
        """Attempts begun; the attempt under way has this number."""
        self.first_attempt_ms: int | None = None
        self.rejections = 0
        """Attempts that ended with a plugin's no: what backoff doubles by."""
        self.consecutive_errors = 0
        """Attempts in a row that ended with an error; where positive, backoff doubles by this instead."""
        self.backoff_until_ms: int | None = None
        self.hopes: tuple[tuple[object, ...], tuple[ClusterEvent, ...]] | None = None
        """What can wake it, as it was worked out last, and of what: pod, plugins, configuration."""
        self.unschedulable_plugins: frozenset[str] = frozenset()
        """Plugins that said no in the last attempt: only their queueing hints can move the pod."""
        self.pending_plugins: frozenset[str] = frozenset()
        """Plugins that said Pending: their hint moves the pod without backoff."""
        self.gating_plugin = ""
        self.gate_message = ""
        self.message = ""
        """Text of the last failure."""
        self.moved_by = POD_ADDED
        """Label of the event that put the pod into its lane."""
        self.lane = Lane.GONE
        self.parked_under: tuple[tuple[str, str], ...] = ()
        """(scheduler name, plugin) under which the pod is found while it is parked."""
        self.heap: object | None = None
        """The heap that holds the pod, if one does."""
        self.entry = 0
        """Number of the entry in that heap; the pod's older entries are void."""

    @property
    def is_gated(self) -> bool:
        """Return whether a PreEnqueue plugin holds the pod back."""
        return self.gating_plugin != ""

    @property
    def rejectors(self) -> frozenset[str]:
        """Return every plugin whose queueing hint can move the pod."""
        if not self.pending_plugins:
            return self.unschedulable_plugins
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def pod(self) -> Pod:
        """Return the newest known view of the pod."""
        return self.info.pod

    @property
    def priority(self) -> int:
        """Return the pod's priority."""
        return self.info.priority
