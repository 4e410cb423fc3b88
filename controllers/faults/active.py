"""The faults that the components of one loop have: at most one each; another one ends the former."""

from __future__ import annotations

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
        self._active: dict[str, Active] = {}

    def of(self, slot: Slot) -> Active | None:
        """Return what a component has."""
        return self._active.get(slot.name)

    def begin(self, slot: Slot, asked: Asked) -> None:
        """Let a component have a fault, instead of the one that it had."""
        self.end(slot)
        self._begin(slot, Active(asked, FAULTS[asked.kind].until_ms(asked, self._loop.now_ms)))

    def take_up(self, slot: Slot, left: Active) -> None:
        """Go on with a fault that the status of a former owner's run names, unless its time is over."""
        if left.until_ms is None or left.until_ms > self._loop.now_ms:
            self._begin(slot, left)

    def end(self, slot: Slot) -> None:
        """End what a component has."""
        active = self._active.pop(slot.name, None)
        slot.mend = None
        if active is not None:
            FAULTS[active.asked.kind].end(self._loop, slot)

    def _begin(self, slot: Slot, active: Active) -> None:
        fault = FAULTS[active.asked.kind]
        fault.begin(self._loop, slot, active.asked)
        if not fault.stays(active.asked):
            return
        self._active[slot.name] = active
        if active.until_ms is not None:
            self._loop.mend_at(slot, active.until_ms, lambda: self.end(slot))
