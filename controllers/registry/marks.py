"""The marks that a request leaves on its way: which step, which plugin, how long, and what came of it.

They are kept where somebody asks for them (`Context.marks`); the engine's own writes leave none. Time is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from scheduler_core.api.errors import ApiError

StepName = Literal["authentication", "authorization", "mutating", "validating", "quota", "registry", "store"]


@dataclass(slots=True)
class Mark:
    """One step. `message`: what it changed, or why it refused; `ns`: how long it took."""

    step: StepName
    plugin: str = ""
    ns: int = 0
    result: Literal["ok", "changed", "refused"] = "ok"
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as the session API tells it."""
        told: dict[str, Any] = {"step": self.step}
        if self.plugin:
            told["plugin"] = self.plugin
        told.update(ms=round(self.ns / 1_000_000, 3), result=self.result)
        if self.message:
            told["message"] = self.message
        return told


class Marks:
    """The steps of one request, in the order in which they happened."""

    __slots__ = ("asked", "before", "name", "now", "root", "sim_ms", "steps", "stored")

    def __init__(self, timer: Callable[[], int]) -> None:
        """Begin without steps; `timer` tells nanoseconds."""
        self.now = timer
        self.steps: list[Mark] = []
        self.asked = ""
        """The resourceVersion that the request says it was made on; empty: it says none."""
        self.before = ""
        """The object's resourceVersion before the write; empty: it was not there."""
        self.stored = ""
        """The object's resourceVersion after it; empty: nothing was written."""
        self.name = ""
        """The object's name as it was stored."""
        self.sim_ms: int | None = None
        """Session time of the transaction that it came to; None: it came to none."""
        self.root = ""
        """The prefix of keys as it was in that transaction."""

    def note(self, step: StepName, plugin: str, began: int) -> None:
        """Note a step that is over, since `began`."""
        self.steps.append(Mark(step, plugin, self.now() - began))

    @contextmanager
    def step(self, step: StepName, plugin: str = "") -> Iterator[Mark]:
        """Note a step; a refusal in it is its result."""
        mark = Mark(step, plugin)
        self.steps.append(mark)
        began = self.now()
        try:
            yield mark
        except ApiError as refusal:
            mark.result, mark.message = "refused", refusal.message
            raise
        finally:
            mark.ns += self.now() - began
