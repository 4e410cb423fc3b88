"""How a component is connected: what reaches it, and what it can do. Faults change it (`controllers.faults`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scheduler_core.api.errors import ApiError


@dataclass(frozen=True, slots=True)
class Link:
    """One component's connection to the API server, and whether it runs at all.

    Attributes:
        api: lists, gets and writes reach the API server; without it they fail at once.
        watch: watch rows are on their way; without it none comes, and the watch goes on from its place later.
        runs: the process runs; one that does not keeps its memory, and all that is on its way to it waits.
        late_ms: how long after its stamp a watch row arrives.
    """

    api: bool = True
    watch: bool = True
    runs: bool = True
    late_ms: int = 0


WHOLE: Final = Link()
"""Nothing is cut."""


def unreachable() -> ApiError:
    """Return what a request comes to that does not reach the API server."""
    return ApiError(503, "ServiceUnavailable", "the API server cannot be reached", retry_after_seconds=1)
