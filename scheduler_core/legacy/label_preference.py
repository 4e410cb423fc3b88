"""NodeLabelPriority: 10 for nodes that have the label (or lack it), 0 for the others.

What a Policy's `argument: {labelPreference: {label, presence}}` makes. Source: `NodeLabelPrioritizer`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import NO_VALUE, Ints, Rows, Snapshot

NAME: Final = "NodeLabelPriority"


class NodeLabelPriority:
    """Score on the key of a label."""

    name: ClassVar[str] = NAME
    score_reads: ClassVar[Reads] = Reads.NODE

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Take the `label` and whether its `presence` is wanted."""
        self._label: str = arguments["label"]
        self._presence = bool(arguments.get("presence"))

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return 10 or 0."""
        has = snapshot.topology(self._label)[rows] != NO_VALUE
        return np.where(has == self._presence, SCORE_MAX, 0).astype(np.int64)
