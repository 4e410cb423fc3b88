"""The highest totals kept level node by node are those that looking at all of them finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.ranking import Ranking
from scheduler_core.snapshot.node_info import NodeInfo
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core.objects import node

NAMES = ("n2", "n10", "a", "n1", "b")


@given(
    st.lists(st.integers(0, 3), min_size=len(NAMES), max_size=len(NAMES)),
    st.lists(st.tuples(st.integers(0, len(NAMES) - 1), st.integers(0, 3)), max_size=30),
)
def test_each_change_leaves_what_looking_at_all_finds(totals: list[int], changes: list[tuple[int, int]]) -> None:
    snapshot = Snapshot(NodeInfo(name, node(name)) for name in NAMES)
    total = np.array(totals, dtype=np.int64)
    ranking = Ranking(snapshot, total)
    for row, after in [(0, totals[0]), *changes]:
        ranking.change(row, total, after)
        assert total[row] == after
        best = [row for row in range(len(NAMES)) if total[row] == max(total)]
        assert ranking.top == max(total)
        assert ranking.count == len(best)
        assert [ranking.row(number) for number in range(ranking.count)] == sorted(best, key=NAMES.__getitem__)
