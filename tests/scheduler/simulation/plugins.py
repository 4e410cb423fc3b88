"""Plugins whose answers the simulator decides: Permit and Reserve."""

from __future__ import annotations

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SUCCESS, Code, Status, error, unschedulable
from scheduler_core.snapshot.node_info import PodInfo

HOLD_MS = 3_000
"""How long Permit may hold a pod."""


class Mood:
    """Permit: says in each cycle what the simulator has put down for it."""

    name = "Mood"

    def __init__(self) -> None:
        self.says = Code.SUCCESS

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:
        match self.says:
            case Code.WAIT:
                return Status(Code.WAIT), HOLD_MS
            case Code.UNSCHEDULABLE:
                return unschedulable("not in the mood"), 0
            case Code.ERROR:
                return error("no answer"), 0
        return SUCCESS, 0


class Ledger:
    """Reserve: keeps what it gave; every reservation must be given back, or end with the binding."""

    name = "Ledger"

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.refuses = False

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        assert pod.uid not in self.held, f"{pod.key} is reserved twice"
        if self.refuses:
            return unschedulable("nothing left")
        self.held[pod.uid] = node_name
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        self.held.pop(pod.uid, None)

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        del self.held[pod.uid]
