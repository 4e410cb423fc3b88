"""Running a seed's steps, and making a failure small: parts are taken out as long as what is left fails alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tests.sim.whole.actions import do
from tests.sim.whole.ends import settle
from tests.sim.whole.steps import Step, steps_of
from tests.sim.whole.stores import InMemory, Kept
from tests.sim.whole.world import World
from tests.tools.shrinking import fewest

ROWS = 20_000
"""Rows of the log after which a run comes to its end."""

STEPS_MAX = 15_000
"""Steps that shrinking may run before it is content with what it has."""

Make = Callable[[int], World]


class Failure(AssertionError):
    """A run that broke a rule: its message has the seed, the rule and the fewest steps found that break it."""


def kind_of(wrong: BaseException) -> str:
    """Return what kind of failure it is: its text without what differs from run to run."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|-[0-9bcdfghjklmnpqrstvwxz]{5,10}\b|\d+|(?<=/)[\w.-]+", "", str(wrong))
    return f"{type(wrong).__name__}: {text[:40]}"


def failing_step(
    steps: Sequence[Step], seed: int, make: Make = World, *, rest: bool = True
) -> tuple[int, Exception] | None:
    """Run steps, and let all come to rest; return where something was wrong, and what; None: all is well.

    The place of what does not come to rest is the number of steps. `rest` False: what is wrong is seen before.
    """
    world = make(seed)
    for index, step in enumerate(steps):
        try:
            do(world, step)
        except Exception as wrong:
            return index, wrong
    if not rest:
        return None
    try:
        settle(world)
    except Exception as wrong:
        return len(steps), wrong
    return None


def shrunk(steps: Sequence[Step], seed: int, wanted: str, make: Make = World, *, rest: bool = True) -> list[Step]:
    """Return fewer steps that fail in the same way, by taking out ever smaller parts; `rest` as in `failing_step`."""

    def failing(candidate: Sequence[Step]) -> int | None:
        failed = failing_step(candidate, seed, make, rest=rest)
        return None if failed is None or kind_of(failed[1]) != wanted else failed[0]

    return fewest(steps, failing, steps_max=STEPS_MAX)


def run(seed: int, rows: int = ROWS, make: Make = World) -> World:
    """Run a seed's steps until the log has so many rows, then let all come to rest.

    Raises:
        Failure: a rule is broken.
    """
    world = make(seed)
    done: list[Step] = []
    resting = False
    try:
        for step in steps_of(seed):
            if world.store.revision >= rows:
                break
            done.append(step)
            do(world, step)
        resting = True
        settle(world)
    except Exception as wrong:
        few = shrunk(done, seed, kind_of(wrong), make, rest=resting)
        failed = failing_step(few, seed, make)
        assert failed is not None, "what was shrunk fails"
        listed = "\n".join(f"    Step({one.kind!r}, {one.a}, {one.b})," for one in few)
        text = f"seed {seed}, step {len(done)}: {wrong!r}\n{len(few)} steps do as well ({failed[1]!r}):\n{listed}"
        raise Failure(text) from wrong
    return world


def log_of(seed: int, rows: int = ROWS, kept: Callable[[int], Kept] = InMemory) -> str:
    """Return logSha256 of a seed's run, without looking at what it says."""
    world = World(seed, checked=False, kept=kept)
    for step in steps_of(seed):
        if world.store.revision >= rows:
            break
        do(world, step)
    return world.books.log_sha256
