"""Cluster events and queueing hints: what may make an unschedulable pod schedulable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, Flag, auto
from functools import cache
from typing import Any, Final


class ActionType(Flag):
    """What happened to an object, as finely as upstream tells it apart."""

    ADD = auto()
    DELETE = auto()
    UPDATE_NODE_ALLOCATABLE = auto()
    UPDATE_NODE_LABEL = auto()
    UPDATE_NODE_TAINT = auto()
    UPDATE_NODE_CONDITION = auto()
    UPDATE_NODE_ANNOTATION = auto()
    UPDATE_POD_LABEL = auto()
    UPDATE_POD_SCALE_DOWN = auto()
    UPDATE_POD_TOLERATIONS = auto()
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = auto()
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = auto()
    UPDATE_OTHER = auto()
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATIONS
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | UPDATE_OTHER
    )
    ALL = ADD | DELETE | UPDATE


class EventResource(Enum):
    """What kind of object an event is about; what changes most often stands first."""

    ASSIGNED_POD = "AssignedPod"
    """A pod that has a node."""
    UNSCHEDULED_POD = "UnschedulablePod"
    """The waiting pod itself, or another without a node."""
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    STORAGE_CLASS = "StorageClass"
    CSI_NODE = "CSINode"
    CSI_DRIVER = "CSIDriver"
    CSI_STORAGE_CAPACITY = "CSIStorageCapacity"
    VOLUME_ATTACHMENT = "VolumeAttachment"
    RESOURCE_CLAIM = "ResourceClaim"
    RESOURCE_SLICE = "ResourceSlice"
    DEVICE_CLASS = "DeviceClass"
    WILDCARD = "*"


_UPDATES: Final[Mapping[EventResource, ActionType]] = {
    **dict.fromkeys(
        (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD),
        ActionType.UPDATE_POD_LABEL
        | ActionType.UPDATE_POD_SCALE_DOWN
        | ActionType.UPDATE_POD_TOLERATIONS
        | ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | ActionType.UPDATE_OTHER,
    ),
    EventResource.NODE: ActionType.UPDATE_NODE_ALLOCATABLE
    | ActionType.UPDATE_NODE_LABEL
    | ActionType.UPDATE_NODE_TAINT
    | ActionType.UPDATE_NODE_CONDITION
    | ActionType.UPDATE_NODE_ANNOTATION,
}
"""What updates of pods and of nodes are told apart; of any other kind an update is an update."""


@cache
def _name_of(resource: EventResource, action: ActionType) -> str:
    """Return how an event without a label is called; there are few, and each shown queue names many."""
    if resource is EventResource.WILDCARD:
        return str(resource.value)
    updates = _UPDATES.get(resource, ActionType.UPDATE)
    whole = updates if action & updates == updates else ActionType(0)
    apart = action & updates & ~whole if resource in _UPDATES else ActionType(0)
    names = [one.name or "" for one in ActionType if one & (action & ~ActionType.UPDATE | apart)]
    words = ["".join(word.capitalize() for word in name.removeprefix("UPDATE_").split("_")) for name in names]
    return str(resource.value) + "|".join([*words, "Update"] if whole else words)


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """Something that happened: an object's kind and what was done to it."""

    resource: EventResource
    action: ActionType
    label: str = ""
    """Name that traces and metrics show, such as `AssignedPodDelete`."""

    @property
    def name(self) -> str:
        """Return the label, or one made of resource and action."""
        return self.label or _name_of(self.resource, self.action)

    def covers(self, happened: ClusterEvent) -> bool:
        """Return whether a registration for this event wants to hear of `happened`."""
        if self.resource is EventResource.WILDCARD or happened.resource is EventResource.WILDCARD:
            return True
        return self.resource is happened.resource and bool(self.action & happened.action)


class QueueingHint(Enum):
    """Whether an event may help a pod."""

    SKIP = "QueueSkip"
    QUEUE = "Queue"


HintFunction = Callable[[Any, Any, Any], QueueingHint]
"""(pod: PodInfo, old object | None, new object | None) → hint. Objects are PodInfo, Node or, of other kinds, documents.
"""

Hopes = Callable[[Any], ActionType]
"""pod: PodInfo → those of a registration's actions that can help it, whatever the objects."""


def never(pod: Any, old: Any, new: Any) -> QueueingHint:
    """Say that the event helps nobody: it is heard for the sake of pods that a gate holds."""
    return QueueingHint.SKIP


@dataclass(frozen=True, slots=True)
class EventRegistration:
    """One event that a plugin wants to hear of for pods which it turned away; no hint function means: always queue.

    A plugin hears for all pods at once. `hopes` says which of the actions can help one pod (None: each of them): a pod
    that wants to be near others gains nothing by pods that go. It is for who is told what a pod waits for; what wakes
    it, the hint says.
    """

    event: ClusterEvent
    hint: HintFunction | None = None
    hopes: Hopes | None = None

    def hoped(self, pod: Any) -> ActionType:
        """Return the actions that can help a pod."""
        if self.hint is never:
            return ActionType(0)
        return self.event.action if self.hopes is None else self.event.action & self.hopes(pod)

    def ask(self, pod: Any, old: Any, new: Any) -> QueueingHint:
        """Return the hint; a hint function that raises means queue, so that no pod is lost to a bug."""
        if self.hint is None:
            return QueueingHint.QUEUE
        try:
            return self.hint(pod, old, new)
        except Exception:
            return QueueingHint.QUEUE


NODE_ADD: Final = ClusterEvent(EventResource.NODE, ActionType.ADD)
ASSIGNED_POD_DELETE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
WILDCARD_ALL: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")
