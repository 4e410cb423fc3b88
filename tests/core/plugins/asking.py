"""Asks one plugin about one node, or several."""

from __future__ import annotations

from typing import Any

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.node_info import NodeInfo, PodInfo
from scheduler_core.framework.snapshot import ALL_ROWS, Snapshot
from scheduler_core.framework.status import Status


def filtered(plugin: Any, one: PodInfo, *nodes: NodeInfo) -> list[Status]:
    """Return the filter's verdict on each node, after its PreFilter."""
    state, snapshot = CycleState(), Snapshot(nodes)
    if hasattr(plugin, "pre_filter"):
        plugin.pre_filter(state, one, snapshot)
    verdicts = plugin.filter(state, one, snapshot, ALL_ROWS)
    return [verdicts.status(row) for row in range(len(nodes))]


def scored(plugin: Any, one: PodInfo, *nodes: NodeInfo) -> list[int]:
    """Return the normalised score of each node, after PreScore; an empty list when that skips."""
    state, snapshot = CycleState(), Snapshot(nodes)
    if hasattr(plugin, "pre_score") and plugin.pre_score(state, one, snapshot, ALL_ROWS).skipped:
        return []
    scores = plugin.score(state, one, snapshot, ALL_ROWS)
    if hasattr(plugin, "normalize"):
        scores = plugin.normalize(state, one, scores)
    found: list[int] = scores.tolist()
    return found


def hint(plugin: Any, one: PodInfo, number: int, old: Any, new: Any) -> str:
    """Return what the plugin's number-th registration says of a change."""
    said: str = plugin.events_to_register()[number].ask(one, old, new).value
    return said
