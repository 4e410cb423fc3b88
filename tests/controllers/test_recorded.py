"""What real controllers of v1.34.9 did, done again: cases recorded from servers, played in memory."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.tools.recorded import cases, differences

OTHERWISE: Final = frozenset({"deploy-roll-unavailable1", "hpa-no-metrics"})
"""Cases that end otherwise here, as docs/deviations.md says: how fast a kubelet is, and whether usage is served."""

CASES: Final[dict[str, Any]] = {
    name: case for topic in ("controllers", "nodelife") for name, case in cases(topic).items()
}


@pytest.mark.parametrize("name", sorted(CASES.keys() - OTHERWISE))
def test_what_was_recorded_happens(name: str) -> None:
    assert differences(CASES[name]) == []


def test_there_are_cases_of_each_kind_of_controller() -> None:
    assert len(CASES) >= 45
    assert CASES.keys() > OTHERWISE
    kinds = {name.partition("-")[0] for name in CASES}
    assert {"deploy", "replicaset", "sts", "job", "endpoints", "gc", "pdb", "pv", "node", "taint"} <= kinds
