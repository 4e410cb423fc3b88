"""A comparison whole: both sides run, their sums, their nodes, and every pod with where it went on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from controllers.whatif.changes import refused
from controllers.whatif.compare.differing import differences
from controllers.whatif.compare.inputs import Given
from controllers.whatif.compare.running import play
from controllers.whatif.compare.summing import by_node, of_side
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said
from scheduler_core.framework.registry import PluginRegistry

PODS_MAX: Final = 2_000
"""Pods that a comparison places anew; more are refused with 422."""

NODES_MAX: Final = 2_000
"""Nodes of a comparison; more are refused with 422."""


def check(given: Given) -> None:
    """Refuse an input that is empty or too large.

    Raises:
        ApiError: 422.
    """
    nodes = sum(1 for resource, _ in given.objects if resource == "nodes")
    pods = len(given.played)
    if not pods:
        raise refused(
            Cause("input", said("compare.noneWaits", "no pod waits for a node: choose anew, or the last arrivals"))
        )
    if pods > PODS_MAX:
        raise refused(
            Cause(
                "input",
                said(
                    "compare.podsMost",
                    "{pods:,} pods are more than {pods_max:,}: choose fewer, such as the last 100",
                    pods=pods,
                    pods_max=PODS_MAX,
                ),
            )
        )
    if nodes > NODES_MAX:
        raise refused(
            Cause(
                "input",
                said(
                    "compare.nodesMost",
                    "{nodes:,} nodes are more than {nodes_max:,}: compare in a smaller cluster",
                    nodes=nodes,
                    nodes_max=NODES_MAX,
                ),
            )
        )


def compare(
    given: Given,
    specs: Sequence[Document],
    *,
    seed: int,
    plugins: PluginRegistry | None = None,
    go_on: Callable[[], Callable[[], bool]] = lambda: lambda: True,
) -> Document:
    """Run both sides and return what differs.

    Args:
        given: the input.
        specs: of the schedulers, a and b.
        seed: chance is drawn from it, on both sides.
        plugins: those of installed packages.
        go_on: asked when a side begins for what is asked between its events; when that says no, the side ends there.

    Returns:
        `seed`, `pods` (how many), `elsewhere` (of them, on another node or on one of both alone), `sums` ([a, b], see
        `summing.of_side`), `nodes` (`node`, `zone`, `cpu`, and `pods` and `used` as [a, b]) and `rows` (see
        `differing.differences`).
    """
    sides = [play(given, spec, seed=seed, plugins=plugins, go_on=go_on()) for spec in specs]
    first, second = sides
    rows = differences(given, first, second)
    loads = [by_node(given, played) for played in sides]
    return {
        "seed": seed,
        "pods": len(rows),
        "elsewhere": sum(row["a"]["node"] != row["b"]["node"] for row in rows),
        "sums": [of_side(given, played) for played in sides],
        "nodes": [
            {
                "node": name,
                "zone": row["zone"],
                "cpu": row["cpu"],
                "pods": [load[name]["pods"] if name in load else 0 for load in loads],
                "used": [load[name]["used"] if name in load else 0 for load in loads],
            }
            for name, row in loads[0].items()
        ],
        "rows": rows,
    }
