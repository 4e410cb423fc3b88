"""NodeLister: the nodes that the era's scheduler knew at all, before any predicate was asked.

It listed nodes that were not cordoned, Ready, not OutOfDisk and not without network; a node without a condition passes.
The taints that say the same today meant nothing then. Source: `getNodeConditionPredicate` and the node lister's field
selector `spec.unschedulable=false`, `plugin/pkg/scheduler/factory`, Kubernetes 1.2.
"""

from __future__ import annotations

from typing import ClassVar, Final

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "NodeLister"

UNLISTED: Final = ("", "Unschedulable", "NotReady", "OutOfDisk", "NetworkUnavailable")
"""Why a node is not listed; the first that applies."""

_WANTED: Final = {"Ready": ("True", 2), "OutOfDisk": ("False", 3), "NetworkUnavailable": ("False", 4)}
"""Condition → the status that it must have, and the index of the reason if it has another."""


def _why_unlisted(info: NodeInfo) -> int:
    """Return an index into `UNLISTED`, 0 for a node that is listed."""
    node = info.node
    if node is None:
        return 2
    if node.spec.unschedulable:
        return 1
    for condition in node.status.conditions:
        wanted = _WANTED.get(condition.type)
        if wanted is not None and condition.status != wanted[0]:
            return wanted[1]
    return 0


class NodeLister:
    """Filter on what the node says of itself."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that the era would not have listed."""
        keys = snapshot.node_column(NAME, _why_unlisted)[rows].copy()
        codes = (keys > 0).astype("int8") * int(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        return Verdicts(codes.astype("int8"), keys, lambda key: (UNLISTED[key],))
