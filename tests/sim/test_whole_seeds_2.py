"""Random lives of the whole cluster (`tests.sim.whole`), seeds 5 to 8; a file a handful, to be run side by side."""

from __future__ import annotations

import pytest

from tests.sim.whole.seeds import check


@pytest.mark.parametrize("seed", range(5, 9))
def test_what_was_asked_is_reached_whatever_happened(seed: int) -> None:
    check(seed)
