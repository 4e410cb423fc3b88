"""What a cycle's scratch looks like to people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.state_view import VALUE_LENGTH_MAX, state_entries
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from tests.core.framework_parts import nodes
from tests.core.objects import pod


class Colour(Enum):
    RED = 1


@dataclass
class Kept:
    number: int
    inside: Any = None

    def clone(self) -> Kept:
        return Kept(self.number, self.inside)


def _shown(value: Any) -> str:
    state = CycleState()
    state.write("Plugin/what", value)
    return str(state_entries(state)[0]["value"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"),
        (True, "true"),
        ("a", "a"),
        (np.zeros((2, 3), dtype=np.int64), "[2][3]int64"),
        (np.int64(7), "7"),
        (Colour.RED, "RED"),
        (frozenset({"b", "a"}), "[a b]"),
        ([1, 2, 3, 4, 5, 6], "[1 2 3 4 … 2 more]"),
        ({"cpu": 100}, "map[cpu:100]"),
        ((("cpu", 100), ("memory", 64)), "map[cpu:100 memory:64]"),
        ({str(one): one for one in range(9)}, "map[0:0 1:1 2:2 3:3 … 5 more]"),
        ((), "[]"),
        ([{"kind": "ResourceClaim", "metadata": {"namespace": "a", "name": "b"}}], "[ResourceClaim a/b]"),
        ({"metadata": {"name": "n1"}}, "object n1"),
        (
            Kept(1, Kept(2, Kept(3, Kept(4)))),
            "Kept{number:1 inside:Kept{number:2 inside:Kept{number:3 inside:Kept}}}",
        ),
        (object(), "object"),
    ],
)
def test_a_value_is_shown_in_short(value: Any, text: str) -> None:
    assert _shown(value) == text


def test_a_long_value_is_cut() -> None:
    shown = _shown("x" * 1000)
    assert (len(shown), shown[-1]) == (VALUE_LENGTH_MAX, "…")


def test_entries_name_the_writer_and_what_a_dry_run_copies() -> None:
    state = CycleState()
    state.write("Mine", Kept(1))
    state.write("Other/scores", (1, 2))
    assert state_entries(state) == [
        {"key": "Mine", "writer": "Mine", "value": "Kept{number:1 inside:<nil>}", "cloned": True},
        {"key": "Other/scores", "writer": "Other", "value": "[1 2]", "cloned": False},
    ]


def test_the_default_plugins_entries_carry_no_addresses() -> None:
    built, state, where = Framework(default_configuration(), in_tree_registry()), CycleState(), nodes("x", "y")
    left, _, narrowing = built.run_pre_filter(state, pod(), where)
    outcome = built.run_filter(state, pod(), where, left, narrowing)
    built.run_pre_score(state, pod(), where, outcome.feasible)
    entries = state_entries(state)
    assert "NodeResourcesFit" in {entry["writer"] for entry in entries}
    assert not [entry for entry in entries if " at 0x" in entry["value"]]
