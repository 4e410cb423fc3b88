"""Attempts under way, and what happened since each began."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from scheduler_core.framework.events import ClusterEvent

Happening = tuple[ClusterEvent, Any, Any]
"""(event, old object, new object)"""


class InFlight:
    """Events that pods in the scheduler's hand would miss: kept from the oldest attempt's begin on.

    One list serves all attempts; each remembers only where in it it began.
    """

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self._events: list[tuple[str, Happening]] = []
        self._dropped = 0

    @property
    def uids(self) -> Sequence[str]:
        """Return the pods in flight, the longest first."""
        return tuple(self._begun)

    def begin(self, uid: str) -> None:
        """Start an attempt."""
        self._begun[uid] = self._dropped + len(self._events)

    def record(self, event: ClusterEvent, old: Any, new: Any, *, only: str = "") -> None:
        """Keep an event for the pods in flight; `only` names the one pod it is about."""
        if self._begun:
            self._events.append((only, (event, old, new)))

    def end(self, uid: str) -> list[Happening]:
        """End an attempt and return what happened since it began."""
        begun = self._begun.get(uid)
        if begun is None:
            return []
        since = islice(self._events, begun - self._dropped, None)
        missed = [happening for only, happening in since if only in ("", uid)]
        self.drop(uid)
        return missed

    def drop(self, uid: str) -> None:
        """End an attempt whose pod does not come back."""
        begun = self._begun.pop(uid, None)
        if begun is None:
            return
        if not self._begun:
            self._events.clear()
            self._dropped = 0
            return
        oldest = next(iter(self._begun.values()))
        if oldest > self._dropped:
            del self._events[: oldest - self._dropped]
            self._dropped = oldest
