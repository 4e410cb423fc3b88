"""What an election locks: a Lease today; Endpoints and ConfigMaps, alone or paired with a Lease, before.

Source: client-go `tools/leaderelection/resourcelock` (until v0.23 for the annotated locks, v0.27 for the pairs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from controllers.leaderelection.annotated import AnnotatedLock
from controllers.leaderelection.elector import Create, Response, Update
from controllers.leaderelection.lease import LeaseLock
from controllers.leaderelection.pair import PairLock
from controllers.log.operations import Operation, Result
from controllers.log.store import Stored

Read = Callable[[str, str, str], Stored | None]
"""(group resource, namespace, name) → what is stored."""


class Lock(Protocol):
    """Where replicas of one component agree who leads. One value serves one elector, one request at a time."""

    @property
    def kind(self) -> str:
        """Return the kind that events about the election name."""

    @property
    def resource(self) -> str:
        """Return the group resource that events about the election name."""

    @property
    def resources(self) -> tuple[str, ...]:
        """Return the group resources of which each renewal writes an object."""

    @property
    def namespace(self) -> str:
        """Return the lock's namespace."""

    @property
    def name(self) -> str:
        """Return the lock's name."""

    def describe(self) -> str:
        """Return `namespace/name`."""

    def read(self, read: Read) -> Response:
        """Return the answer to a `Get`."""

    def write(self, request: Create | Update) -> Operation:
        """Return the first operation that a request asks for."""

    def written(self, result: Result, read: Read) -> Operation | Response:
        """Return the operation that follows on the result of the last one, or the answer to the request."""


_MAKERS: Final[dict[str, Callable[[str, str, str], Lock]]] = {
    "leases": lambda namespace, name, identity: LeaseLock(namespace, name),
    "endpoints": lambda namespace, name, identity: AnnotatedLock("Endpoints", "endpoints", namespace, name),
    "configmaps": lambda namespace, name, identity: AnnotatedLock("ConfigMap", "configmaps", namespace, name),
    "endpointsleases": lambda namespace, name, identity: PairLock(
        AnnotatedLock("Endpoints", "endpoints", namespace, name), LeaseLock(namespace, name), identity
    ),
    "configmapsleases": lambda namespace, name, identity: PairLock(
        AnnotatedLock("ConfigMap", "configmaps", namespace, name), LeaseLock(namespace, name), identity
    ),
}


def new_lock(kind: str, namespace: str, name: str, identity: str) -> Lock:
    """Return the lock of one candidate.

    Args:
        kind: a value of the flag `leader-elect-resource-lock`.
        namespace: the lock's.
        name: the lock's.
        identity: the candidate's.

    Raises:
        KeyError: no such kind.
    """
    return _MAKERS[kind](namespace, name, identity)


def about(lock: Lock, stored: Stored | None) -> dict[str, Any]:
    """Return what an event about a lock refers to."""
    if stored is not None:
        return stored.object
    version = "coordination.k8s.io/v1" if lock.kind == "Lease" else "v1"
    return {"apiVersion": version, "metadata": {"name": lock.name, "namespace": lock.namespace}}
