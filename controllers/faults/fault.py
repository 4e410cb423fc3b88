"""What a fault is: how it begins, how it ends, and what `seconds` and `rate` mean to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from controllers.loop.component import Slot
from controllers.loop.loop import Loop


@dataclass(frozen=True, slots=True)
class Asked:
    """One fault as it was asked for. `seconds` and `rate` are None where they were left out."""

    id: int
    kind: str
    seconds: float | None = None
    rate: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the form of the replica's status; every member is named, since a merge patch keeps what is not."""
        return {"id": self.id, "kind": self.kind, "seconds": self.seconds, "rate": self.rate}


def _nothing(loop: Loop, slot: Slot) -> None:
    """End what leaves nothing behind."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault.

    Attributes:
        about: what it does, for the documentation.
        begin: lets it happen to a component.
        end: undoes what lasts of it.
        needs: fields that have to be given.
        takes: fields that may be given besides.
        of: what it is a fault of: the `replica`, its process and link, or its `clock`. A replica has at most one of
            each, and another one of the same ends the former; one of `all` ends both.
        lasts: until `seconds` are over, or until the replica is asked for something else (`open`: whatever `seconds`
            are, they mean another thing); a fault that happens `at once` leaves nothing to end, but for its `seconds`.
    """

    about: str
    begin: Callable[[Loop, Slot, Asked], None]
    end: Callable[[Loop, Slot], None] = _nothing
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    of: Literal["replica", "clock", "all"] = "replica"
    lasts: Literal["seconds", "open", "at once"] = "seconds"

    def stays(self, asked: Asked) -> bool:
        """Return whether the component has it until it ends."""
        return self.lasts != "at once" or bool(asked.seconds)

    def until_ms(self, asked: Asked, now_ms: int) -> int | None:
        """Return when it ends by itself; None: never."""
        return now_ms + round(asked.seconds * 1000) if asked.seconds and self.lasts != "open" else None


def reconnected(loop: Loop, slot: Slot, **link: Any) -> None:
    """Change a part of a component's link."""
    loop.connect(slot, replace(slot.link, **link))
