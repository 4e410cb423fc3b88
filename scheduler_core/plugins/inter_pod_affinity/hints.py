"""Which events may help pods that InterPodAffinity turned away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Listers
from scheduler_core.plugins.inter_pod_affinity.counts import labels_of_namespace, means, means_all, resolved
from scheduler_core.snapshot.node_info import PodInfo


def registrations(listers: Listers) -> Sequence[EventRegistration]:
    """Return the events, asked with the namespaces that the listers know."""

    def after_pod(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        return _hint(_pod_helps(listers, pod, old, new))

    def after_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
        return _hint(_node_helps(pod, old, new))

    pods = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL
    nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
    return (
        EventRegistration(ClusterEvent(EventResource.ASSIGNED_POD, pods), after_pod),
        EventRegistration(ClusterEvent(EventResource.NODE, nodes), after_node),
    )


def _hint(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _pod_helps(listers: Listers, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    """Return whether a pod that is wanted near has come, or one that is wanted away has gone (or does not mind)."""
    near = resolved(pod.terms.affinity, listers)
    if new is not None and means_all(near, new) and (old is None or not means_all(near, old)):
        return True
    if old is None:
        return False
    away = resolved(pod.terms.anti_affinity, listers)
    if any(means(term, old) and (new is None or not means(term, new)) for term in away):
        return True
    namespace_labels = labels_of_namespace(pod.pod.namespace, listers)
    return new is None and any(means(term, pod, namespace_labels) for term in old.terms.anti_affinity)


def _node_helps(pod: PodInfo, old: Any, new: Any) -> bool:
    """Return whether a node has come to a place where the pod's terms may hold.

    Of a pod that was turned away by the demands of others, upstream asks nothing here: no node's labels wake it.
    """
    near = {term.topology_key for term in pod.terms.affinity}
    away = {term.topology_key for term in pod.terms.anti_affinity}
    after = new.metadata.labels
    if old is None:
        # A node without the label is in no place, so anti-affinity does not forbid it.
        return bool(away) or not near.isdisjoint(after)
    before = old.metadata.labels
    gained = {key for key in near & after.keys() if key not in before}
    lost = {key for key in away & before.keys() if key not in after}
    moved = {key for key in (near | away) & before.keys() & after.keys() if before[key] != after[key]}
    return bool(gained or lost or moved)
