"""Session time: the golden table that the browser reads too, and that what is told never makes it step back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.log.sessiontime import session_time_ms

CASES = json.loads((Path(__file__).parent.parent / "golden" / "time" / "cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden(case):
    assert session_time_ms(case["status"], case["newestMs"], case["unixMs"]) == case["simTimeMs"]


@given(
    rate=st.floats(0.1, 100),
    told=st.lists(st.tuples(st.integers(1, 5_000), st.integers(0, 5_000), st.booleans()), max_size=20),
)
def test_it_never_steps_back_whatever_an_owner_does(rate, told):
    """Real time passes, the engine gets on as it can, and the owner tells no less than was shown."""
    unix_ms, newest_ms, shown = 0, 0, 0
    status = {"paused": False, "rate": rate, "simTimeMs": 0, "anchorUnixMs": 0, "carryRate": rate}
    for real_ms, moved_ms, behind in told:
        unix_ms += real_ms
        before, shown = shown, session_time_ms(status, newest_ms, unix_ms)
        assert shown >= before
        newest_ms += moved_ms
        told_ms = max(newest_ms, session_time_ms(status, newest_ms, unix_ms))
        status = {**status, "simTimeMs": told_ms, "anchorUnixMs": unix_ms, "carryRate": 0.0 if behind else rate}
        assert session_time_ms(status, newest_ms, unix_ms) >= shown
