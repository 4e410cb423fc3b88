"""Deletes pods that do not tolerate their node's NoExecute taints, at once or when their tolerationSeconds are over.

Source: k8s.io/kubernetes/pkg/controller/tainteviction/taint_eviction.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from controllers.kit.informer import by_node
from controllers.kit.interest import NODE_NAME, TOLERATIONS
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import disruption, status_patch
from controllers.log.operations import Delete
from scheduler_core.api.document import Document
from scheduler_core.api.meta import view
from scheduler_core.api.node import Taint
from scheduler_core.api.pod import Toleration
from scheduler_core.api.taints import tolerates

_NODE: Final = "node\x00"

REASON: Final = "DeletionByTaintManager"
MESSAGE: Final = "Taint manager: deleting due to NoExecute taint"


class TaintEvictionController:
    """Reconciles nodes by name, whose pods follow, and pods by namespace and name."""

    NAME: ClassVar[str] = "taint-eviction"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by node and listen to both."""
        self._nodes = setup.informers["nodes"]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._pods.add_index("node", by_node, of=(NODE_NAME,))
        self._nodes.add_handler(self._node_changed)
        self._pods.add_handler(self._pod_changed, reads=(NODE_NAME, TOLERATIONS))
        self._evictions: dict[str, int] = {}
        """Simulated milliseconds at which a pod's time is over, by key."""

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and _execute_taints(old) != _execute_taints(new):
            self._queue.add(_NODE + new["metadata"]["name"])

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        if new is None:
            if key_of(pod) in self._evictions:
                self._queue.add(key_of(pod))
        elif old is None or _asked(old) != _asked(new):
            node = self._nodes.get("", new["spec"].get("nodeName") or "")
            if key_of(new) in self._evictions or (node is not None and _execute_taints(node)):
                self._queue.add(key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Look at a node's pods, or evict, spare or put off one pod."""
        if key.startswith(_NODE):
            found = list(self._pods.indexed("node", key.removeprefix(_NODE)))
            work.tell("taints have changed: its pods are looked at", desired={}, actual={"pods": len(found)})
            for one in found:
                work.queue.add(key_of(one))
            return
        pod = self._pods.get(*split_key(key))
        if pod is None:
            self._cancel(key, work)
            return
        node = self._nodes.get("", pod["spec"].get("nodeName") or "")
        if node is None:
            return
        stays_ms = _stays_ms(_execute_taints(node), pod)
        if stays_ms is None:
            work.tell(
                "tolerates all taints: stays", desired={}, actual={"NoExecute taints": len(_execute_taints(node))}
            )
            self._cancel(key, work)
            return
        if not stays_ms:
            self._cancel(key, work)
        elif self._evictions.setdefault(key, work.now_ms + stays_ms) > work.now_ms:
            # What was counted first holds, whatever has changed since.
            left_ms = self._evictions[key] - work.now_ms
            work.tell("tolerates for a while: waits", desired={"tolerationSeconds left": left_ms / 1000}, actual={})
            work.queue.add_at(key, self._evictions[key])
            return
        why = "its time is over: evicted" if stays_ms else "does not tolerate a taint: evicted"
        work.tell(
            why, desired={"tolerationSeconds": stays_ms // 1000}, actual={"nodeName": pod["spec"].get("nodeName")}
        )
        yield from self._evict(pod, work)
        self._evictions.pop(key, None)

    def _evict(self, pod: Document, work: Work) -> Reconcile:
        metadata = pod["metadata"]
        place = ("pods", metadata["namespace"], metadata["name"])
        self._tell("Marking for deletion Pod", key_of(pod), work)
        results = yield [status_patch(pod, {"conditions": [disruption(pod, REASON, MESSAGE, work.unix_ms)]})]
        if results[0].error is None:
            results = yield [Delete(*place, uid=metadata["uid"])]
        if results[0].error is not None and results[0].error.code != 404:
            must(results[0])

    def _cancel(self, key: str, work: Work) -> None:
        if self._evictions.pop(key, None) is not None:
            self._tell("Cancelling deletion of Pod", key, work)

    @staticmethod
    def _tell(what: str, key: str, work: Work) -> None:
        namespace, name = split_key(key)
        about = {"apiVersion": "v1", "metadata": {"name": name, "namespace": namespace}}
        work.event(about, "Pod", "TaintManagerEviction", f"{what} {key}")


def _asked(pod: Document) -> tuple[object, ...]:
    return (pod["spec"].get("nodeName"), pod["spec"].get("tolerations"))


def _execute_taints(node: Mapping[str, Any] | None) -> list[Document]:
    taints = (((node or {}).get("spec") or {}).get("taints")) or ()
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]


def _stays_ms(taints: Iterable[Document], pod: Document) -> int | None:
    """Return how long a pod may stay on a node with these taints, in milliseconds; None: for ever."""
    tolerations = [view(one, Toleration) for one in pod["spec"].get("tolerations") or ()]
    used: list[int] = []
    for taint in taints:
        found = next((one for one in tolerations if tolerates(one, view(taint, Taint))), None)
        if found is None:
            return 0
        if found.toleration_seconds is not None:
            used.append(max(0, found.toleration_seconds) * 1000)
    return min(used, default=None)
