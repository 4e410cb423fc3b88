"""Nodes that might be added: like one that is there, or also with what the pod asks for that this one lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from controllers.whatif import devices
from controllers.whatif.wishes import (
    AFFINITY,
    CORDON,
    CPU,
    CROWDED,
    HOSTNAME,
    OF_CONDITIONS,
    RESOURCES,
    TAINTS,
    Change,
    Stuck,
    Wish,
    labels_wanted,
    listed,
    taint_written,
    taints_named,
    untolerated,
    written,
)
from scheduler_core.api.node import Node, Taint
from scheduler_core.snapshot.node_info import NodeInfo

MENDED: Final = CROWDED | {CORDON, AFFINITY, TAINTS}
"""Plugins whose refusal a node of its own may end, with the labels, the size and without the taints that it takes."""


def like(stuck: Stuck) -> Iterator[Wish]:
    """Add a node like one that is there; the largest of those that the fewest plugins refuse first."""
    name = _free_name(stuck)
    for info in stuck.nodes.values():
        if info.node is None:
            continue
        reached = devices.reached(stuck, info, name)
        helpless = len(stuck.refusals[info.name] - CROWDED - {CORDON} - ({devices.DEVICES} if reached else set()))
        told = {"en": f"add a node like {info.name}", "zh": f"再加一个与 {info.name} 一样的节点"}
        if reached:
            told = {"en": f"{told['en']}, with its devices", "zh": f"{told['zh']}，连同它的设备"}
        yield Wish([_added(info, info.node, name), *reached], told, (helpless, *_largest(info)))


def made(stuck: Stuck) -> Iterator[Wish]:
    """Add a node like one that is there, but with what the pod asks for and it lacks; where it lacks least first."""
    name = _free_name(stuck)
    for info in stuck.nodes.values():
        refusals = stuck.refusals[info.name]
        if info.node is None or not refusals <= MENDED:
            continue
        labels = labels_wanted(stuck, info.node) if AFFINITY in refusals else {}
        if labels is None or HOSTNAME in labels:
            continue
        unwanted = untolerated(stuck, info.node) if TAINTS in refusals else set()
        amounts = _beyond(stuck, info) if RESOURCES in refusals else {}
        parts = len(labels) + len(unwanted) + len(amounts)
        if parts:
            document = _added(info, info.node, name, labels, unwanted, amounts)
            yield Wish([document], _told(info.name, labels, unwanted, amounts), (parts, *_largest(info)))


def _beyond(stuck: Stuck, info: NodeInfo) -> dict[str, int]:
    """Return of which resources the pod asks for more than a node has in all, and how much."""
    asked = stuck.pod.sums.asked
    short = stuck.short_of(info.name)
    return {one: asked[one] for one in short if one in asked and asked[one] > info.allocatable.get(one, 0)}


def _told(
    like_name: str, labels: Mapping[str, str | None], unwanted: Collection[Taint], amounts: Mapping[str, int]
) -> dict[str, str]:
    has = [f"{key}={value}" for key, value in sorted(labels.items()) if value is not None]
    has += [listed(amounts)] if amounts else []
    lacks = [f"{key}-" for key, value in sorted(labels.items()) if value is None]
    lacks += [taints_named(unwanted)] if unwanted else []
    english = [f"with {', '.join(has)}"] * bool(has) + [f"without {', '.join(lacks)}"] * bool(lacks)
    chinese = [f"有 {', '.join(has)}"] * bool(has) + [f"没有 {', '.join(lacks)}"] * bool(lacks)
    return {
        "en": f"add a node like {like_name}, but {' and '.join(english)}",
        "zh": f"再加一个与 {like_name} 相似的节点，但{'、'.join(chinese)}",
    }


def _added(
    info: NodeInfo,
    node: Node,
    name: str,
    labels: Mapping[str, str | None] | None = None,
    without: Collection[Taint] = (),
    amounts: Mapping[str, int] | None = None,
) -> Change:
    """Return what adds a node: its labels, taints and size are another's, but for what is given."""
    known = {**node.metadata.labels, **(labels or {})}
    taints = [
        taint_written(taint)
        for taint in node.spec.taints
        if not taint.key.startswith(OF_CONDITIONS) and taint not in without
    ]
    size = {**node.status.allocatable, **{key: written(key, amount) for key, amount in (amounts or {}).items()}}
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {key: name if key == HOSTNAME else value for key, value in known.items() if value is not None},
        },
        "spec": {"taints": taints} if taints else {},
        "status": {"capacity": size, "allocatable": dict(size)},
    }
    return {"add": document}


def _largest(info: NodeInfo) -> Sequence[Any]:
    return -info.allocatable.get(CPU, 0), -info.allocatable.get("memory", 0), info.name


def _free_name(stuck: Stuck) -> str:
    number = 1
    while f"one-more-{number}" in stuck.nodes:
        number += 1
    return f"one-more-{number}"
