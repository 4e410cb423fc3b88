"""The steps of a run: everything that happens is one, drawn from a seed."""

from __future__ import annotations

from random import Random
from typing import NamedTuple


class Step(NamedTuple):
    """One thing that happens."""

    kind: str
    a: int
    b: int


WEIGHTS = {
    "create_pod": 16, "delete_pod": 8, "end_pod": 12, "finish_pod": 4, "label_pod": 2, "open_gate": 1, "tolerate": 1,
    "create_node": 4, "delete_node": 1, "resize_node": 2, "taint_node": 2, "cordon_node": 2, "move_node": 1,
    "budget": 1, "hear_pods": 44, "hear_nodes": 6, "attempt": 22, "bind": 22, "run_errand": 10, "allow": 3, "reject": 1,
    "flush": 6, "wait": 6,
}  # fmt: skip


def steps_of(seed: int, count: int) -> list[Step]:
    """Return the steps of a seed."""
    random = Random(seed)
    kinds = random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count)
    return [Step(kind, random.randrange(1 << 16), random.randrange(1 << 16)) for kind in kinds]
