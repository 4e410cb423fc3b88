"""Machines that are shut down: pods end first, those of low priority before those of high, each group in its time.

Source: pkg/kubelet/nodeshutdown (nodeshutdown_manager.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controllers.flags.flag import InForce
from controllers.flags.kubelet import SHUTDOWN_CRITICAL, SHUTDOWN_GRACE
from controllers.flags.thresholds import SHUTDOWN_BY_PRIORITY
from controllers.kubelet.pressure import CRITICAL
from scheduler_core.api.document import Document

Periods = Sequence[tuple[int, int]]
"""(priority, seconds), the lowest priority first."""

REASON: Final = "Terminated"
MESSAGE: Final = "Pod was terminated in response to imminent node shutdown."

REFUSED_REASON: Final = "NodeShutdown"
REFUSED_MESSAGE: Final = "Pod was rejected as the node is shutting down."

NOT_READY: Final[Document] = {
    "type": "Ready",
    "status": "False",
    "reason": "KubeletNotReady",
    "message": "node is shutting down",
}

DETECTED: Final = "Shutdown manager detected shutdown event"
CANCELLED: Final = "Shutdown manager detected shutdown cancellation"


def periods(flags: InForce) -> Periods:
    """Return how long pods of which priority have; none: machines are shut down at once."""
    told: Periods = flags[SHUTDOWN_BY_PRIORITY]
    if told:
        return told
    whole, critical = flags[SHUTDOWN_GRACE] // 1000, flags[SHUTDOWN_CRITICAL] // 1000
    return ((0, whole - critical), (CRITICAL, critical)) if whole and whole >= critical else ()


def group_of(pod: Mapping[str, Any], table: Periods) -> int:
    """Return which of the groups a pod belongs to: the last whose priority it has, else the first."""
    priority = int(pod["spec"].get("priority") or 0)
    return max((at for at, (least, _) in enumerate(table) if least <= priority), default=0)


def grace_seconds(pod: Mapping[str, Any], seconds: int) -> int:
    """Return how long a pod has whose group has so many seconds."""
    own = pod["spec"].get("terminationGracePeriodSeconds")
    return seconds if own is None else min(seconds, int(own))


POWER_OFF_MS: Final = 1_000
"""From the end of the last group to silence, where pods are left."""


@dataclass(slots=True)
class Shutdown:
    """A shutdown that is under way."""

    group: int = 0
    until_ms: int | None = None
    """When the group's time is over; None: it does not know yet."""
    over: bool = False
    """Whether all is done."""

    def step(self, pods: Iterable[Mapping[str, Any]], table: Periods, now_ms: int) -> list[tuple[Document, int]] | None:
        """Go on as far as it goes; return (pod, seconds) of those that are to end now, None once all is done.

        `pods` are those of the node that are not over.
        """
        listed = list(pods)
        while self.group < len(table):
            seconds = table[self.group][1]
            own = [dict(pod) for pod in listed if group_of(pod, table) == self.group]
            if own and self.until_ms is None:
                self.until_ms = now_ms + 1000 * seconds
                return [(pod, grace_seconds(pod, seconds)) for pod in own]
            if own and self.until_ms is not None and now_ms < self.until_ms:
                return []
            self.group, self.until_ms = self.group + 1, None
        if table and listed and self.until_ms is None:
            # What has been killed last is told of before the power goes.
            self.until_ms = now_ms + POWER_OFF_MS
        if self.until_ms is not None and now_ms < self.until_ms:
            return []
        self.over = True
        return None
