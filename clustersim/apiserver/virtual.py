"""Objects that no row of the log holds: node Leases in `kube-node-lease`, computed when they are read.

They are the one exception to "list plus watch is the next list": a watch does not tell their renewals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.store import SqlStore
from controllers.kinds.table import kind_of
from controllers.kubelet.heartbeat import LEASE_NAMESPACE, node_lease
from controllers.log.store import Stored
from controllers.registry.kind import Kind
from scheduler_core.api.errors import ApiError

LEASES: Final = "leases.coordination.k8s.io"


def in_version(kind: Kind, stored: Stored) -> Stored:
    """Return a stored object in a further version of its kind."""
    data = msgspec.json.encode(kind.outward(stored.object))
    return Stored(kind.resource, stored.namespace, stored.name, stored.uid, stored.revision, data)


class ReadView:
    """A session's objects as the API shows them: the stored ones and the computed ones. For reading alone."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.session_id = store.session_id
        self.epoch_ms = store.epoch_ms

    @property
    def revision(self) -> int:
        """Return the newest committed revision."""
        return self.store.revision

    @property
    def compacted(self) -> int:
        """Return the revision up to which history is dropped."""
        return self.store.compacted

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object."""
        kind = kind_of(resource)
        stored = self.store.get(kind.stored_resource, namespace, name)
        if kind.stored_as is not None:
            return stored and in_version(kind, stored)
        if stored is None and resource == LEASES and namespace == LEASE_NAMESPACE:
            node = self.store.get("nodes", "", name)
            return self._lease(node, self._now_ms()) if node is not None else None
        return stored

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""
        kind = kind_of(resource)
        objects, revision = self.store.list(kind.stored_resource, namespace)
        if kind.stored_as is not None:
            return [in_version(kind, stored) for stored in objects], revision
        if resource == LEASES and namespace in (None, LEASE_NAMESPACE):
            objects = self._with_leases(objects, self.store.list("nodes")[0])
        return objects, revision

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Stored]:
        """Return the objects as of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """
        kind = kind_of(resource)
        objects = self.store.list_at(kind.stored_resource, revision, namespace)
        if kind.stored_as is not None:
            return [in_version(kind, stored) for stored in objects]
        if resource == LEASES and namespace in (None, LEASE_NAMESPACE):
            objects = self._with_leases(objects, self.store.list_at("nodes", revision))
        return objects

    def unix_ms(self) -> int:
        """Return what time it is here, as Unix milliseconds on the wire: ages and renewals follow from it."""
        return session_unix_ms(self.store)

    def _now_ms(self) -> int:
        return self.unix_ms() - self.epoch_ms

    def _with_leases(self, objects: Sequence[Stored], nodes: Sequence[Stored]) -> Sequence[Stored]:
        now_ms = self._now_ms()
        places = {(stored.namespace, stored.name): stored for stored in objects}
        for node in nodes:
            places.setdefault((LEASE_NAMESPACE, node.name), self._lease(node, now_ms))
        return [places[place] for place in sorted(places)]

    def _lease(self, node: Stored, now_ms: int) -> Stored:
        document = node_lease(node.object, self.epoch_ms, now_ms)
        metadata = document["metadata"]
        return Stored(LEASES, LEASE_NAMESPACE, node.name, metadata["uid"], node.revision, msgspec.json.encode(document))


class PastView(ReadView):
    """A session as of a kept revision, shown as the API shows what is there now."""

    def __init__(self, store: SqlStore, revision: int) -> None:
        super().__init__(store)
        self._revision = revision

    @property
    def revision(self) -> int:
        """Return the revision that is shown."""
        return self._revision

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object as it was.

        Raises:
            Gone: that revision is compacted.
        """
        return next((one for one in self.list_at(resource, self._revision, namespace) if one.name == name), None)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision).

        Raises:
            Gone: that revision is compacted.
        """
        return self.list_at(resource, self._revision, namespace), self._revision

    def unix_ms(self) -> int:
        """Return what time it was.

        Raises:
            Gone: that revision is compacted.
        """
        return self.epoch_ms + self.store.ms_at(self._revision)


def check_writable(store: SqlStore, resource: str, namespace: str | None, name: str) -> None:
    """Refuse to write a computed object.

    Raises:
        ApiError: 405.
    """
    if resource == LEASES and namespace == LEASE_NAMESPACE and store.get("nodes", "", name) is not None:
        raise ApiError(
            405,
            "MethodNotAllowed",
            f"the Lease of node {name} is computed from its kubelet's state and cannot be written; stop the kubelet "
            "with the annotation clustersim.io/kubelet-stopped-at on the node",
        )
