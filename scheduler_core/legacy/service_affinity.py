"""CheckServiceAffinity: pods of one Service go where the labels have the same values.

What a Policy's `argument: {serviceAffinity: {labels}}` makes. The value of a label that the pod's own `nodeSelector`
names counts first; for the others, that of the node which the Service's first placed pod is on (upstream took any pod;
here the first in order of nodes). A label that neither says is free. Source: `ServiceAffinity`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from scheduler_core.api.selectors import Requirement
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.legacy.service_pods import service_rows
from scheduler_core.snapshot.label_columns import LabelColumns
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.required_affinity import Required
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "CheckServiceAffinity"


class CheckServiceAffinity:
    """Filter on labels that the Service's pods share."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take `labels`."""
        self._labels: tuple[str, ...] = tuple(arguments["labels"])
        self._listers = handle.listers
        self._columns = LabelColumns()

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes with other values."""
        wanted = self._wanted(pod, snapshot)
        required = tuple(Requirement(key, "In", frozenset((value,))) for key, value in sorted(wanted.items()))
        held = self._columns.required_holds(Required(required, None), snapshot, rows)
        return single_reason(~held, Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each label that is not as the Service's first pod, or the pod's own selector, has it."""
        labels = snapshot.infos[row].labels
        where = {"kind": "label", "source": "service", "term": 0, "operator": "In"}
        return [
            {**where, "key": key, "values": [value], "value": labels.get(key)}
            for key, value in sorted(self._wanted(pod, snapshot).items())
            if labels.get(key) != value
        ]

    def _wanted(self, pod: PodInfo, snapshot: Snapshot) -> dict[str, str]:
        """Return the labels that a node must have: the pod's own wishes, else those of its Service's first pod."""
        selector = pod.pod.spec.node_selector
        wanted = {label: selector[label] for label in self._labels if label in selector}
        if len(wanted) < len(self._labels):
            peers = service_rows(pod.pod, self._listers, snapshot)
            there = snapshot.infos[peers[0]].labels if peers else {}
            wanted = {label: there[label] for label in self._labels if label in there} | wanted
        return wanted
