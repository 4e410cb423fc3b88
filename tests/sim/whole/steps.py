"""The steps of a run: everything that happens to the cluster is one, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple


class Step(NamedTuple):
    """One thing that happens; what exactly follows from `a` and `b` and from what there is by then."""

    kind: str
    a: int
    b: int


WEIGHTS = {
    "wait": 80,
    # What people ask for.
    "deployment": 9, "replicaset": 3, "controller": 2, "statefulset": 5, "daemonset": 2, "job": 4, "cronjob": 1,
    "service": 4, "autoscaler": 1, "budget": 2, "pod": 4, "config": 2, "quota": 2, "limits": 1, "namespace": 1,
    # What they change and take away.
    "scale": 10, "template": 8, "pause": 2, "strategy": 3, "delete": 7, "stale": 3, "relabel": 2, "hold": 1,
    "status": 1, "suspend": 1, "delete_pod": 5, "evict": 3, "order": 4, "trespass": 1,
    # Nodes and machines.
    "node": 3, "delete_node": 1, "cordon": 2, "drain": 1, "taint": 1, "machine": 3, "pressure": 1,
    # What befalls the control plane.
    "fault": 12, "owner": 1, "compact": 2, "pace": 1, "flags": 1,
}  # fmt: skip


def steps_of(seed: int) -> Iterator[Step]:
    """Yield the steps of a seed, without end."""
    random = Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    while True:
        (kind,) = random.choices(kinds, weights)
        yield Step(kind, random.randrange(1 << 16), random.randrange(1 << 16))
