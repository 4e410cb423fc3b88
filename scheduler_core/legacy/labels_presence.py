"""CheckNodeLabelPresence: the node has all of the labels, or none of them, whatever their values.

What a Policy's `argument: {labelsPresence: {labels, presence}}` makes. Source: `NodeLabelChecker`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, Reads
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import NO_VALUE, Rows, Snapshot

NAME: Final = "CheckNodeLabelPresence"


class CheckNodeLabelPresence:
    """Filter on keys of labels."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Take `labels` and whether their `presence` is wanted."""
        self._labels: tuple[str, ...] = tuple(arguments["labels"])
        self._presence = bool(arguments.get("presence"))

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that lack a wanted label, or have an unwanted one."""
        failed = np.zeros(snapshot.count(rows), dtype=np.bool_)
        for label in self._labels:
            failed |= (snapshot.topology(label)[rows] != NO_VALUE) != self._presence
        return single_reason(failed, Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each label that is missing or unwanted: what the policy asks of every node."""
        labels = snapshot.infos[row].labels
        operator = "Exists" if self._presence else "DoesNotExist"
        where = {"kind": "label", "source": "policy", "term": 0, "operator": operator, "values": []}
        return [
            {**where, "key": label, "value": labels.get(label)}
            for label in self._labels
            if (label in labels) is not self._presence
        ]
