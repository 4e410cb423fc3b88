"""The node controller of an earlier time: phases of nodes, and pods of a dead node deleted after a fixed wait.

It acts while the flag `era` of kube-controller-manager is `v1.2`. Today's behaviour (NoExecute taints, tolerations,
orphans by pod gc) rests then. What it does:

* `status.phase` beside the conditions: Pending until a kubelet has reported, Running after that, Terminated once the
  machine is lost or its pods were deleted. Running is necessary for new pods, not sufficient: the conditions count too.
* a node that is not ready for `pod-eviction-timeout` loses its pods, but for those of DaemonSets; what has not ended
  when its grace is over is removed, since nobody is there to end it.
* every 30 s pods that are bound to a node that does not exist are removed.

Source: pkg/controller/node/nodecontroller.go, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from controllers.flags.controllermanager import ERA, POD_EVICTION_TIMEOUT
from controllers.flags.flag import ERA_THEN
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.kit.informer import by_node
from controllers.kit.interest import NODE_NAME
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work, must
from controllers.kit.pods import controller_of
from controllers.kubelet.orders import is_gone
from controllers.log.operations import Delete, Patch
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.document import Document, condition

ORPHANS_MS: Final = 30_000
"""How often pods of nodes that do not exist are looked for."""

_ORPHANS: Final = "\x00orphans"


class NodeController:
    """Reconciles nodes, by name, and orphaned pods at a look."""

    NAME: ClassVar[str] = "node"
    RESOURCES: ClassVar[tuple[str, ...]] = ("daemonsets.apps", "nodes", "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by node. Changes of DaemonSets and deletions of pods mean nothing to it."""
        self._nodes = setup.informers["nodes"]
        self._pods = setup.informers["pods"]
        self._sets = setup.informers["daemonsets.apps"]
        self._queue = setup.queue
        self._pods.add_index("node", by_node, of=(NODE_NAME,))
        self._nodes.add_handler(self._node_changed)
        self._pods.add_handler(self._pod_changed)
        self._emptied: set[str] = set()
        """Nodes whose pods were deleted since they were ready."""

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if new is None:
            assert old is not None, "a change has a state before or after"
            self._queue.add(_ORPHANS)
        self._queue.add((new or old or {})["metadata"]["name"])

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        name = "" if new is None else new["spec"].get("nodeName") or ""
        if not name:
            return
        node = self._nodes.get("", name)
        if node is None:
            self._queue.add(_ORPHANS)
        elif not _is_ready(node):
            self._queue.add(name)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Bring one node's phase up to date and empty it where its time is over, or look for orphans."""
        era = work.flags[ERA] == ERA_THEN
        if key == RESYNC_KEY:
            for node in self._nodes.all():
                work.queue.add(node["metadata"]["name"])
            work.queue.add(_ORPHANS)
        elif key == _ORPHANS:
            if era:
                yield from self._orphans(work)
        else:
            yield from self._settle(key, era, work)

    def _settle(self, name: str, era: bool, work: Work) -> Reconcile:
        node = self._nodes.get("", name)
        if node is None:
            self._emptied.discard(name)
            return
        if era and not _is_ready(node) and condition(node, "Ready") is not None:
            yield from self._empty(node, work)
        elif _is_ready(node):
            self._emptied.discard(name)
        yield from self._show_phase(node, self._phase(node, work) if era else None)

    def _phase(self, node: Document, work: Work) -> str:
        if condition(node, "Ready") is None:
            return "Pending"
        if _is_ready(node):
            return "Running"
        lost = is_gone(node, work.flags[ANNOTATION_PREFIX]) or node["metadata"]["name"] in self._emptied
        return "Terminated" if lost else "Running"

    @staticmethod
    def _show_phase(node: Document, phase: str | None) -> Reconcile:
        if (node.get("status") or {}).get("phase") == phase:
            return
        (result,) = yield [
            Patch("nodes", "", node["metadata"]["name"], {"status": {"phase": phase}}, "merge", "status")
        ]
        if result.error is not None and result.error.code != 404:
            must(result)

    def _empty(self, node: Document, work: Work) -> Reconcile:
        """Delete the pods of a node that was not ready for too long, and remove those whose grace is over."""
        name = node["metadata"]["name"]
        ready = condition(node, "Ready")
        assert ready is not None, "only nodes that have reported are emptied"
        due_ms = unix_ms_of(ready["lastTransitionTime"]) + work.flags[POD_EVICTION_TIMEOUT]
        pods = [pod for pod in self._pods.indexed("node", name) if not self._is_daemon(pod)]
        if work.unix_ms < due_ms:
            left = (due_ms - work.unix_ms) / 1000
            work.tell(
                "not ready: its pods wait", desired={"pod-eviction-timeout left": left}, actual={"pods": len(pods)}
            )
            work.queue.add_at(name, work.now_ms + due_ms - work.unix_ms)
            return
        self._emptied.add(name)
        leaving = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
        staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        work.tell(
            "not ready for too long: its pods are deleted" if staying else "not ready for too long: emptied",
            desired={"podStore": 0},
            actual={"podStore": len(pods)},
        )
        if staying:
            text = f"Node {name} event: Deleting all Pods from Node {name}."
            work.event(node, "Node", "DeletingAllPods", text)
        for pod in staying:
            text = f"Marking for deletion Pod {pod['metadata']['name']} from Node {name}"
            work.event(pod, "Pod", "NodeControllerEviction", text)
        over = [pod for pod in leaving if unix_ms_of(pod["metadata"]["deletionTimestamp"]) <= work.unix_ms]
        for pod in over:
            text = (
                f"Pod {pod['metadata']['name']} has exceeded the grace period for deletion after being evicted from "
                f'Node "{name}" and is being force killed'
            )
            work.event(pod, "Pod", "TerminatingEvictedPod", text)
        yield [*_deletions(staying, None), *_deletions(over, 0)]
        waiting = [unix_ms_of(pod["metadata"]["deletionTimestamp"]) for pod in leaving if pod not in over]
        if waiting:
            work.queue.add_at(name, work.now_ms + max(1, min(waiting) - work.unix_ms))

    def _is_daemon(self, pod: Document) -> bool:
        """Return whether a pod is a DaemonSet's that is there: such a pod belongs to its node."""
        owner = controller_of(pod)
        if owner is None or owner["kind"] != "DaemonSet":
            return False
        found = self._sets.get(pod["metadata"]["namespace"], owner["name"])
        return found is not None and bool(found["metadata"]["uid"] == owner["uid"])

    def _orphans(self, work: Work) -> Reconcile:
        """Remove pods of nodes that do not exist, at the times at which they are looked for."""
        pods = [
            pod
            for pod in self._pods.all()
            if pod["spec"].get("nodeName") and self._nodes.get("", pod["spec"]["nodeName"]) is None
        ]
        if not pods:
            return
        late_ms = work.now_ms % ORPHANS_MS
        if late_ms:
            work.tell("orphans wait for the next look", desired={"orphans": 0}, actual={"orphans": len(pods)})
            work.queue.add_at(_ORPHANS, work.now_ms + ORPHANS_MS - late_ms)
            return
        work.tell("orphans are removed", desired={"orphans": 0}, actual={"orphans": len(pods)})
        yield _deletions(pods, 0)
        work.queue.add_at(_ORPHANS, work.now_ms + ORPHANS_MS)


def _deletions(pods: Sequence[Document], grace_seconds: int | None) -> list[Delete]:
    return [
        Delete(
            "pods",
            pod["metadata"]["namespace"],
            pod["metadata"]["name"],
            uid=pod["metadata"]["uid"],
            grace_period_seconds=grace_seconds,
        )
        for pod in pods
    ]


def _is_ready(node: Document) -> bool:
    ready = condition(node, "Ready")
    return ready is not None and ready["status"] == "True"
