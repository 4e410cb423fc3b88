"""What the two resource score plugins share: which amounts of which resources they compare."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from scheduler_core.api.quantity import int64
from scheduler_core.api.requests import is_scalar
from scheduler_core.kernels.resources import PLAIN_MAX
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import CPU, MEMORY, Ints, Rows, Snapshot


@dataclass(frozen=True, slots=True)
class ResourceWeight:
    """One resource that counts, and how much."""

    name: str
    weight: int = 1


_PLAIN: Final = ("cpu", "memory", "ephemeral-storage")

_SCORED: Final = {"cpu": CPU, "memory": MEMORY}
"""Rows of `Snapshot.non_zero`, by resource."""

CPU_AND_MEMORY: Final = (ResourceWeight("cpu"), ResourceWeight("memory"))


def resource_weights(written: Sequence[Mapping[str, Any]] | None) -> tuple[ResourceWeight, ...]:
    """Return the resources of plugin arguments, cpu and memory where none are given; weight 0 means 1."""
    if not written:
        return CPU_AND_MEMORY
    return tuple(ResourceWeight(str(one["name"]), int(one.get("weight") or 1)) for one in written)


def pod_amounts(pod: PodInfo, resources: Sequence[ResourceWeight], *, real: bool) -> tuple[int, ...]:
    """Return what the pod asks of each resource; without `real`, with the scoring defaults for cpu and memory."""
    sums = pod.sums
    if resources is CPU_AND_MEMORY:
        return sums.pair if real else sums.scored_pair
    asked = sums.requests if real else sums.scoring_requests
    return tuple(asked.get(one.name, 0) for one in resources)


def are_plain(snapshot: Snapshot, resources: Sequence[ResourceWeight], asked: Sequence[int]) -> bool:
    """Return whether every node has some of each resource, and all amounts are such that plain arithmetic is exact."""
    for amount in asked:
        if not 0 <= amount <= PLAIN_MAX:
            return False
    # Asked last: reading sizes is what makes the columns of a dry run.
    # Keys by value take longer than the rest, and nearly every profile compares the same two.
    key: Hashable = "plain" if resources is CPU_AND_MEMORY else ("plain", tuple(resources))
    return snapshot.of_nodes(key, partial(_are_sizes_plain, snapshot, resources)) and snapshot.is_ordinary


def _are_sizes_plain(snapshot: Snapshot, resources: Sequence[ResourceWeight]) -> bool:
    for one in resources:
        if one.name not in _PLAIN:
            return False
        low, high = snapshot.sizes_of(one.name)
        if low <= 0 or high > PLAIN_MAX:
            return False
    return True


FEW_ROWS_MAX: Final = 4
"""Rows up to which plain integers are faster than arrays."""


def few(rows: Rows) -> Sequence[int] | None:
    """Return the rows when they are so few that plain integers are faster, else None."""
    return None if isinstance(rows, slice) or len(rows) > FEW_ROWS_MAX else rows.tolist()


def compared_one(
    info: NodeInfo, resources: Sequence[ResourceWeight], asked: Sequence[int], *, real: bool
) -> list[tuple[int, int]]:
    """Return `compared` of one node: per resource (what would be requested, what is allocatable)."""
    pairs: list[tuple[int, int]] = []
    if resources is CPU_AND_MEMORY:
        # What nearly every profile compares.
        cpu, memory = asked
        sizes = info.allocatable
        if real:
            taken = info.requested
            return [
                (int64(taken.get("cpu", 0) + cpu), sizes.get("cpu", 0)),
                (int64(taken.get("memory", 0) + memory), sizes.get("memory", 0)),
            ]
        return [
            (int64(info.non_zero_cpu + cpu), sizes.get("cpu", 0)),
            (int64(info.non_zero_memory + memory), sizes.get("memory", 0)),
        ]
    for resource, amount in zip(resources, asked, strict=True):
        name = resource.name
        size = info.allocatable.get(name, 0)
        if name == "cpu" and not real:
            pairs.append((int64(info.non_zero_cpu + amount), size))
        elif name == "memory" and not real:
            pairs.append((int64(info.non_zero_memory + amount), size))
        elif name in _PLAIN:
            pairs.append((int64(info.requested.get(name, 0) + amount), size))
        elif size == 0 or amount == 0 or not is_scalar(name):
            pairs.append((0, 0))
        else:
            pairs.append((int64(info.requested.get(name, 0) + amount), size))
    return pairs


def compared(
    snapshot: Snapshot, rows: Rows, resources: Sequence[ResourceWeight], asked: Sequence[int], *, real: bool
) -> tuple[list[Ints], list[Ints]]:
    """Return per resource (K,) what would be requested with the pod, and (K,) what is allocatable.

    An extended resource that the pod does not ask for, or that a node lacks, counts as 0 of 0.
    """
    requested: list[Ints] = []
    capacity: list[Ints] = []
    for resource, amount in zip(resources, asked, strict=True):
        name = resource.name
        if name in _PLAIN:
            size = snapshot.allocatable_of(name, rows)
            column = _SCORED.get(name)
            if real or column is None:
                requested.append(snapshot.requested_of(name, rows) + amount)
            else:
                requested.append(snapshot.non_zero[column][rows] + amount)
        elif is_scalar(name):
            size = snapshot.allocatable_of(name, rows)
            if amount == 0:
                size = np.zeros_like(size)
            requested.append(np.where(size == 0, 0, snapshot.requested_of(name, rows) + amount))
        else:
            size = np.zeros(snapshot.count(rows), dtype=np.int64)
            requested.append(size)
        capacity.append(size)
    return requested, capacity
