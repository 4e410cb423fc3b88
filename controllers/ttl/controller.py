"""Tells kubelets, by an annotation of their Nodes, for how long they may keep Secrets and ConfigMaps that they read.

The more nodes there are, the longer. Sizes at which that changes lie apart by whether nodes come or go, so that a
cluster near one does not write all its Nodes again and again.

Source: k8s.io/kubernetes/pkg/controller/ttl/ttl_controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from controllers.kit.manager import Reconcile, Setup, Work, must
from controllers.log.operations import Patch
from scheduler_core.api.document import Document

TTL: Final = "node.alpha.kubernetes.io/ttl"

_SIZES: Final = ((0, 100, 0), (90, 500, 15), (450, 1_000, 30), (900, 2_000, 60), (1_800, None, 300))
"""(fewest nodes, most nodes or None, seconds): ttlBoundaries."""


class TTLController:
    """Reconciles nodes, by name."""

    NAME: ClassVar[str] = "ttl"
    RESOURCES: ClassVar[tuple[str, ...]] = ("nodes",)

    def __init__(self, setup: Setup) -> None:
        """Listen to nodes."""
        self._nodes = setup.informers["nodes"]
        self._queue = setup.queue
        self._count = 0
        self._step = 0
        self._nodes.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        before = self._step
        if old is None:
            self._count += 1
            most = _SIZES[self._step][1]
            self._step += most is not None and self._count > most
        elif new is None:
            self._count -= 1
            self._step -= self._count < _SIZES[self._step][0]
        if self._step != before:
            # Upstream waits for each kubelet's next status; these here write none as long as nothing changes.
            for node in self._nodes.all():
                self._queue.add(node["metadata"]["name"])
        if new is not None and not self._is_told(new):
            self._queue.add(new["metadata"]["name"])

    def _is_told(self, node: Mapping[str, Any]) -> bool:
        told = (node["metadata"].get("annotations") or {}).get(TTL)
        try:
            return told is not None and int(told) == _SIZES[self._step][2]
        except ValueError:
            return False

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Write one Node's annotation."""
        node = self._nodes.get("", key)
        if node is None or self._is_told(node):
            work.tell("told already", desired={}, actual={"nodes": self._count})
            return
        seconds = _SIZES[self._step][2]
        work.tell("how long kubelets may keep what they read", desired={TTL: seconds}, actual={"nodes": self._count})
        patch = {"metadata": {"annotations": {TTL: str(seconds)}}}
        (result,) = yield [Patch("nodes", "", key, patch)]
        if result.error is None or result.error.code != 404:
            must(result)
