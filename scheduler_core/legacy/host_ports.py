"""PodFitsHostPorts: a host port has one owner on a node.

Only the number counts, as the seed's map of numbers has it: neither protocol nor address makes two equal ports
different, where today's NodePorts lets TCP and UDP, or two addresses, have one each. Container ports do not count.
Source: `PodFitsHostPorts`, `getUsedPorts`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

NAME: Final = "PodFitsHostPorts"


def _takers(port: int, info: NodeInfo) -> int:
    """Return how many pods of the node take the port."""
    return sum(1 for pod in info.pods if any(number == port for _, _, number in pod.host_ports))


class PodFitsHostPorts:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_PODS

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod that wants no host port."""
        return None, SUCCESS if pod.host_ports else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes where a pod has a port that this one wants."""
        failed = np.zeros(snapshot.count(rows), dtype=np.bool_)
        for port in sorted({number for _, _, number in pod.host_ports}):
            failed |= snapshot.pod_column((NAME, port), partial(_takers, port))[rows] > 0
        return single_reason(failed, Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each wanted number that is taken, and its holder: protocol and address made no difference."""
        return [
            {"kind": "port", "protocol": protocol, "ip": ip, "port": port, "holder": holder.key}
            for protocol, ip, port in pod.host_ports
            for holder in snapshot.infos[row].pods
            if any(port == number for _, _, number in holder.host_ports)
        ]
