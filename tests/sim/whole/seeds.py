"""What a seed's run must have been about, to count."""

from __future__ import annotations

from tests.sim.whole.shrink import ROWS, run


def check(seed: int) -> None:
    """Run a seed and check that enough has happened in it.

    Raises:
        AssertionError: a rule is broken (`Failure`: seed, rule, and the fewest steps that break it), or it was idle.
    """
    world = run(seed)
    books = world.books
    assert world.store.revision >= ROWS
    assert books.changes >= 3, "leaders change"
    assert world.answers[0] >= 200, "people write"
    assert world.answers[409] >= 5, "people collide"
    assert len(books.node_of) >= 150, "pods are bound"
