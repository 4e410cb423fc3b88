"""NodePorts: two pods on one node cannot have the same host port."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import HostPort, PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.snapshot.traits import HAS_HOST_PORTS

NAME: Final = "NodePorts"

REASON: Final = "node(s) didn't have free ports for the requested pod ports"

_ANY_IP: Final = "0.0.0.0"

_NOT_KEPT: Final = 'reading "PreFilterNodePorts" from cycleState: not found'


def conflicts(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> bool:
    """Return whether a wanted port is taken: same protocol and number, and same address or either of them any."""
    taken = tuple(used)
    return any(
        protocol == other_protocol and port == other_port and (ip == other_ip or _ANY_IP in (ip, other_ip))
        for protocol, ip, port in wanted
        for other_protocol, other_ip, other_port in taken
    )


class NodePorts:
    """Filter on host ports."""

    name: ClassVar[str] = NAME
    idle_without: ClassVar[Mapping[str, int]] = {"preFilter": HAS_HOST_PORTS}
    filter_reads: ClassVar[Reads] = Reads.NODE_AND_SUMS

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod that wants no host port."""
        if not pod.host_ports:
            return None, SKIP
        state.write(NAME, pod.host_ports)
        return None, SUCCESS

    def filter_key(self, pod: PodInfo) -> Hashable:
        """Return the ports that the pod wants."""
        return pod.host_ports

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes where a wanted port is taken."""
        wanted: tuple[HostPort, ...] = state.expect(NAME, _NOT_KEPT)
        infos = snapshot.infos_of(rows)
        failed = np.fromiter(
            (bool(info.host_ports) and conflicts(wanted, info.host_ports) for info in infos),
            dtype=np.bool_,
            count=len(infos),
        )
        return single_reason(failed, Code.UNSCHEDULABLE, REASON)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each wanted port that is taken, and the pod that holds it."""
        return [
            {"kind": "port", "protocol": wanted[0], "ip": wanted[1], "port": wanted[2], "holder": holder.key}
            for wanted in pod.host_ports
            for holder in snapshot.infos[row].pods
            if conflicts((wanted,), holder.host_ports)
        ]

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods that go and give a wanted port back, and new nodes."""
        deleted = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
        added = ClusterEvent(EventResource.NODE, ActionType.ADD)
        return EventRegistration(deleted, _after_pod_deleted), EventRegistration(added)


def _after_pod_deleted(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    frees = old.claims_node and conflicts(pod.host_ports, old.host_ports)
    return QueueingHint.QUEUE if frees else QueueingHint.SKIP
