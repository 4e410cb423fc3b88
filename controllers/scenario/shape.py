"""What a scenario is once it has been read: the cluster it begins with and what happens to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scheduler_core.api.document import Document

DEFAULT_UNTIL_SECONDS: Final = 60
"""How long a scenario runs that does not say."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that happens: at `at_ms`, `what` with its argument; `path` names it in errors."""

    at_ms: int
    what: str
    argument: Any
    path: str
    timed: bool = True
    """False: it has no time of its own, and happens in its turn."""

    @property
    def told(self) -> str:
        """Return what names it in errors."""
        return f"{self.path} at {self.at_ms / 1000:g} s" if self.timed else self.path


@dataclass(slots=True)
class Scenario:
    """A scenario, read and checked."""

    name: str = ""
    replicas: int = 1
    pace: int = 0
    kubelets: bool = True
    until_ms: int = DEFAULT_UNTIL_SECONDS * 1000
    scheduler: Document | None = None
    objects: list[Document] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Start:
    """What a template contributes."""

    objects: Sequence[Document]
    replicas: int
    pace: int
