"""Reuse between pods of one shape: answers are kept, and only rows touched since are asked about again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.interface import Reads
from scheduler_core.framework.status import Status
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Ints, Rows, Snapshot

SHAPES_MAX: Final = 128
"""Answers remembered per framework (Filter's and Score's of 64 shapes); past it the one used longest ago is
forgotten and later recomputed in full."""

# Looking a member up on the class is slow, and these are asked for every plugin and pod.
_NODE: Final = Reads.NODE
_NODE_AND_PODS: Final = Reads.NODE_AND_PODS
_ALL_NODES: Final = Reads.ALL_NODES


_NO_ROWS: Final = np.zeros(0, dtype=np.intp)


@dataclass(slots=True)
class Touched:
    """Rows that changed since answers were last level."""

    node: NDArray[np.intp]
    """Rows whose Node object changed."""
    any: NDArray[np.intp]
    """Those, and rows whose pods changed."""

    def rows_for(self, reads: Reads) -> Rows:
        """Return the rows about which a plugin must be asked again."""
        if reads is _NODE:
            return self.node
        if reads is _NODE_AND_PODS:
            return self.any
        if reads is _ALL_NODES and not len(self.node):
            return self.node
        return ALL_ROWS


@dataclass(slots=True)
class Mark:
    """A position in a snapshot's change log."""

    epoch: int = -1
    node: int = 0
    pod: int = 0

    def advance(self, snapshot: Snapshot) -> Touched | None:
        """Move to the log's end and return what was touched in between; None: everything is to be recomputed."""
        node_log, pod_log = snapshot.node_log, snapshot.pod_log
        known = self.epoch == snapshot.epoch
        touched = None
        if known:
            node_rows, pod_rows = set(node_log[self.node :]), pod_log[self.pod :]
            rows = node_rows.union(pod_rows)
            if not node_rows and len(pod_rows) == 1:
                # Most often all that has happened is the pod before.
                touched = Touched(_NO_ROWS, np.array(pod_rows, dtype=np.intp))
            elif len(rows) * 2 <= len(snapshot):
                node = np.array(sorted(node_rows), dtype=np.intp) if node_rows else _NO_ROWS
                touched = Touched(node, np.array(sorted(rows), dtype=np.intp))
        self.epoch, self.node, self.pod = snapshot.epoch, len(node_log), len(pod_log)
        return touched

    def is_level(self, snapshot: Snapshot) -> bool:
        """Return whether nothing was touched since."""
        here = (self.epoch, self.node, self.pod)
        return here == (snapshot.epoch, len(snapshot.node_log), len(snapshot.pod_log))

    def forget(self) -> None:
        """Make the next `advance` recompute everything."""
        self.epoch = -1


@dataclass(slots=True)
class ShapeMemory:
    """Answers for one shape on one snapshot.

    Attributes:
        verdicts: filter → its verdicts for all rows.
        first: (N,) int8, first failing filter per row; see `FilterOutcome.first`.
        raw: score plugin → raw scores of all rows.
        base: (N,) int64, weighted sum of the plugins that have no normalisation.
        even: score plugin whose raw scores are all 0 → what that adds to every total.
        nominated: row → (the nominated pods that were added, the verdict with them); see `Filtering`.
    """

    snapshot: Snapshot
    filter_mark: Mark = field(default_factory=Mark)
    score_mark: Mark = field(default_factory=Mark)
    verdicts: dict[str, Verdicts] = field(default_factory=dict)
    first: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    raw: dict[str, Ints] = field(default_factory=dict)
    base: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    even: dict[str, int] = field(default_factory=dict)
    nominated: dict[int, tuple[tuple[PodInfo, ...], Status]] = field(default_factory=dict)


class Reuse:
    """The remembered shapes, least recently used first."""

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self._memories: OrderedDict[tuple[bytes, Hashable], ShapeMemory] = OrderedDict()

    def memory(self, shape: bytes, question: Hashable, snapshot: Snapshot) -> ShapeMemory:
        """Return the memory for a shape; a fresh one when there is none for this snapshot, or reuse is off.

        Args:
            shape: `PodInfo.shape`.
            question: what else tells answers apart: the extension point and the plugins left out.
            snapshot: the nodes.
        """
        if not self.enabled:
            return ShapeMemory(snapshot)
        key = (shape, question)
        found = self._memories.get(key)
        if found is None or found.snapshot is not snapshot:
            found = self._memories[key] = ShapeMemory(snapshot)
            if len(self._memories) > SHAPES_MAX:
                self._memories.popitem(last=False)
        self._memories.move_to_end(key)
        return found

    def known(self, shape: bytes, question: Hashable, snapshot: Snapshot) -> ShapeMemory | None:
        """Return the memory for a shape on this snapshot, None when there is none."""
        found = self._memories.get((shape, question))
        return found if found is not None and found.snapshot is snapshot else None

    def forget(self, shape: bytes) -> None:
        """Drop what is remembered of a shape: an error left it half level."""
        for key in [key for key in self._memories if key[0] == shape]:
            del self._memories[key]
