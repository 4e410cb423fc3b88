"""What a component is to the loop, and the loop's side of it; how they work together stands in `loop`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from controllers.log.operations import Operation, Result
from controllers.log.store import Event
from controllers.loop.clock import LocalClock

if TYPE_CHECKING:
    from controllers.loop.tick import Tick


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


class Emission(NamedTuple):
    """One thing asked of the loop: an operation (with its actor and token), or a trace to keep."""

    slot: Slot
    incarnation: int
    actor: str
    operation: Operation | None
    token: Any
    trace: tuple[str, int, dict[str, Any], bytes] | None = None


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
    priority: int = 1
    incarnation: int = 0
    inbox: list[Event] = field(default_factory=list)
    behind: bool = False
    """Rows were dropped from the inbox: the next delivery reads them from the store."""
    timers: dict[Hashable, tuple[int, int]] = field(default_factory=dict)
    """Timer → (time, sequence number) of its valid heap entry."""

    @property
    def running(self) -> bool:
        """Return whether the component is alive."""
        return self.component is not None
