"""The deterministic event loop: components ask, the loop answers.

A *component* is one process of the control plane: a scheduler replica, a controller manager replica, the hollow
kubelets. It never calls the store and never waits. The loop calls it with a `Tick`, and through the tick it

* emits operations (`tick.emit`) and traces (`tick.trace`),
* calls what is outside of the cluster (`tick.call`); answers are put in by whoever drives the loop (`Loop.answer`),
* plans timers (`tick.plan`, a later plan of the same name replaces the earlier one; `tick.cancel`),
* lists and gets (`tick.list`, `tick.get`: the committed state, never what the same tick has emitted).

The loop is a heap of (time, priority, sequence) entries. Entries of the same time run in batches, the *ticks*: at most
`TICK_EVENTS_MAX` events or `TICK_OPERATIONS_MAX` operations. What a tick emitted is committed in one transaction (in
several, where one event asks for more or others wait), each operation with its own result. The results come back to
whoever asked as an entry of the same time (`settle`), and the rows come back to everybody through the watch
(`observe`), the writer included. A refusal is a result like any other.

Time moves only from entry to entry. Before the loop leaves a time it raises the store's horizon past it, so that every
later write from elsewhere is stamped after it. A foreign row is taken when its stamp's time comes, or, in the middle of
one time's entries, with the engine's own next row after it. So from the log alone (`Event.read` says what the engine
had read) it is known when each foreign row was taken. Nothing here depends on real time or on the order of a set: same
seed, same foreign rows at the same places, same log.

Every component has its own watch position (`Slot.position`), its own clock (`Slot.clock`) and an incarnation: a crash
drops the object with all its memory and everything that was on its way to it; recovery makes a new one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from heapq import heappop
from typing import Any, Final

from controllers.kinds.table import find_resource
from controllers.log.operations import Result
from controllers.log.store import Event, Gone, Store
from controllers.loop.agenda import Agenda, Entry
from controllers.loop.batches import TICK_OPERATIONS_MAX, Room, first_gone, transactions, with_lost
from controllers.loop.component import DEFINED, Answer, Call, Commit, Component, Elected, Emission, Slot, Tick

__all__ = ["Answer", "Commit", "Component", "Elected", "Emission", "Loop", "Slot", "Tick"]

TICK_EVENTS_MAX: Final = 64
"""Events that share one transaction; past it the tick is committed and the rest of that time runs in the next one."""

AHEAD_MS_MAX: Final = 1_000
"""How far ahead of the entries that are to run the horizon is raised at once: what others write amid them is stamped
after it and heard of then, own rows after it too. Less would be a transaction more in a burst that is far behind."""

PULL_ROWS_MAX: Final = 5_000
"""Rows read from the store at once; more are read in the next round."""

BACKLOG_ROWS_MAX: Final = 20_000
"""Rows that may wait in memory for one component; past it they are dropped, and the component reads them from the
store when its watch goes on (or lists again, if they are compacted by then)."""

_REST: Final = "rest"
"""Payload of a delivery that takes everything: what the one before it had left."""


class Loop(Agenda):
    """Runs components over one store; see the module's text."""

    def __init__(self, store: Store, commit: Commit, *, now_ms: int, advance_horizon: Callable[[int], None]) -> None:
        """Begin at `now_ms` with no component.

        Args:
            store: read by the watch and by lists.
            commit: writes one tick.
            now_ms: simulated time to begin at, the store's horizon.
            advance_horizon: commits that simulated time has come to the argument, writing no row.
        """
        super().__init__(now_ms, store.revision)
        self.store = store
        self.emitted: list[Emission] = []
        self.operations = 0
        """Operations among what was emitted."""
        self.called: list[Call] = []
        """Calls of the tick under way, made once it is committed."""
        self.on_call: Callable[[int, Any], None] | None = None
        """Told of each call, with the number under which `answer` takes what came of it."""
        self.events_run = 0
        self.single_events = False
        """One event a tick: what stepping asks for."""
        self.on_failure: Callable[[Slot, Exception], None] | None = None
        """Told of an exception that a component raised; it is stopped then, and what it emitted in that call is
        dropped. None: the exception goes on to the caller."""
        self.after_event: Callable[[Slot, Tick], None] | None = None
        """Called after each event within its tick; the session's own reporting hangs here."""
        self._commit = commit
        self._advance_horizon = advance_horizon
        self._outstanding: dict[int, Call] = {}
        self._calls_made = 0
        self.horizon_ms = now_ms
        """Rows from elsewhere are stamped at or after this."""
        self.ahead_ms: int | None = None
        """The stamp of the first row that is not taken yet because its time has not come."""
        self._room = Room(0)
        self._kept = (0, 0, 0)

    def promise(self, horizon_ms: int) -> None:
        """Let writes from elsewhere be stamped at or after this time from now on."""
        if horizon_ms > self.horizon_ms:
            self.horizon_ms = horizon_ms
            self._advance_horizon(horizon_ms)

    # -- running ------------------------------------------------------------------------------------------------

    def next_event_ms(self) -> int | None:
        """Return when the next entry is due; None where nothing is planned."""
        due_ms = self._due_ms()
        if due_ms is None or self.ahead_ms is None:
            return self.ahead_ms if due_ms is None else due_ms
        return min(due_ms, self.ahead_ms)

    def run_urgent(self) -> int:
        """Run the entries of priority 0 that are due at the present time; return how many there were."""
        count = 0
        while self._next_is_urgent():
            self._dispatch(heappop(self._heap))
            self.events_run += 1
            self._flush()
            count += 1
        return count

    def _next_is_urgent(self) -> bool:
        at_ms = self._due_ms()
        return at_ms is not None and at_ms <= self.now_ms and self._heap[0].priority == 0

    @property
    def starts_are_due(self) -> bool:
        """Return whether components that were added have not started yet, though they may."""
        return any(
            entry.kind == "start" and entry.time_ms <= self.now_ms and self._is_valid(entry) for entry in self._heap
        )

    def pull(self) -> int:
        """Look for new rows; return how many were taken.

        While entries of the present time are left nothing is taken: the end of the next tick does it.
        """
        due_ms = self._due_ms()
        if due_ms is not None and due_ms <= self.now_ms:
            return 0
        return self._take_rows()

    def run_tick(self, until_ms: int) -> int:
        """Run one tick at the earliest time ≤ `until_ms` that has entries; return how many events ran (0: none).

        Urgent entries make a tick of their own, so that what they ask for holds for the next entry already; so does a
        component's start, which lists all that it watches.
        """
        while True:
            at_ms = self._reach(until_ms)
            if at_ms is None:
                return 0
            self.now_ms = max(self.now_ms, at_ms)
            if self.ahead_ms is not None and self.ahead_ms <= self.now_ms:
                self._take_rows()
            due_ms = self._due_ms()
            if due_ms is not None and due_ms <= self.now_ms:
                break
        if self._heap[0].priority == 0:
            return self.run_urgent()
        self._room = Room(1 if self.single_events or self._heap[0].kind == "start" else TICK_EVENTS_MAX)
        while self._has_room():
            due_ms = self._due_ms()
            if due_ms is None or due_ms > self.now_ms or (self._room.count and self._heap[0].kind == "start"):
                break
            self._room.count += 1
            self._dispatch(heappop(self._heap))
        count, self._room = self._room.count, Room(0)
        self.events_run += count
        self._flush()
        return count

    def _has_room(self) -> bool:
        """Return whether one event more fits into the tick."""
        room = self._room
        return room.count < room.events_max and self.operations < TICK_OPERATIONS_MAX

    def next_now(self) -> bool:
        """Let the event under way go on as the next one: where nothing else is due, and the tick has room for it."""
        if not self._has_room():
            return False
        due_ms = self._due_ms()
        if due_ms is not None and due_ms <= self.now_ms:
            return False
        self._room.count += 1
        self._keep()
        return True

    def _keep(self) -> None:
        """Note what events before the one that begins have asked for: that stays, should this one fail."""
        self._kept = len(self.emitted), self.operations, len(self.called)

    def tick_of(self, slot: Slot) -> Tick:
        """Return a tick for a component to act in, outside of its own entries; the next tick commits it."""
        return Tick(self, slot)

    def settle_at(self, until_ms: int) -> None:
        """Let time stand at `until_ms`, all entries before it having run."""
        if until_ms > self.now_ms:
            self._pass(until_ms)
            self.now_ms = until_ms

    # -- calls --------------------------------------------------------------------------------------------------

    def awaits(self, number: int) -> str:
        """Return who waits for the answer to a call; empty: nobody does any more."""
        call = self._outstanding.get(number)
        return call.slot.name if call is not None and call.incarnation == call.slot.incarnation else ""

    @property
    def has_calls(self) -> bool:
        """Return whether somebody waits for an answer from outside."""
        return any(self.awaits(number) for number in self._outstanding)

    def answer(self, number: int, result: Result) -> None:
        """Hand the answer to a call to whoever waits for it, with an entry at the present time."""
        call = self._outstanding.pop(number, None)
        if call is not None and call.incarnation == call.slot.incarnation:
            self._push(self.now_ms, call.slot, "settle", [Answer(call.token, result)])

    def _call_out(self) -> None:
        called, self.called = self.called, []
        for call in called:
            if call.incarnation == call.slot.incarnation:
                self._calls_made += 1
                self._outstanding[self._calls_made] = call
                if self.on_call is not None:
                    self.on_call(self._calls_made, call.request)

    # -- inside -------------------------------------------------------------------------------------------------

    def _reach(self, until_ms: int) -> int | None:
        """Return the time of the next entry ≤ `until_ms`, all rows stamped before it having been taken."""
        while True:
            at_ms = self.next_event_ms()
            if at_ms is not None and at_ms <= self.now_ms:
                return at_ms
            target = until_ms if at_ms is None else min(at_ms, until_ms)
            if target <= self.now_ms and not self._take_rows():
                return None
            if target > self.now_ms:
                self._pass(min(until_ms, max(target, self.now_ms + AHEAD_MS_MAX)))
                again_ms = self.next_event_ms()
                if again_ms is None or again_ms > until_ms:
                    return None
                return again_ms

    def _pass(self, until_ms: int) -> None:
        """Make every row stamped at or before `until_ms` known: raise the horizon past it, then look."""
        self.promise(until_ms + 1)
        self._take_rows()

    def _take_rows(self, through: int = 0) -> int:
        """Take the rows whose time has come and those up to revision `through`, in order; return how many.

        A row ahead of its time holds back those after it.
        """
        taken = 0
        self.ahead_ms = None
        while True:
            rows = self.store.events(self.position, PULL_ROWS_MAX)
            for row in rows:
                if row.now_ms > self.now_ms and row.revision > through:
                    self.ahead_ms = row.now_ms
                    return taken
                self.position = row.revision
                self._route(row)
                taken += 1
            if len(rows) < PULL_ROWS_MAX:
                return taken

    def _watched_as(self, resource: str) -> str:
        """Return under which name a resource is watched."""
        return resource if resource in self._watchers or find_resource(resource) is not None else DEFINED

    def _route(self, row: Event) -> None:
        for slot in self._watchers.get(self._watched_as(row.resource), ()):
            if slot.behind or not slot.link.watch:
                continue
            if not slot.inbox:
                self._push(max(self.now_ms, row.now_ms + slot.link.late_ms), slot, "observe", None)
            slot.inbox.append(row)
            if len(slot.inbox) > BACKLOG_ROWS_MAX:
                slot.inbox.clear()
                slot.behind = True

    def _dispatch(self, entry: Entry) -> None:
        slot = entry.slot
        if entry.kind == "recover":
            self.recover(slot)
            return
        if entry.kind == "mend":
            slot.mends.discard(entry.payload)
            entry.payload()
            if self.after_event is not None:
                self.after_event(slot, Tick(self, slot))
            return
        if not slot.link.runs:
            slot.parked.append(entry)
            return
        component = slot.component
        assert component is not None, "an entry of a stopped component was left valid"
        tick = Tick(self, slot)
        self._keep()
        try:
            self._call(entry, slot, component, tick)
        except Exception as error:
            if self.on_failure is None:
                raise
            emitted, self.operations, called = self._kept
            del self.emitted[emitted:], self.called[called:]
            self.crash(slot)
            self.on_failure(slot, error)
            return
        if self.after_event is not None:
            self.after_event(slot, tick)

    def _call(self, entry: Entry, slot: Slot, component: Component, tick: Tick) -> None:
        match entry.kind:
            case "recover" | "mend":
                raise AssertionError("a recovery is not a call")
            case "start":
                component.start(tick)
            case "observe":
                self._deliver(slot, component, tick, rest=entry.payload is _REST)
            case "gone":
                component.observe_gone(tick)
            case "settle":
                component.settle(entry.payload, tick)
            case "fire":
                del slot.timers[entry.payload]
                component.fire(entry.payload, tick)

    def _deliver(self, slot: Slot, component: Component, tick: Tick, *, rest: bool) -> None:
        if not slot.link.watch:
            return
        if slot.behind:
            self._deliver_from_store(slot, component, tick)
            return
        rows, slot.inbox = self._arrived(slot, slot.inbox)
        if slot.inbox:
            self._push(slot.inbox[0].now_ms + slot.link.late_ms, slot, "observe", None)
        gone = 0 if rest else first_gone(rows)
        if gone:
            slot.inbox[:0] = rows[gone:]
            del rows[gone:]
        self._deliver_rows(slot, component, rows, self.position, tick, routed=True)
        if gone:
            # What it wants to do about an object that ends comes before it hears that the object has gone.
            self._push(self.now_ms, slot, "observe", _REST)

    def _arrived(self, slot: Slot, rows: Sequence[Event]) -> tuple[list[Event], list[Event]]:
        """Return the rows that have come by now, and those that are still on their way."""
        if not slot.link.late_ms:
            return list(rows), []
        come = bisect_right(rows, self.now_ms - slot.link.late_ms, key=lambda row: row.now_ms)
        return list(rows[:come]), list(rows[come:])

    def _deliver_rows(
        self, slot: Slot, component: Component, rows: Sequence[Event], position: int, tick: Tick, *, routed: bool
    ) -> None:
        """Hand rows over; the component is level with `position` then, or with the last row if more are to come.

        `routed`: they are those that it watches, and no others.
        """
        if not slot.stale:
            late = bool(slot.inbox) or slot.behind
            slot.position = max(slot.position, position if not late else rows[-1].revision if rows else 0)
        if not routed:
            watched = component.resources
            rows = [row for row in rows if self._watched_as(row.resource) in watched]
        component.observe(rows, tick)

    def _deliver_from_store(self, slot: Slot, component: Component, tick: Tick) -> None:
        try:
            found = self.store.events(slot.position, PULL_ROWS_MAX)
        except Gone:
            slot.behind = False
            slot.stale = True
            component.observe_gone(tick)
            return
        rows, late = self._arrived(slot, [row for row in found if row.revision <= self.position])
        slot.behind = bool(late) or len(found) == PULL_ROWS_MAX
        if slot.behind:
            self._push(late[0].now_ms + slot.link.late_ms if late else self.now_ms, slot, "observe", None)
        self._deliver_rows(slot, component, rows, self.position, tick, routed=False)

    def _flush(self) -> None:
        if self.emitted:
            self._write()
        if self.called:
            self._call_out()

    def _write(self) -> None:
        emissions = self.emitted
        self.emitted, self.operations = [], 0
        before = self.position
        results: list[Result] = []
        last = 0
        for chunk in transactions(emissions):
            committed, written = self._commit([one for one in chunk if not one.lost], self.now_ms, before)
            results.extend(with_lost(chunk, committed))
            last = written or last
        self.horizon_ms = max(self.horizon_ms, self.now_ms)
        answers: dict[str, list[Answer]] = {}
        for emission, result in zip((e for e in emissions if e.operation is not None), results, strict=True):
            if emission.incarnation == emission.slot.incarnation:
                answers.setdefault(emission.slot.name, []).append(Answer(emission.token, result))
        for name, own in answers.items():
            self._push(self.now_ms, self.slots[name], "settle", own)
        # Up to the last own row and no further: so the log tells when a foreign row was taken. Rows before own ones
        # are taken with these, whatever their stamp, so that a person need not wait for the end of a burst.
        if last:
            self._take_rows(last)
