"""ManualApproval: pods wait at Permit until somebody allows them.

Kubernetes has no such plugin; there, Permit is used by plugins that gather the pods of a group. This one makes the
point visible: whoever may command the session allows or rejects the pod, and the plugin's time is up if nobody does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector, Selector, read_selector, selects
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.snapshot.node_info import PodInfo

NAME: Final = "ManualApproval"

TIMEOUT_SECONDS_DEFAULT: Final = 60
"""How long a pod is held where the arguments do not say."""

_POD_CHANGED: Final = ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_SCALE_DOWN | ActionType.UPDATE_POD_TOLERATIONS


class ManualApproval:
    """Permit: hold the pods of some namespaces that a selector selects; without either, all of them."""

    name: ClassVar[str] = NAME

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Read the arguments: `timeoutSeconds`, `namespaces`, `podSelector`.

        Raises:
            ValueError: the selector cannot be read.
        """
        self._timeout_ms = int(arguments.get("timeoutSeconds", TIMEOUT_SECONDS_DEFAULT)) * 1000
        self._namespaces = frozenset(arguments.get("namespaces") or ())
        written = arguments.get("podSelector")
        # An absent selector holds every pod, as an empty one does.
        self._selector: Selector = () if written is None else read_selector(view(written, LabelSelector))

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:
        """Return Wait and for how many milliseconds, or success for pods that need no approval."""
        if self._namespaces and pod.pod.namespace not in self._namespaces:
            return SUCCESS, 0
        if not selects(self._selector, pod.pod.metadata.labels):
            return SUCCESS, 0
        return Status(Code.WAIT), self._timeout_ms

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return changes of the pod's labels and spec: nothing else in the cluster makes a person think again."""
        return (EventRegistration(ClusterEvent(EventResource.UNSCHEDULED_POD, _POD_CHANGED)),)
