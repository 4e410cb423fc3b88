"""Judges nodes by their heartbeats and taints them by their conditions.

Source: k8s.io/kubernetes/pkg/controller/nodelifecycle/node_lifecycle_controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from controllers.flags.controllermanager import NODE_MONITOR_GRACE_PERIOD, NODE_STARTUP_GRACE_PERIOD
from controllers.kinds.core.node import NOT_READY
from controllers.kit.informer import by_node
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work, must
from controllers.kit.pods import ready_since_ms
from controllers.kubelet.heartbeat import is_running, renewed_unix_ms
from controllers.log.operations import Operation, Patch, Update
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document, condition

WATCHED_CONDITIONS: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
"""Conditions that become Unknown when the kubelet falls silent."""

UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"

CONDITION_TAINTS: Final[Mapping[tuple[str, str], str]] = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
"""(condition, status) → key of the NoSchedule taint that it brings."""

EXECUTE_TAINTS: Final[Mapping[str, str]] = {"False": NOT_READY, "Unknown": UNREACHABLE}
"""Status of Ready → key of the NoExecute taint that it brings."""

_OWN_KEYS: Final = frozenset({*CONDITION_TAINTS.values(), UNSCHEDULABLE})


class NodeLifecycleController:
    """Reconciles nodes by name, and all of them every `node-monitor-period`."""

    NAME: ClassVar[str] = "node-lifecycle"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by node and listen to nodes."""
        self._nodes = setup.informers["nodes"]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._pods.add_index("node", by_node)
        self._nodes.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and (old is None or _judged(old) != _judged(new)):
            self._queue.add(new["metadata"]["name"])

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Look at every node's heartbeat, or bring one node's taints up to date."""
        if key == RESYNC_KEY:
            operations: list[Operation] = []
            for node in self._nodes.all():
                operations += self._monitor(node, work)
            if operations:
                yield operations
            return
        found = self._nodes.get("", key)
        if found is None:
            return
        taints = _taints(found, work)
        if taints != ((found.get("spec") or {}).get("taints") or []):
            metadata = {"resourceVersion": found["metadata"]["resourceVersion"]}
            results = yield [Patch("nodes", "", key, {"metadata": metadata, "spec": {"taints": taints or None}})]
            if results[0].error is not None and results[0].error.code != 404:
                must(results[0])
        yield from self._mark_pods(found, work)

    def _monitor(self, node: Document, work: Work) -> list[Operation]:
        """Return what a node's silence asks for."""
        ready = condition(node, "Ready")
        if ready is not None and ready["status"] == "Unknown":
            return []
        if ready is None:
            return self._never_heard_of(node, work)
        if work.unix_ms - renewed_unix_ms(node, work.unix_ms) <= work.flags[NODE_MONITOR_GRACE_PERIOD]:
            return []
        now = wire_time(work.unix_ms)
        status = dict(node["status"])
        status["conditions"] = [
            {
                **entry,
                "status": "Unknown",
                "lastTransitionTime": now,
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
            if entry["type"] in WATCHED_CONDITIONS
            else entry
            for entry in status.get("conditions") or ()
        ]
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        work.event(node, "Node", "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        return [Update("nodes", "", name, {"metadata": {"uid": uid}, "status": status}, "status")]

    def _never_heard_of(self, node: Document, work: Work) -> list[Operation]:
        """Return what is written about a node whose kubelet has not said anything since the node came."""
        created = node["metadata"]["creationTimestamp"]
        if work.unix_ms - unix_ms_of(created) <= work.flags[NODE_STARTUP_GRACE_PERIOD]:
            return []
        status = dict(node.get("status") or {})
        others = [entry for entry in status.get("conditions") or () if entry["type"] not in WATCHED_CONDITIONS]
        status["conditions"] = others + [
            {
                "type": name,
                "status": "Unknown",
                "lastHeartbeatTime": created,
                "lastTransitionTime": wire_time(work.unix_ms),
                "reason": "NodeStatusNeverUpdated",
                "message": "Kubelet never posted node status.",
            }
            for name in WATCHED_CONDITIONS
        ]
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        return [Update("nodes", "", name, {"metadata": {"uid": uid}, "status": status}, "status")]

    def _mark_pods(self, node: Document, work: Work) -> Reconcile:
        """A node that is not ready has no ready pods."""
        ready = condition(node, "Ready")
        if ready is None or ready["status"] == "True":
            return
        now = wire_time(work.unix_ms)
        operations: list[Operation] = []
        for pod in self._pods.indexed("node", node["metadata"]["name"]):
            if ready_since_ms(pod) is None:
                continue
            metadata = pod["metadata"]
            status = dict(pod["status"])
            status["conditions"] = [
                {**entry, "status": "False", "lastTransitionTime": now, "reason": "NodeNotReady"}
                if entry["type"] == "Ready"
                else entry
                for entry in status["conditions"]
            ]
            work.event(pod, "Pod", "NodeNotReady", "Node is not ready", event_type="Warning")
            body = {"metadata": {"uid": metadata["uid"]}, "status": status}
            operations.append(Update("pods", metadata["namespace"], metadata["name"], body, "status"))
        if operations:
            yield operations


def _judged(node: Document) -> tuple[object, ...]:
    """Return what taints follow from."""
    spec = node.get("spec") or {}
    conditions = (node.get("status") or {}).get("conditions") or ()
    states = tuple((entry["type"], entry["status"]) for entry in conditions)
    return (bool(spec.get("unschedulable")), spec.get("taints"), states)


def _taints(node: Document, work: Work) -> list[Document]:
    """Return the node's taints with those that its conditions and cordon ask for, and without those they do not."""
    spec = node.get("spec") or {}
    present: list[Document] = spec.get("taints") or []
    wanted: list[tuple[str, str]] = []
    for entry in (node.get("status") or {}).get("conditions") or ():
        key = CONDITION_TAINTS.get((entry["type"], entry["status"]))
        if key is not None:
            wanted.append((key, "NoSchedule"))
        if entry["type"] == "Ready" and entry["status"] in EXECUTE_TAINTS:
            wanted.append((EXECUTE_TAINTS[entry["status"]], "NoExecute"))
    if condition(node, "Ready") is None and not is_running(node, work.unix_ms):
        # It was tainted as it came (NodeTaint), and there is nobody to say that it is ready.
        wanted.append((NOT_READY, "NoSchedule"))
    if spec.get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    kept = [taint for taint in present if taint["key"] not in _OWN_KEYS or (taint["key"], taint["effect"]) in wanted]
    known = {(taint["key"], taint["effect"]) for taint in kept}
    now = wire_time(work.unix_ms)
    added = [{"key": key, "effect": effect, "timeAdded": now} for key, effect in wanted if (key, effect) not in known]
    return kept + added
