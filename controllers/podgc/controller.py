"""Removes pods that are bound to nodes which do not exist any more: no kubelet will ever end them.

Source: k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go (orphaned pods).
"""

from __future__ import annotations

from typing import ClassVar, Final

from controllers.kit.informer import by_node
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work
from controllers.log.operations import Delete, Operation, Update
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document

CHECK_MS: Final = 20_000
"""How often pods are looked at (gcCheckPeriod)."""

QUARANTINE_MS: Final = 40_000
"""How long a node must be missing before its pods go: a node that is registered anew keeps them."""


class PodGCController:
    """Looks at all pods every twenty seconds."""

    NAME: ClassVar[str] = "pod-garbage-collector"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes", "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by node."""
        self._nodes = setup.informers["nodes"]
        self._pods = setup.informers["pods"]
        self._pods.add_index("node", by_node)
        self._missing_since_ms: dict[str, int] = {}

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Remove the pods of nodes that have been missing for long enough."""
        if key != RESYNC_KEY:
            return
        names = {pod["spec"]["nodeName"] for pod in self._pods.all() if pod["spec"].get("nodeName")}
        missing = sorted(name for name in names if self._nodes.get("", name) is None)
        known, self._missing_since_ms = self._missing_since_ms, {}
        statuses: list[Operation] = []
        deletions: list[Operation] = []
        for name in missing:
            since_ms = known.get(name, work.now_ms)
            self._missing_since_ms[name] = since_ms
            if work.now_ms - since_ms < QUARANTINE_MS:
                continue
            for pod in self._pods.indexed("node", name):
                metadata = pod["metadata"]
                place = (metadata["namespace"], metadata["name"])
                statuses.append(Update("pods", *place, _failed(pod, work), "status"))
                deletions.append(Delete("pods", *place, uid=metadata["uid"], grace_period_seconds=0))
        if deletions:
            yield statuses
            yield deletions


def _failed(pod: Document, work: Work) -> Document:
    """Return the status update that says why the pod goes."""
    status = dict(pod.get("status") or {})
    if status.get("phase") not in ("Succeeded", "Failed"):
        status["phase"] = "Failed"
    others = [entry for entry in status.get("conditions") or () if entry["type"] != "DisruptionTarget"]
    disruption = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastTransitionTime": wire_time(work.unix_ms),
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
    }
    status["conditions"] = [*others, disruption]
    return {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
