"""What goes together: the operations of a transaction, and the rows of a delivery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.log.operations import Result
from controllers.log.store import DELETED, Event
from controllers.loop.component import Emission
from controllers.loop.link import unreachable

TICK_OPERATIONS_MAX: Final = 100
"""Operations after which a tick is committed early, and operations that one transaction holds: keeps it near 10 ms, so
that a person's write waits little. Traces do not count."""

TICK_OPERATIONS_MORE: Final = 10
"""Operations past the maximum that still go with it: a transaction of their own would cost more than they do."""


@dataclass(slots=True)
class Room:
    """How far a tick is.

    Attributes:
        events_max: how many events it takes.
        count: how many have begun.
    """

    events_max: int
    count: int = 0


def first_gone(rows: Sequence[Event]) -> int:
    """Return the place of the first deletion of an object that an earlier row is about; 0: there is none."""
    if DELETED not in [row.verb for row in rows]:
        return 0
    seen: set[str] = set()
    for place, row in enumerate(rows):
        if row.verb == DELETED and row.uid in seen:
            return place
        seen.add(row.uid)
    return 0


def transactions(emissions: Sequence[Emission]) -> Iterator[Sequence[Emission]]:
    """Yield what goes into one transaction each; a trace goes with the operation after it."""
    numbers = [index for index, one in enumerate(emissions) if one.operation is not None]
    start = done = 0
    while len(numbers) - done > TICK_OPERATIONS_MAX + TICK_OPERATIONS_MORE:
        done += TICK_OPERATIONS_MAX
        end = numbers[done - 1] + 1
        yield emissions[start:end]
        start = end
    yield emissions[start:]


def with_lost(emissions: Sequence[Emission], committed: Sequence[Result]) -> Iterator[Result]:
    """Yield the result of each operation among the emissions, refusals of those that were lost included."""
    results = iter(committed)
    for emission in emissions:
        if emission.operation is not None:
            yield Result(emission.operation, None, unreachable(), 0) if emission.lost else next(results)
