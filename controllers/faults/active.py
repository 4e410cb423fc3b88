"""The faults that the components of one loop have: at most one of a replica and one of its clock.

A clock that runs slow goes on running slow while the network is cut: that is how two come to lead at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from controllers.faults.fault import Asked
from controllers.faults.table import FAULTS
from controllers.loop.component import Slot
from controllers.loop.loop import Loop


@dataclass(frozen=True, slots=True)
class Active:
    """A fault that a component has; `until_ms`: when it ends by itself."""

    asked: Asked
    until_ms: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return the form of the replica's status."""
        return {**self.asked.as_dict(), "untilMs": self.until_ms}


class Faults:
    """Begins and ends faults."""

    def __init__(self, loop: Loop) -> None:
        """Begin with none."""
        self._loop = loop
        self._active: dict[str, dict[str, tuple[Active, Callable[[], None]]]] = {}
        """Component → what it is a fault of → the fault, and what ends it."""

    def of(self, slot: Slot) -> tuple[Active, ...]:
        """Return what a component has, in the order in which it began."""
        own = self._active.get(slot.name)
        return tuple([active for active, _ in own.values()]) if own else ()

    def begin(self, slot: Slot, asked: Asked) -> None:
        """Let a component have a fault, instead of the one of the same that it had."""
        fault = FAULTS[asked.kind]
        had = self._active.get(slot.name, {})
        for of in [of for of in had if fault.of in (of, "all")]:
            self._end(slot, of)
        self._begin(slot, Active(asked, fault.until_ms(asked, self._loop.now_ms)))

    def take_up(self, slot: Slot, left: Active) -> None:
        """Go on with a fault that the status of a former owner's run names, unless its time is over."""
        if left.until_ms is None or left.until_ms > self._loop.now_ms:
            self._begin(slot, left)

    def _end(self, slot: Slot, of: str) -> None:
        active, mend = self._active[slot.name].pop(of)
        slot.mends.discard(mend)
        FAULTS[active.asked.kind].end(self._loop, slot)

    def _begin(self, slot: Slot, active: Active) -> None:
        fault = FAULTS[active.asked.kind]
        fault.begin(self._loop, slot, active.asked)
        if not fault.stays(active.asked):
            return

        def mend() -> None:
            self._end(slot, fault.of)

        self._active.setdefault(slot.name, {})[fault.of] = active, mend
        if active.until_ms is not None:
            self._loop.mend_at(slot, active.until_ms, mend)
