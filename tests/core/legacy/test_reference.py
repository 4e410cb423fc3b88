"""Priorities over columns against the same formulas written out node by node."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_core.legacy.balanced_allocation import fraction
from scheduler_core.legacy.image_locality import SIZE_BYTES_MAX, SIZE_BYTES_MIN
from scheduler_core.legacy.least_requested import unused
from scheduler_core.legacy.selector_spread import spread_scores
from tests.core.legacy.asking import priority
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import scored

MEBI = 1024 * 1024
AMOUNTS = st.integers(0, 2**57)
SIZES = st.tuples(st.integers(0, 8000), st.integers(0, 16 * 1024))
"""(millicores, mebibytes)"""

LEAST, BALANCED, IMAGES = (
    priority(name) for name in ("LeastRequestedPriority", "BalancedResourceAllocation", "ImageLocalityPriority")
)


def least_of(requested: int, capacity: int) -> int:
    if capacity == 0 or requested > capacity:
        return 0
    return (capacity - requested) * 10 // capacity


def balanced_of(cpu: tuple[int, int], memory: tuple[int, int]) -> int:
    shares = [1.0 if capacity == 0 else float(requested) / float(capacity) for requested, capacity in (cpu, memory)]
    return 0 if max(shares) >= 1 else int(10 - abs(shares[0] - shares[1]) * 10)


def spread_of(counts: list[int], zones: list[int]) -> list[int]:
    def free(count: int, most: int) -> np.float32:
        return np.float32(10) * (np.float32(most - count) / np.float32(most)) if most else np.float32(10)

    by_zone: dict[int, int] = {}
    for count, zone in zip(counts, zones, strict=True):
        if zone:
            by_zone[zone] = by_zone.get(zone, 0) + count
    scores: list[int] = []
    for count, zone in zip(counts, zones, strict=True):
        score = free(count, max(counts))
        if zone:
            score = score * np.float32(1 / 3) + np.float32(2 / 3) * free(by_zone[zone], max(by_zone.values()))
        scores.append(int(score))
    return scores


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=1, max_size=8))
@example([(2**57 - 1, 2**55 + 3)])
def test_unused_tenths(pairs: list[tuple[int, int]]) -> None:
    requested, capacity = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    assert unused(requested, capacity).tolist() == [least_of(*pair) for pair in pairs]
    assert fraction(requested, capacity).tolist() == [
        1.0 if not of else float(asked) / float(of) for asked, of in pairs
    ]


@given(SIZES, st.lists(SIZES, max_size=3), st.lists(SIZES, min_size=1, max_size=4))
def test_resources(asked: tuple[int, int], held: list[tuple[int, int]], sizes: list[tuple[int, int]]) -> None:
    def requests(size: tuple[int, int]) -> dict[str, str]:
        return {"cpu": f"{size[0]}m", "memory": f"{size[1]}Mi"}

    one = pod("p", requests=requests(asked))
    others = [pod(f"o{number}", requests=requests(size)) for number, size in enumerate(held)]
    nodes = [info(node(f"n{number}", allocatable=requests(size)), *others) for number, size in enumerate(sizes)]
    cpu = asked[0] + sum(size[0] for size in held)
    memory = (asked[1] + sum(size[1] for size in held)) * MEBI
    assert scored(LEAST, one, *nodes) == [
        (least_of(cpu, size[0]) + least_of(memory, size[1] * MEBI)) // 2 for size in sizes
    ]
    assert scored(BALANCED, one, *nodes) == [balanced_of((cpu, size[0]), (memory, size[1] * MEBI)) for size in sizes]


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 4)), min_size=1, max_size=30))
def test_spreading(nodes: list[tuple[int, int]]) -> None:
    counts, zones = (list(column) for column in zip(*nodes, strict=True))
    assert spread_scores(np.array(counts), np.array(zones)).tolist() == spread_of(counts, zones)


@given(st.lists(st.integers(0, 2 * SIZE_BYTES_MAX), min_size=1, max_size=5))
def test_images(sizes: list[int]) -> None:
    nodes = [
        info(node(f"n{number}", images=[{"names": ["i:1"], "sizeBytes": size}])) for number, size in enumerate(sizes)
    ]

    def score(size: int) -> int:
        if size < SIZE_BYTES_MIN:
            return 0
        return 10 if size >= SIZE_BYTES_MAX else 10 * (size - SIZE_BYTES_MIN) // (SIZE_BYTES_MAX - SIZE_BYTES_MIN) + 1

    assert scored(IMAGES, pod(), *nodes) == [score(size) for size in sizes]
