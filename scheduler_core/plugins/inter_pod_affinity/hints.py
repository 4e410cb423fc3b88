"""Which events may help pods that InterPodAffinity turned away.

As upstream of 1.34 they are asked of the pod's own terms alone: what other pods demand of it wakes it never, though it
can turn it away. Such a pod waits for an event of another plugin's, or for its five minutes.
"""

from __future__ import annotations

from typing import Any, Final

from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.plugins.inter_pod_affinity.counts import means_all
from scheduler_core.snapshot.node_info import PodInfo


def _after_pod(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return _hint(_pod_helps(pod, old, new))


def _after_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return _hint(_node_helps(pod, old, new))


def _hint(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _of_pods(pod: PodInfo) -> ActionType:
    """Who wants others near hopes for pods that come, who wants them away for pods that go."""
    hoped = ActionType.ADD | ActionType.UPDATE_POD_LABEL if pod.terms.affinity else ActionType(0)
    return hoped | ActionType.DELETE | ActionType.UPDATE_POD_LABEL if pod.terms.anti_affinity else hoped


def _of_nodes(pod: PodInfo) -> ActionType:
    return _NODES if pod.terms.affinity or pod.terms.anti_affinity else ActionType(0)


_PODS: Final = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL
_NODES: Final = ActionType.ADD | ActionType.UPDATE_NODE_LABEL

REGISTRATIONS: Final = (
    EventRegistration(ClusterEvent(EventResource.ASSIGNED_POD, _PODS), _after_pod, _of_pods),
    EventRegistration(ClusterEvent(EventResource.NODE, _NODES), _after_node, _of_nodes),
)


def _pod_helps(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    """Return whether a pod that all terms want near has come, or one that all want away has gone (or changed).

    Namespaces that a term selects by their labels are asked about as if they had none.
    """
    if any(one is not None and not one.pod.spec.node_name for one in (old, new)):
        # It was only nominated to its node.
        return False
    near, away = pod.terms.affinity, pod.terms.anti_affinity
    if new is None:
        return old is not None and means_all(away, old)
    if old is None:
        return means_all(near, new)
    wanted = means_all(near, new) and not means_all(near, old)
    return wanted or (means_all(away, old) and not means_all(away, new))


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
