"""What the scheduler watches, and how rows become its cache and queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from controllers.kit.informer import Informers
from controllers.scheduler.settings import RESOURCE as CONFIGURATIONS
from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.api.quantity import QuantityError
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.snapshot.node_info import PodInfo

_OTHERS: Final[Mapping[str, EventResource | None]] = {
    "namespaces": None,
    "services": None,
    "replicationcontrollers": None,
    "replicasets.apps": None,
    "statefulsets.apps": None,
    "poddisruptionbudgets.policy": None,
    "persistentvolumes": EventResource.PERSISTENT_VOLUME,
    "persistentvolumeclaims": EventResource.PERSISTENT_VOLUME_CLAIM,
    "storageclasses.storage.k8s.io": EventResource.STORAGE_CLASS,
    "csinodes.storage.k8s.io": EventResource.CSI_NODE,
    "csidrivers.storage.k8s.io": EventResource.CSI_DRIVER,
    "csistoragecapacities.storage.k8s.io": EventResource.CSI_STORAGE_CAPACITY,
    "volumeattachments.storage.k8s.io": EventResource.VOLUME_ATTACHMENT,
    "resourceclaims.resource.k8s.io": EventResource.RESOURCE_CLAIM,
    "deviceclasses.resource.k8s.io": EventResource.DEVICE_CLASS,
    "resourceslices.resource.k8s.io": EventResource.RESOURCE_SLICE,
}
"""Other kinds that plugins read; with a resource where their changes are cluster events."""

WATCHED: Final = frozenset({"pods", "nodes", CONFIGURATIONS} | _OTHERS.keys())
"""Group resources that the scheduler's reflectors follow."""


SEEN_MAX: Final = 1_024
"""Pods whose newest views are kept for the other replicas; past it they read the documents again."""

_seen: Final[dict[int, tuple[FrozenDocument, PodInfo]]] = {}
"""Identity of a document → it and its view: replicas hear of a pod one after another, by the same document."""


def _seen_of(document: FrozenDocument, before: FrozenDocument | None, known: PodInfo | None) -> PodInfo:
    """Return a pod's view; it is shared, as the document is.

    Args:
        document: the pod.
        before: the pod before it changed, if there was one.
        known: the view of that.

    Raises:
        ApiError: the document is no pod.
    """
    seen = _seen.get(id(document))
    if seen is not None and seen[0] is document:
        return seen[1]
    info = None if before is None or known is None else known.bound(before, document)
    if info is None:
        info = PodInfo.of(document)
        if known is not None:
            info.adopt(known)
    if len(_seen) >= SEEN_MAX:
        _seen.clear()
    _seen[id(document)] = document, info
    return info


class CacheListers:
    """`framework.Listers` over the informers' caches."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a group resource; none of one that is not watched."""
        lister = self._informers.listers.get(resource)
        return () if lister is None else lister.all()

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document."""
        lister = self._informers.listers.get(resource)
        return None if lister is None else lister.get(namespace, name)

    def version(self, resources: Sequence[str]) -> int:
        """Return how many changes the caches of these resources have taken."""
        listers, changes = self._informers.listers, 0
        for resource in resources:
            changes += listers[resource].changes
        return changes


class Watching:
    """Hands what the informers see to the scheduler. `scheduler.now_ms` is set before they see it."""

    def __init__(
        self, scheduler: Scheduler, informers: Informers, reconfigure: Callable[[Mapping[str, Any]], None]
    ) -> None:
        """Hang into the informers.

        Args:
            scheduler: fed.
            informers: before their start.
            reconfigure: called with the configuration object when it changes.
        """
        self._scheduler = scheduler
        self._reconfigure = reconfigure
        informers["pods"].add_handler(self._pod)
        informers["nodes"].add_handler(self._node)
        informers[CONFIGURATIONS].add_handler(self._configuration)
        for resource in sorted(_OTHERS):
            about = _OTHERS[resource]
            if about is not None:
                informers[resource].add_handler(self._teller(about))

    def _pod(self, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        if new is None:
            assert old is not None
            self._scheduler.remove_pod(old["metadata"]["uid"])
            return
        try:
            info = _seen_of(new, old, self._scheduler.pods.get(new["metadata"].get("uid", "")))
            # Sums are worked out here, so that a quantity that cannot be read keeps one pod out and no more.
            _ = info.requests
        except (ApiError, QuantityError):
            return
        self._scheduler.observe_pod(info)

    def _node(self, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        if new is None:
            assert old is not None
            self._scheduler.remove_node(old["metadata"]["name"])
            return
        try:
            self._scheduler.observe_node(view(new, Node))
        except (ApiError, QuantityError):
            return

    def _configuration(self, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        if new is not None:
            self._reconfigure(new)

    def _teller(self, about: EventResource) -> Callable[[Any, Any], None]:
        def tell(old: Any, new: Any) -> None:
            action = ActionType.ADD if old is None else ActionType.DELETE if new is None else ActionType.UPDATE
            self._scheduler.observe_other(ClusterEvent(about, action), old, new)

        return tell
