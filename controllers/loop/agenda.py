"""What is planned for components: a heap of entries, and the life of those for whom they are.

An entry is void once its component has crashed, its timer was planned anew, or the fault that it mends was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

from controllers.loop.clock import LocalClock
from controllers.loop.component import Component, Slot
from controllers.loop.link import Link

Kind = Literal["mend", "recover", "start", "observe", "gone", "settle", "fire"]


class Entry(NamedTuple):
    """One thing to do at a time; equal times run by priority, then in the order of planning."""

    time_ms: int
    priority: int
    sequence: int
    slot: Slot
    incarnation: int
    kind: Kind
    payload: Any


class Agenda:
    """The entries and the components; `Loop` runs them."""

    def __init__(self, now_ms: int, position: int) -> None:
        """Begin at a time and a revision of the store, with nobody."""
        self.now_ms = now_ms
        self.position = position
        self.slots: dict[str, Slot] = {}
        self._heap: list[Entry] = []
        self._sequence = 0
        self._watchers: dict[str, list[Slot]] = {}

    # -- components ---------------------------------------------------------------------------------------------

    def add(self, name: str, make: Callable[[], Component], *, priority: int = 1, start: bool = True) -> Slot:
        """Add a component under its actor's name. `priority` 0 runs before others of the same time."""
        slot = Slot(name, make, priority=priority)
        self.slots[name] = slot
        if start:
            self.recover(slot)
        return slot

    def crash(self, slot: Slot) -> None:
        """Stop a component: its memory and all that was on its way to it are lost."""
        if slot.component is None:
            return
        for resource in slot.watched:
            self._watchers[resource].remove(slot)
        slot.component = None
        self.forget_all(slot)

    def forget_all(self, slot: Slot) -> None:
        """Void everything that is on its way to a component."""
        slot.incarnation += 1
        slot.timers.clear()
        slot.inbox.clear()
        slot.behind = False
        slot.position = self.position

    def recover(self, slot: Slot) -> None:
        """Start a stopped component anew, with an entry at the present time."""
        if slot.component is not None:
            return
        component = slot.make()
        slot.component = component
        slot.watched = component.resources
        slot.position = self.position
        for resource in sorted(slot.watched):
            self._watchers.setdefault(resource, []).append(slot)
        self._push(self.now_ms, slot, "start", None)

    def recover_at(self, slot: Slot, at_ms: int) -> None:
        """Start a stopped component anew at a later time, unless it is started before."""
        self._push(max(at_ms, self.now_ms), slot, "recover", None)

    def mend_at(self, slot: Slot, at_ms: int, mend: Callable[[], None]) -> None:
        """Call `mend` at a time, whatever becomes of the component until then, unless the slot has lost it."""
        slot.mends.add(mend)
        self._push(max(at_ms, self.now_ms), slot, "mend", mend)

    def connect(self, slot: Slot, link: Link) -> None:
        """Change how a component is connected. What waited for it goes on now."""
        was, slot.link = slot.link, link
        if was.watch and not link.watch:
            # Read again from the log when the watch goes on.
            slot.inbox.clear()
        elif link.watch and not was.watch:
            slot.behind = True
        if slot.running and (slot.behind or (slot.inbox and link.late_ms < was.late_ms)):
            self._push(self.now_ms, slot, "observe", None)
        if link.runs and not was.runs:
            self._unpark(slot)

    def end_watch(self, slot: Slot) -> None:
        """Let the component's watch end, with a 410: it lists again."""
        slot.inbox.clear()
        slot.behind = False
        slot.stale = True
        if slot.running:
            self._push(self.now_ms, slot, "gone", None)

    def set_clock(self, slot: Slot, clock: LocalClock) -> None:
        """Give a component another clock, which shows now what the old one shows; timers go by it from now on."""
        was, slot.clock = slot.clock, clock
        for timer, (at_ms, _) in list(slot.timers.items()):
            self.plan(slot, timer, clock.world(was.local(at_ms)))

    def _unpark(self, slot: Slot) -> None:
        parked, slot.parked = slot.parked, []
        for entry in parked:
            if not self._is_valid(entry):
                continue
            again = self._push(self.now_ms, slot, entry.kind, entry.payload)
            if entry.kind == "fire":
                slot.timers[entry.payload] = (self.now_ms, again)

    def plan(self, slot: Slot, timer: Hashable, at_ms: int) -> None:
        """Plan a component's timer at the loop's time `at_ms`."""
        at_ms = max(at_ms, self.now_ms)
        known = slot.timers.get(timer)
        if known is None or known[0] != at_ms:
            slot.timers[timer] = (at_ms, self._push(at_ms, slot, "fire", timer))

    # -- entries ------------------------------------------------------------------------------------------------

    def _due_ms(self) -> int | None:
        heap = self._heap
        while heap:
            first = heap[0]
            if self._is_valid(first):
                return first.time_ms
            heappop(heap)
        return None

    def _push(self, time_ms: int, slot: Slot, kind: Kind, payload: Any) -> int:
        self._sequence += 1
        heappush(self._heap, Entry(time_ms, slot.priority, self._sequence, slot, slot.incarnation, kind, payload))
        return self._sequence

    def _is_valid(self, entry: Entry) -> bool:
        slot = entry.slot
        if entry.kind == "mend":
            return entry.payload in slot.mends
        if entry.incarnation != slot.incarnation:
            return False
        return entry.kind != "fire" or slot.timers.get(entry.payload) == (entry.time_ms, entry.sequence)
