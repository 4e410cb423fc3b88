"""What a component may do while the loop calls it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from controllers.log.operations import Operation
from controllers.log.store import Gone, Stored
from controllers.loop.component import Call, Emission, Slot
from scheduler_core.framework.registry import PluginRegistry

if TYPE_CHECKING:
    from controllers.loop.loop import Loop


class Tick:
    """One call of the loop. Valid only during that call."""

    __slots__ = ("_loop", "_slot", "now_ms")

    def __init__(self, loop: Loop, slot: Slot) -> None:
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
        """Return Unix milliseconds of simulated time 0."""
        return self._loop.store.epoch_ms

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
        self._loop.emitted.append(
            Emission(self._slot, self._slot.incarnation, actor or self._slot.name, operation, token)
        )

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

    def cancel(self, timer: Hashable) -> None:
        """Forget a planned timer."""
        self._slot.timers.pop(timer, None)

    def forget_all(self) -> None:
        """Forget every planned timer, all undelivered rows and all outstanding results: what an exit does."""
        self._loop.forget_all(self._slot)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision as of which they are: what the loop has read)."""
        store, position = self._loop.store, self._loop.position
        if store.revision > position:
            try:
                return store.list_at(resource, position, namespace), position
            except Gone:
                # Compacted under our feet: what is newest is all there is.
                pass
        return store.list(resource, namespace)

    def list_at(self, resource: str, revision: int) -> Sequence[Stored]:
        """Return the objects as of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """
        return self._loop.store.list_at(resource, revision)

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object as the loop has read it."""
        store, position = self._loop.store, self._loop.position
        stored = store.get(resource, namespace, name)
        if store.revision <= position or (stored is not None and stored.revision <= position):
            return stored
        return next((one for one in self.list(resource, namespace)[0] if one.name == name), None)
