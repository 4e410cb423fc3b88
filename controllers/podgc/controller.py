"""Removes pods that nobody else will: too many finished ones, those of lost nodes, those that end without a node.

Upstream looks every twenty seconds. Here a look is taken at those times too, but only when there is something to find.

Source: k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from controllers.flags.controllermanager import ERA, TERMINATED_POD_GC_THRESHOLD
from controllers.flags.flag import ERA_THEN
from controllers.kit.informer import by_node
from controllers.kit.interest import NODE_NAME
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work
from controllers.kit.pods import disruption, status_patch
from controllers.log.operations import Delete, Operation, Patch
from scheduler_core.api.document import Document, condition

CHECK_MS: Final = 20_000
"""How often pods are looked at (gcCheckPeriod)."""

QUARANTINE_MS: Final = 40_000
"""How long a node must be missing before its pods go: a node that is registered anew keeps them."""

OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
"""Key of the taint by which a person says that a node that is not ready will not come back as it was."""

_LOOK: Final = "\x00look"


class PodGCController:
    """Looks at all pods."""

    NAME: ClassVar[str] = "pod-garbage-collector"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by node and listen to both."""
        self._nodes = setup.informers["nodes"]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._pods.add_index("node", by_node, of=(NODE_NAME,))
        self._nodes.add_handler(self._node_changed)
        self._pods.add_handler(self._pod_changed)
        self._began_ms = -1
        self._missing_until_ms: dict[str, int] = {}
        """When the quarantine of a node that is missing is over, by name."""

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if new is None or _is_out_of_service(new):
            self._queue.add(RESYNC_KEY)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        if new is None:
            return
        name = new["spec"].get("nodeName") or ""
        comes = bool(name) and (old is None or not old["spec"].get("nodeName"))
        ends = _has_ended(new) or "deletionTimestamp" in new["metadata"]
        if ends or (comes and self._nodes.get("", name) is None):
            self._queue.add(RESYNC_KEY)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Plan the next look, or take it."""
        if self._began_ms < 0:
            self._began_ms = work.now_ms
        if key != _LOOK:
            work.queue.add_at(_LOOK, self._look_at_ms(work.now_ms))
            return
        pods = self._pods.all()
        too_many = self._too_many(pods, work)
        work.tell(
            "more finished pods than are kept: the oldest go" if too_many else "no more finished pods than are kept",
            desired={"terminated-pod-gc-threshold": work.flags[TERMINATED_POD_GC_THRESHOLD]},
            actual={"finished pods": sum(1 for pod in pods if _has_ended(pod)), "to delete": len(too_many)},
        )
        yield from self._remove(too_many, work)
        terminating = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
        yield from self._remove([pod for pod in terminating if self._is_lost(pod)], work)
        yield from self._orphans(pods, work)
        yield from self._remove([pod for pod in terminating if not pod["spec"].get("nodeName")], work)

    def _look_at_ms(self, from_ms: int) -> int:
        return self._began_ms + -(-(from_ms - self._began_ms) // CHECK_MS) * CHECK_MS

    def _too_many(self, pods: Sequence[Document], work: Work) -> list[Document]:
        """Return the finished pods above the threshold: evicted ones first, then the oldest."""
        threshold = work.flags[TERMINATED_POD_GC_THRESHOLD]
        ended = [pod for pod in pods if _has_ended(pod)] if threshold > 0 else []
        if len(ended) <= threshold:
            return []
        return sorted(ended, key=_age)[: len(ended) - threshold]

    def _is_lost(self, pod: Document) -> bool:
        node = self._nodes.get("", pod["spec"].get("nodeName") or "")
        return node is not None and _is_out_of_service(node)

    def _orphans(self, pods: Sequence[Document], work: Work) -> Reconcile:
        """Remove the pods of nodes that have been missing for long enough."""
        names = {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
        missing = {name for name in names if self._nodes.get("", name) is None}
        known = self._missing_until_ms
        self._missing_until_ms = {name: known.get(name, work.now_ms + QUARANTINE_MS) for name in sorted(missing)}
        gone = {name for name, until_ms in self._missing_until_ms.items() if until_ms <= work.now_ms}
        waiting = [until_ms for name, until_ms in self._missing_until_ms.items() if name not in gone]
        if waiting:
            work.queue.add_at(_LOOK, self._look_at_ms(min(waiting)))
        if work.flags[ERA] == ERA_THEN:
            # The node controller removes them.
            return
        orphans = [pod for name in sorted(gone) for pod in self._pods.indexed("node", name)]
        yield from self._remove(orphans, work, orphaned=True)

    def _remove(self, pods: Sequence[Document], work: Work, *, orphaned: bool = False) -> Reconcile:
        """Mark pods as failed, where they have not ended, and delete them at once."""
        if not pods:
            return
        marks: list[Operation] = []
        for pod in pods:
            if not _has_ended(pod):
                status: Document = {"phase": "Failed", "observedGeneration": pod["metadata"].get("generation", 1)}
                if orphaned:
                    why = "PodGC: node no longer exists"
                    status["conditions"] = [disruption(pod, "DeletionByPodGC", why, work.unix_ms)]
                marks.append(status_patch(pod, status))
        refused = {
            (result.operation.namespace, result.operation.name)
            for result in (yield marks)
            if result.error is not None and isinstance(result.operation, Patch)
        }
        places = [(pod["metadata"]["namespace"], pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in pods]
        yield [
            Delete("pods", namespace, name, uid=uid, grace_period_seconds=0)
            for namespace, name, uid in places
            if (namespace, name) not in refused
        ]
        # Once more: what was refused, and what has a finalizer, is looked at again.
        work.queue.add_at(_LOOK, self._look_at_ms(work.now_ms + 1))


def _has_ended(pod: Mapping[str, Any]) -> bool:
    return ((pod.get("status") or {}).get("phase") or "Pending") not in ("Pending", "Running", "Unknown")


def _is_out_of_service(node: Mapping[str, Any]) -> bool:
    ready = condition(node, "Ready")
    if ready is not None and ready["status"] == "True":
        return False
    return any(taint["key"] == OUT_OF_SERVICE for taint in (node.get("spec") or {}).get("taints") or ())


def _age(pod: Document) -> tuple[bool, str, str]:
    status = pod.get("status") or {}
    evicted = status.get("phase") == "Failed" and status.get("reason") == "Evicted"
    return (not evicted, pod["metadata"]["creationTimestamp"], pod["metadata"]["name"])
