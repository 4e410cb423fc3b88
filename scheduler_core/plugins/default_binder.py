"""DefaultBinder: writes the chosen node through the pod's `binding` subresource."""

from __future__ import annotations

from typing import ClassVar, Final

from scheduler_core.framework.asks import BindPod
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Steps
from scheduler_core.framework.status import SUCCESS, error
from scheduler_core.snapshot.node_info import PodInfo

NAME: Final = "DefaultBinder"


class DefaultBinder:
    """Bind through the loop."""

    name: ClassVar[str] = NAME

    def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Steps:
        """Ask for the binding; an error is what the API answered."""
        reply = yield BindPod(pod.pod.namespace, pod.pod.name, pod.uid, node_name)
        return error(reply.error) if reply.error else SUCCESS
