"""What of an object changed, as cluster events: the questions that queueing hints are asked."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.requests import resized
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource
from scheduler_core.snapshot.node_info import PodInfo


@lru_cache(maxsize=256)
def _event(resource: EventResource, action: ActionType) -> ClusterEvent:
    return ClusterEvent(resource, action)


def pod_changes(old: PodInfo, new: PodInfo) -> tuple[ClusterEvent, ...]:
    """Return the events of an updated pod; one that changed in no way that scheduling knows is `UPDATE_OTHER`.

    Source: PodSchedulingPropertiesChange, kube-scheduler.
    """
    resource = EventResource.ASSIGNED_POD if new.pod.spec.node_name else EventResource.UNSCHEDULED_POD
    before, after = old.pod, new.pod
    actions: list[ActionType] = []
    if before.metadata.labels != after.metadata.labels:
        actions.append(ActionType.UPDATE_POD_LABEL)
    changed = before.spec is not after.spec and before.spec != after.spec
    if (changed or _is_resized(before, after)) and _scaled_down(old, new):
        actions.append(ActionType.UPDATE_POD_SCALE_DOWN)
    if changed:
        if before.spec.scheduling_gates and not after.spec.scheduling_gates:
            actions.append(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        # Tolerations are only ever added, so that upstream counts them.
        if len(before.spec.tolerations) != len(after.spec.tolerations):
            actions.append(ActionType.UPDATE_POD_TOLERATIONS)
    if before.status.resource_claim_statuses != after.status.resource_claim_statuses:
        actions.append(ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return tuple(_event(resource, action) for action in actions or (ActionType.UPDATE_OTHER,))


def is_changed(old: PodInfo, new: PodInfo) -> bool:
    """Return whether anything of a pod but its status has changed (isPodUpdated, kube-scheduler 1.18)."""
    before, after = (replace(one.pod.metadata, resource_version="") for one in (old, new))
    return before != after or old.pod.spec != new.pod.spec


def _is_resized(before: Pod, after: Pod) -> bool:
    """Return whether what the containers were given has changed, or whether more can be given."""
    return resized(before) != resized(after) or before.is_resize_infeasible != after.is_resize_infeasible


def _scaled_down(old: PodInfo, new: PodInfo) -> bool:
    # A request that is gone is less than one of 0.
    return any(number > new.requests.get(resource, -1) for resource, number in old.requests.items())


def node_changes(old: Node, new: Node) -> tuple[ClusterEvent, ...]:
    """Return the events of an updated node; none when nothing changed that scheduling knows (a heartbeat).

    Source: NodeSchedulingPropertiesChange, kube-scheduler.
    """
    actions: list[ActionType] = []
    uncordoned = old.spec.unschedulable and not new.spec.unschedulable
    if uncordoned or old.spec.taints != new.spec.taints:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if old.status.allocatable != new.status.allocatable:
        actions.append(ActionType.UPDATE_NODE_ALLOCATABLE)
    if old.metadata.labels != new.metadata.labels:
        actions.append(ActionType.UPDATE_NODE_LABEL)
    if _conditions(old) != _conditions(new):
        actions.append(ActionType.UPDATE_NODE_CONDITION)
    if old.metadata.annotations != new.metadata.annotations:
        actions.append(ActionType.UPDATE_NODE_ANNOTATION)
    return tuple(_event(EventResource.NODE, action) for action in actions)


def _conditions(node: Node) -> list[tuple[str, str]]:
    return [(condition.type, condition.status) for condition in node.status.conditions]
