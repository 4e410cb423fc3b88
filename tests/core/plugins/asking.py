"""Asks one plugin about one node, or several."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.oracle import CaseListers
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot


def built(name: str, arguments: dict[str, Any] | None = None, **objects: list[dict[str, Any]]) -> Any:
    """Return a plugin of the default profile, in a cluster with these other objects by resource."""
    configuration = replace(default_configuration(), arguments={name: arguments or {}})
    listers = CaseListers({resource.replace("_", "."): documents for resource, documents in objects.items()})
    return Framework(configuration, in_tree_registry(), listers=listers).plugins[name]


def filtered_after_moving(
    plugin: Any, one: PodInfo, nodes: list[NodeInfo], row: int, gone: list[PodInfo], come: list[PodInfo]
) -> Status:
    """Return the verdict of a dry run on one row that takes some pods away and puts others there."""
    state, snapshot = CycleState(), Snapshot(nodes)
    plugin.pre_filter(state, one, snapshot)
    trial, copy = snapshot.what_if([row]), state.clone()
    for moved in gone:
        trial.remove_pod(0, moved.uid)
        assert plugin.remove_pod(copy, one, moved, trial, 0).ok
    for moved in come:
        trial.add_pod(0, moved)
        assert plugin.add_pod(copy, one, moved, trial, 0).ok
    status: Status = plugin.filter(copy, one, trial, ALL_ROWS).status(0)
    return status


def filtered(plugin: Any, one: PodInfo, *nodes: NodeInfo) -> list[Status]:
    """Return the filter's verdict on each node, after its PreFilter; success where that skips."""
    state, snapshot = CycleState(), Snapshot(nodes)
    if hasattr(plugin, "pre_filter") and plugin.pre_filter(state, one, snapshot)[1].skipped:
        return [SUCCESS] * len(nodes)
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
    """Return what the plugin's number-th registration says of a change; what it raises is raised here."""
    registration = plugin.events_to_register()[number]
    return "Queue" if registration.hint is None else str(registration.hint(one, old, new).value)
