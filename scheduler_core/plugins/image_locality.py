"""ImageLocality: nodes that hold the pod's images already are liked, large and widespread images more."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import MAX_NODE_SCORE, Reads
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "ImageLocality"

_MEBIBYTE: Final = 1024 * 1024

SIZE_BYTES_MIN: Final = 23 * _MEBIBYTE
"""Bytes of images present, weighted by spread, that count as nothing: small images are quickly pulled."""

SIZE_BYTES_MAX: Final = 1000 * _MEBIBYTE
"""Bytes a container that earn the full score; more is no better."""


def normalized_name(image: str) -> str:
    """Return the image's name with a tag: `:latest` where it has none."""
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"


def _size_on(image: str, info: NodeInfo) -> int:
    """Return the bytes that the node reports for the image, -1 when it lacks it."""
    for held in info.node.status.images if info.node is not None else ():
        if image in held.names:
            return held.size_bytes
    return -1


def _arrival(info: NodeInfo) -> int:
    return info.arrival


class ImageLocality:
    """Score on images present; the spread depends on all nodes."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.ALL_NODES
    score_ranged: ClassVar[bool] = True

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the images, container by container."""
        spec = pod.pod.spec
        return tuple(one.image for one in (*spec.init_containers, *spec.containers))

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…100 from Σ size × share of nodes that have the image, over all containers."""
        spec = pod.pod.spec
        containers = (*spec.init_containers, *spec.containers)
        total = np.zeros(snapshot.count(rows), dtype=np.int64)
        for container in containers:
            image = normalized_name(container.image)
            sizes = snapshot.node_column((NAME, image), partial(_size_on, image))
            present = sizes >= 0
            holders = int(np.count_nonzero(present))
            if holders:
                # One image has one size: the word of the node that came first counts, as in upstream's cache.
                arrival = snapshot.node_column((NAME, "arrival"), _arrival)
                holding = np.flatnonzero(present)
                size = int(sizes[holding[np.argmin(arrival[holding])]])
                total += present[rows] * np.int64(size * (holders / len(snapshot)))
        limit = SIZE_BYTES_MAX * max(len(containers), 1)
        clipped = np.clip(total, SIZE_BYTES_MIN, limit)
        return MAX_NODE_SCORE * (clipped - SIZE_BYTES_MIN) // (limit - SIZE_BYTES_MIN)
