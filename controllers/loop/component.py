"""What a component is to the loop, and what it may do while the loop calls it; how they work together: `loop`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from controllers.log.operations import Operation, Result, resource_of
from controllers.log.store import Event, Gone, Store, Stored
from controllers.loop.clock import LocalClock
from controllers.loop.link import WHOLE, Link, unreachable
from scheduler_core.framework.registry import PluginRegistry

DEFINED: Final = "*.*"
"""Stands among a component's resources for all those that a session defines itself: what no table of kinds has."""


class Answer(NamedTuple):
    """The result of one emitted operation, with the token it was emitted under."""

    token: Any
    result: Result


class Component(Protocol):
    """One process of the control plane. Calls come one at a time, in the loop's order."""

    @property
    def resources(self) -> frozenset[str]:
        """Return the group resources whose rows are delivered to `observe`; the same as long as it lives."""

    def start(self, tick: Tick) -> None:
        """Begin with empty memory: list what is needed (`tick.list`), plan the first timers.

        Rows up to the revision returned by a list may be delivered again: skip those at or before it.
        """

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows of `resources`, in order of revision. Objects in them are shared: never change them."""

    def observe_gone(self, tick: Tick) -> None:
        """The watch position is compacted: list again, then `observe` goes on after `tick.revision`."""

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """Take the results of own operations, in the order in which they were emitted."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """A planned timer is due."""


class Elected(Component, Protocol):
    """A component of which several replicas exist and one acts. `controllers.leaderelection.replica.Replica` wraps it:
    runs the election beside it under the same name, clock and watch, and makes it anew when leadership is lost.
    """

    def lead(self, tick: Tick) -> None:
        """Start to act. Before this call the component keeps its caches and emits nothing.

        There is no call for losing: a replica that stops leading is dropped and made anew, as the real processes exit.
        """


@runtime_checkable
class Flagged(Protocol):
    """A component that plans by flags; others read them when they need them."""

    def flags_changed(self, tick: Tick) -> None:
        """Plan anew by the flags that are in force now."""


class Emission(NamedTuple):
    """One thing asked of the loop: an operation (with its actor and token), or a trace to keep.

    `lost`: it does not reach the API server.
    """

    slot: Slot
    incarnation: int
    actor: str
    operation: Operation | None
    token: Any
    trace: tuple[str, int, dict[str, Any], bytes] | None = None
    lost: bool = False


class Call(NamedTuple):
    """One call to the world outside: what is asked and, for the answer, by whom and under which token."""

    slot: Slot
    incarnation: int
    request: Any
    token: Any


Commit = Callable[[Sequence[Emission], int, int], tuple[Sequence[Result], int]]
"""(emissions, now_ms, read revision) → results of the operations among them, in order, and the last revision that was
written (0: nothing was). One transaction."""


@dataclass(slots=True)
class Slot:
    """The loop's side of one component."""

    name: str
    make: Callable[[], Component]
    component: Component | None = None
    clock: LocalClock = field(default_factory=LocalClock)
    watched: frozenset[str] = frozenset()
    position: int = 0
    """The revision up to which rows have been delivered."""
    stale: bool = False
    """The watch has ended: rows count for nothing until the component has listed again."""
    priority: int = 1
    incarnation: int = 0
    inbox: list[Event] = field(default_factory=list)
    behind: bool = False
    """Rows were dropped from the inbox: the next delivery reads them from the store."""
    timers: dict[Hashable, tuple[int, int]] = field(default_factory=dict)
    """Timer → (time, sequence number) of its valid heap entry."""
    link: Link = WHOLE
    parked: list[Any] = field(default_factory=list)
    """Entries that came due while the process did not run."""
    mends: set[Callable[[], None]] = field(default_factory=set)
    """What ends the faults that this component has for a time; see `Loop.mend_at`."""
    own: frozenset[str] = frozenset()
    """Group resources by which the session shows this component itself: their rows are no traffic of the component's
    own, and are written whatever its link."""

    @property
    def running(self) -> bool:
        """Return whether the component is alive."""
        return self.component is not None


class Floor(Protocol):
    """What a tick needs of the loop."""

    store: Store
    now_ms: int
    position: int
    emitted: list[Emission]
    operations: int
    called: list[Call]

    def next_now(self) -> bool:
        """Let the event under way go on as the next one."""

    def plan(self, slot: Slot, timer: Hashable, at_ms: int) -> None:
        """Plan a component's timer at the loop's time `at_ms`."""

    def forget_all(self, slot: Slot) -> None:
        """Void everything that is on its way to a component."""


class Tick:
    """One call of the loop. Valid only during that call."""

    __slots__ = ("_loop", "_slot", "now_ms")

    def __init__(self, loop: Floor, slot: Slot) -> None:
        self._loop = loop
        self._slot = slot
        self.now_ms: int = slot.clock.local(loop.now_ms)
        """Simulated milliseconds on this component's own clock."""

    @property
    def seed(self) -> int:
        """Return the session's seed, for keyed draws."""
        return self._loop.store.seed

    @property
    def plugins(self) -> PluginRegistry | None:
        """Return the scheduler plugins that are installed beside the in-tree ones."""
        return self._loop.store.plugins

    @property
    def epoch_ms(self) -> int:
        """Return Unix milliseconds of simulated time 0; plus `now_ms` it is what the component's wall clock shows."""
        return self._loop.store.epoch_ms + self._slot.clock.skew_ms

    @property
    def world_ms(self) -> int:
        """Return the time of the loop: for what is told of a component, which does not know it."""
        return self._loop.now_ms

    def world(self, local_ms: int) -> int:
        """Return the time of the loop at which the own clock shows `local_ms`, as it runs now."""
        return self._slot.clock.world(local_ms)

    @property
    def reachable(self) -> bool:
        """Return whether the component reaches the API server."""
        return self._slot.link.api

    @property
    def revision(self) -> int:
        """Return the newest revision that the loop has read."""
        return self._loop.position

    @property
    def position(self) -> int:
        """Return the revision up to which this component's watch has been delivered."""
        return self._slot.position

    def emit(self, operation: Operation, token: Any = None, *, actor: str = "") -> None:
        """Ask for a write. The result arrives in `settle` with `token`. `actor` defaults to the component's name."""
        slot = self._slot
        lost = not slot.link.api and resource_of(operation) not in slot.own
        self._loop.emitted.append(Emission(slot, slot.incarnation, actor or slot.name, operation, token, lost=lost))
        self._loop.operations += 1

    def trace(self, uid: str, attempt: int, envelope: dict[str, Any], blob: bytes) -> None:
        """Keep a scheduling trace, in the transaction and at the place of the operations emitted around it."""
        slot, kept = self._slot, (uid, attempt, envelope, blob)
        self._loop.emitted.append(Emission(slot, slot.incarnation, slot.name, None, None, kept))

    def call(self, request: Any, token: Any) -> None:
        """Ask the world outside, once what this tick writes is committed; the answer arrives in `settle` with `token`.

        Simulated time goes on meanwhile. What is under way when the component stops is never answered.
        """
        self._loop.called.append(Call(self._slot, self._slot.incarnation, request, token))

    def plan(self, timer: Hashable, at_ms: int) -> None:
        """Call `fire(timer)` at `at_ms` on the own clock (now, if that is past), instead of when it was planned."""
        self._loop.plan(self._slot, timer, self._slot.clock.world(at_ms))

    def next_now(self) -> bool:
        """Return whether a timer planned for now would be the next event: then this is it, and is gone on with at once.

        The tick counts one event more. False: others come first, or the tick is full; plan it.
        """
        return self._loop.next_now()

    def cancel(self, timer: Hashable) -> None:
        """Forget a planned timer."""
        self._slot.timers.pop(timer, None)

    def forget_all(self) -> None:
        """Forget every planned timer, all undelivered rows and all outstanding results: what an exit does."""
        self._loop.forget_all(self._slot)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision as of which they are: what the loop has read).

        Raises:
            ApiError: the API server cannot be reached.
        """
        self._ask(resource)
        store, position = self._loop.store, self._loop.position
        if store.revision > position:
            try:
                return self._listed(store.list_at(resource, position, namespace), position)
            except Gone:
                # Compacted under our feet: what is newest is all there is.
                pass
        return self._listed(*store.list(resource, namespace))

    def _listed(self, objects: Sequence[Stored], revision: int) -> tuple[Sequence[Stored], int]:
        if self._slot.stale:
            self._slot.stale = False
            self._slot.position = revision
        return objects, revision

    def list_at(self, resource: str, revision: int) -> Sequence[Stored]:
        """Return the objects as of a kept revision.

        Raises:
            Gone: that revision is compacted.
            ApiError: the API server cannot be reached.
        """
        self._ask(resource)
        return self._loop.store.list_at(resource, revision)

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object as the loop has read it.

        Raises:
            ApiError: the API server cannot be reached.
        """
        self._ask(resource)
        store, position = self._loop.store, self._loop.position
        stored = store.get(resource, namespace, name)
        if store.revision <= position or (stored is not None and stored.revision <= position):
            return stored
        return next((one for one in self.list(resource, namespace)[0] if one.name == name), None)

    def _ask(self, resource: str) -> None:
        if not self._slot.link.api and resource not in self._slot.own:
            raise unreachable()
