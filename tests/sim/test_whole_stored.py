"""A random life of the whole cluster over a database: the same log as in memory, and the same rules."""

from __future__ import annotations

import pytest

from tests.sim.whole.shrink import run
from tests.sim.whole.stores import InDatabase
from tests.sim.whole.world import World


@pytest.mark.usefixtures("own_database")
def test_a_life_over_sqlite_is_the_life_in_memory() -> None:
    stored = run(23, 2_000, lambda seed: World(seed, kept=InDatabase))
    assert stored.owners >= 1, "another owner takes it up"
    assert stored.books.log_sha256 == run(23, 2_000).books.log_sha256
