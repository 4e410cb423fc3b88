"""Which events may help pods that PodTopologySpread turned away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.selectors import selects
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.plugins.pod_topology_spread.constraints import HARD, ConstraintReader, Constraints, any_selects
from scheduler_core.snapshot.node_info import PodInfo


def registrations(reader: ConstraintReader) -> Sequence[EventRegistration]:
    """Return the events, asked with the constraints that the reader finds."""

    def after_pod(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        return _hint(_pod_helps(reader, pod, old, new))

    def after_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        return _hint(_node_helps(reader.of(pod, HARD), old, new))

    def of_others(pod: PodInfo) -> ActionType:
        # What others tolerate counts for nothing; upstream asks for both kinds of pods at once.
        return ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL

    def of_its_own(pod: PodInfo) -> ActionType:
        honors = any(one.honors_taints for one in reader.of(pod, HARD))
        return ActionType.UPDATE_POD_LABEL | (ActionType.UPDATE_POD_TOLERATIONS if honors else ActionType(0))

    pods = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATIONS
    nodes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
    return (
        EventRegistration(ClusterEvent(EventResource.ASSIGNED_POD, pods), after_pod, of_others),
        EventRegistration(ClusterEvent(EventResource.UNSCHEDULED_POD, pods), after_pod, of_its_own),
        EventRegistration(ClusterEvent(EventResource.NODE, nodes), after_node),
    )


def _hint(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _is_concerned(pod: PodInfo, other: PodInfo | None) -> bool:
    if other is None or other.uid == pod.uid:
        return True
    return bool(other.pod.spec.node_name) and other.pod.namespace == pod.pod.namespace


def _pod_helps(reader: ConstraintReader, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    if not (_is_concerned(pod, old) and _is_concerned(pod, new)):
        return False
    constraints = reader.of(pod, HARD)
    if old is None or new is None:
        moved = new or old
        return moved is not None and any_selects(constraints, moved.pod.metadata.labels)
    tolerations_changed = old.pod.spec.tolerations != new.pod.spec.tolerations
    if new.uid == pod.uid and tolerations_changed and any(one.honors_taints for one in constraints):
        return True
    before, after = old.pod.metadata.labels, new.pod.metadata.labels
    return any(selects(one.selector, before) != selects(one.selector, after) for one in constraints)


def _has_keys(constraints: Constraints, labels: Mapping[str, str]) -> bool:
    return all(one.topology_key in labels for one in constraints)


def _node_helps(constraints: Constraints, old: Any, new: Any) -> bool:
    if old is None or new is None:
        return _has_keys(constraints, (new or old).metadata.labels)
    before, after = old.metadata.labels, new.metadata.labels
    if _has_keys(constraints, before) != _has_keys(constraints, after):
        return True
    if not _has_keys(constraints, after):
        return False
    moved = any(before.get(one.topology_key) != after.get(one.topology_key) for one in constraints)
    return moved or old.spec.taints != new.spec.taints
