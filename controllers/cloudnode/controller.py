"""Deletes Nodes that are not ready and whose machine does not exist any more.

The machines are hollow; the annotation `<prefix>/kubelet: "gone"` says of one that it is lost. A Node that is made anew
has a machine again, which registers.

Source: k8s.io/cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go.
"""

from __future__ import annotations

from typing import ClassVar

from controllers.flags.controllermanager import NODE_MONITOR_PERIOD
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work
from controllers.kubelet.orders import is_gone
from controllers.log.operations import Delete
from scheduler_core.api.document import Document, condition


class CloudNodeController:
    """Reconciles nodes, by name."""

    NAME: ClassVar[str] = "cloud-node-lifecycle"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes",)

    def __init__(self, setup: Setup) -> None:
        """Listen to nodes."""
        self._nodes = setup.informers["nodes"]
        self._queue = setup.queue
        self._flags = setup.flags
        self._nodes.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and self._is_lost(new) and (old is None or not self._is_lost(old)):
            self._queue.add_after(new["metadata"]["name"], self._flags[NODE_MONITOR_PERIOD])

    def _is_lost(self, node: Document) -> bool:
        ready = condition(node, "Ready")
        return is_gone(node, self._flags[ANNOTATION_PREFIX]) and (ready is None or ready["status"] != "True")

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Delete one Node if its machine is gone."""
        if key == RESYNC_KEY:
            for each in self._nodes.all():
                self._changed(None, each)
            return
        node = self._nodes.get("", key)
        if node is None or not self._is_lost(node):
            work.tell("nothing to do", desired={"nodes": node is not None}, actual={"machines": "not lost"})
            return
        work.tell("its machine is lost: the Node goes", desired={"machines": None}, actual={"nodes": key})
        text = f"Deleting node {key} because it does not exist in the cloud provider"
        work.event(node, "Node", "DeletingNode", text)
        (result,) = yield [Delete("nodes", "", key, uid=node["metadata"]["uid"])]
        if result.error is not None and result.error.code != 404:
            text = f"Failed deleting node {key}: {result.error.message}"
            work.event(node, "Node", "DeletingNodeFailed", text, event_type="Warning")
            work.queue.add_at(key, work.now_ms + work.flags[NODE_MONITOR_PERIOD])
