"""Running steps, and making a failure small: parts are taken out as long as what is left fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scheduler_core.scheduler.core import Scheduler
from tests.scheduler.simulation.books import Books
from tests.scheduler.simulation.steps import Step, steps_of
from tests.scheduler.simulation.world import World
from tests.tools.shrinking import fewest

STEPS_MAX = 60_000
"""Steps that shrinking may run before it is content with what it has."""

Make = Callable[..., Scheduler]


class Failure(AssertionError):
    """A run that broke a rule: its message has the seed, the rule and the fewest steps found that break it."""


def failing_step(steps: Sequence[Step], make: Make = Scheduler) -> tuple[int, Exception] | None:
    """Run the steps; return the index of the one after which something was wrong, and what; None: all is well."""
    world = World(make)
    books = Books(world)
    for index, step in enumerate(steps):
        try:
            world.do(step)
            books.check()
        except Exception as wrong:
            return index, wrong
    return None


def shrunk(steps: Sequence[Step], make: Make = Scheduler) -> list[Step]:
    """Return fewer steps that fail as well, by taking out ever smaller parts."""

    def failing(candidate: Sequence[Step]) -> int | None:
        failed = failing_step(candidate, make)
        return None if failed is None else failed[0]

    return fewest(steps, failing, steps_max=STEPS_MAX)


def run(seed: int, count: int, make: Make = Scheduler) -> tuple[World, Books]:
    """Run a seed's steps.

    Raises:
        Failure: a rule is broken.
    """
    world = World(make)
    books = Books(world)
    steps = steps_of(seed, count)
    for index, step in enumerate(steps):
        try:
            world.do(step)
            books.check()
        except Exception as wrong:
            few = shrunk(steps[: index + 1], make)
            failed = failing_step(few, make)
            assert failed is not None
            listed = "\n".join(f"    Step({one.kind!r}, {one.a}, {one.b})," for one in few)
            text = f"seed {seed}, step {index}: {wrong!r}\n{len(few)} steps do as well ({failed[1]!r}):\n{listed}"
            raise Failure(text) from wrong
    return world, books
