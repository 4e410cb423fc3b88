"""Pods that wait for an event: unschedulable and gated ones, found by the plugins that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scheduler_core.state.queued import Lane, QueuedPod

UNSCHEDULABLE_MAX_MS: Final = 5 * 60_000
"""A pod that no event helped is tried again after this long (podMaxInUnschedulablePodsDuration)."""
UNSCHEDULABLE_FLUSH_MS: Final = 30_000
"""How often old unschedulable pods are looked for."""

Place = tuple[str, str]
"""(scheduler name, plugin)"""


class Parked:
    """Parked pods in order of parking, and by the plugins that hold them, so that an event costs only those it
    concerns.
    """

    def __init__(self, max_ms: int = UNSCHEDULABLE_MAX_MS) -> None:
        """Begin empty; `max_ms` is how long a pod stays that no event helps."""
        self._max_ms = max_ms
        self._pods: dict[str, QueuedPod] = {}
        self._under: dict[Place, dict[str, QueuedPod]] = {}
        self._due_ms: int | None = None
        """No pod's time is up before this; it may be too early, since pods leave without telling."""

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(list(self._pods.values()))

    @property
    def due_ms(self) -> int | None:
        """Return a time before which no pod's time is up; None: no pod waits for time."""
        return self._due_ms

    def reconfigure(self, max_ms: int) -> None:
        """Take how long pods stay from now on; those that are here are reckoned anew."""
        self._max_ms = max_ms
        waiting = (queued for queued in self._pods.values() if not queued.is_gated)
        self._due_ms = min(map(self._flush_at_ms, waiting), default=None)

    def _flush_at_ms(self, queued: QueuedPod) -> int:
        """Return when time alone frees a parked pod: the first look after it has become strictly too old."""
        return ((queued.timestamp_ms + self._max_ms) // UNSCHEDULABLE_FLUSH_MS + 1) * UNSCHEDULABLE_FLUSH_MS

    def add(self, queued: QueuedPod) -> None:
        """Park a pod."""
        self.remove(queued)
        queued.lane = Lane.GATED if queued.is_gated else Lane.UNSCHEDULABLE
        self._pods[queued.uid] = queued
        name = queued.pod.spec.scheduler_name
        queued.parked_under = tuple((name, plugin) for plugin in sorted(queued.rejectors))
        for place in queued.parked_under:
            self._under.setdefault(place, {})[queued.uid] = queued
        if not queued.is_gated:
            self._hasten(self._flush_at_ms(queued))

    def remove(self, queued: QueuedPod) -> None:
        """Stop parking a pod, if it is parked."""
        if self._pods.pop(queued.uid, None) is not None:
            for place in queued.parked_under:
                del self._under[place][queued.uid]
            queued.parked_under = ()

    def places(self) -> list[Place]:
        """Return under what pods are parked now."""
        return [place for place, pods in self._under.items() if pods]

    def under(self, places: list[Place]) -> list[QueuedPod]:
        """Return the pods parked under any of the places, each once."""
        found: dict[str, QueuedPod] = {}
        for place in places:
            found.update(self._under[place])
        return list(found.values())

    def overdue(self, now_ms: int) -> list[QueuedPod]:
        """Return the pods whose time is up."""
        if self._due_ms is None or self._due_ms > now_ms:
            return []
        self._due_ms = None
        due: list[QueuedPod] = []
        for queued in self._pods.values():
            if queued.is_gated:
                continue
            at_ms = self._flush_at_ms(queued)
            if at_ms <= now_ms:
                due.append(queued)
            else:
                self._hasten(at_ms)
        return due

    def _hasten(self, at_ms: int) -> None:
        if self._due_ms is None or at_ms < self._due_ms:
            self._due_ms = at_ms
