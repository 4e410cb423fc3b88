"""ImageLocalityPriority: nodes that hold the pod's images already, by their size.

Sizes of the images present are added up over the containers: under 23 MB the node gets 0, from 1000 MB on 10, and
between `10 · (sum − 23 MB) / (1000 MB − 23 MB) + 1` in whole numbers (1 MB = 2^20 bytes). The text gives no bounds:
they are upstream's. An image counts under the very name that the container uses, where today `:latest` is filled in
and sizes are weighted by how many nodes have the image. Source: `ImageLocalityPriority`, `calculateScoreFromSize`,
Kubernetes 1.2.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "ImageLocalityPriority"

_MEBIBYTE: Final = 1024 * 1024

SIZE_BYTES_MIN: Final = 23 * _MEBIBYTE
"""Bytes of images present below which a node gets nothing: they are pulled quickly."""

SIZE_BYTES_MAX: Final = 1000 * _MEBIBYTE
"""Bytes of images present from which on a node gets the full score."""


def _size_on(image: str, info: NodeInfo) -> int:
    """Return the bytes of the image on the node, 0 where it is missing."""
    images = info.node.status.images if info.node is not None else ()
    return next((held.size_bytes for held in images if image in held.names), 0)


class ImageLocalityPriority:
    """Score on images present."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.NODE

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 0…10."""
        total = np.zeros(snapshot.count(rows), dtype=np.int64)
        for container in pod.pod.spec.containers:
            total += snapshot.node_column((NAME, container.image), partial(_size_on, container.image))[rows]
        between = SCORE_MAX * (total - SIZE_BYTES_MIN) // (SIZE_BYTES_MAX - SIZE_BYTES_MIN) + 1
        return np.where(total < SIZE_BYTES_MIN, 0, np.where(total >= SIZE_BYTES_MAX, SCORE_MAX, between))
