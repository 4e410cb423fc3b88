"""Zones of nodes, and how fast the nodes of one may be emptied.

Source: k8s.io/kubernetes/pkg/controller/nodelifecycle (ComputeZoneState, scheduler/rate_limited_queue.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

ZoneState = Literal["Initial", "Normal", "PartialDisruption", "FullDisruption"]

EXCLUDED: Final = "node.kubernetes.io/exclude-disruption"
"""Label of a node that does not count in its zone."""

_REGIONS: Final = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_ZONES: Final = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")

_UNHEALTHY_MIN: Final = 3
"""Fewer nodes than this that are not ready do not make a zone unhealthy."""


def zone_of(node: Mapping[str, Any]) -> str:
    """Return what names a node's zone; all nodes that say nothing are in one."""
    labels = node["metadata"].get("labels") or {}
    region = next((labels[key] for key in _REGIONS if key in labels), "")
    zone = next((labels[key] for key in _ZONES if key in labels), "")
    return f"{region}:\x00:{zone}" if region or zone else ""


def state_of(ready: int, unready: int, threshold: float) -> ZoneState:
    """Return how a zone with so many ready and other nodes is.

    Args:
        ready: nodes whose Ready condition is True.
        unready: all others.
        threshold: share of unready nodes from which on the zone is partly disrupted (`unhealthy-zone-threshold`).
    """
    if not ready and unready:
        return "FullDisruption"
    if unready >= _UNHEALTHY_MIN and unready / (ready + unready) >= threshold:
        return "PartialDisruption"
    return "Normal"


class Emptying:
    """The nodes of one zone that wait for their NoExecute taint, one at a time at a rate."""

    def __init__(self, per_second: float) -> None:
        """Begin with one that may go at once."""
        self.waiting: dict[str, None] = {}
        self._per_second = per_second
        self._free_ms = 0

    def next_ms(self) -> int | None:
        """Return when the next of those that wait may go; None: never as it is."""
        return self._free_ms if self.waiting and self._per_second > 0 else None

    def take(self, now_ms: int) -> str | None:
        """Take the next node that may go now."""
        if not self.waiting or not self._accepts(now_ms):
            return None
        name = next(iter(self.waiting))
        del self.waiting[name]
        return name

    def set_rate(self, per_second: float, now_ms: int) -> None:
        """Go on at another rate. Whoever had to wait begins the new rate with a wait."""
        if per_second == self._per_second:
            return
        waits = not self._accepts(now_ms)
        self._per_second = per_second
        self._free_ms = 0
        if waits:
            self._accepts(now_ms)

    def _accepts(self, now_ms: int) -> bool:
        if self._per_second <= 0 or now_ms < self._free_ms:
            return False
        self._free_ms = now_ms + round(1000 / self._per_second)
        return True
