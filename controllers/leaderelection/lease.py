"""The Lease lock: LeaderElectionRecords as `coordination.k8s.io/v1` Leases, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from controllers.leaderelection.elector import Create, Failed, Found, Missing, Record, Response, Update
from controllers.log import operations
from controllers.log.operations import Operation, Result
from controllers.log.stamps import unix_ms_of, wire_micro_time
from controllers.log.store import Stored

RESOURCE: Final = "leases.coordination.k8s.io"


class LeaseLock:
    """One Lease, as the lock of an election."""

    kind: Final = "Lease"
    resource: Final = RESOURCE
    resources: Final = (RESOURCE,)

    def __init__(self, namespace: str, name: str) -> None:
        """Name the Lease."""
        self.namespace = namespace
        self.name = name

    def describe(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def read(self, read: Callable[[str, str, str], Stored | None]) -> Response:
        """Return the answer to a `Get`."""
        stored = read(RESOURCE, self.namespace, self.name)
        return Missing() if stored is None else self._found(stored.object)

    def write(self, request: Create | Update) -> Operation:
        """Return the operation that a request asks for."""
        spec = {
            "holderIdentity": request.record.holder,
            "leaseDurationSeconds": request.record.lease_duration_seconds,
            "acquireTime": wire_micro_time(request.record.acquire_ms),
            "renewTime": wire_micro_time(request.record.renew_ms),
            "leaseTransitions": request.record.transitions,
        }
        if isinstance(request, Create):
            metadata = {"name": self.name, "namespace": self.namespace}
            document = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
            return operations.Create(RESOURCE, self.namespace, document)
        patch = {"metadata": {"resourceVersion": request.version}, "spec": spec}
        return operations.Patch(RESOURCE, self.namespace, self.name, patch)

    def written(self, result: Result, read: Callable[[str, str, str], Stored | None]) -> Operation | Response:
        """Return the answer to the request that had this result."""
        if result.object is None:
            return Failed(conflict=result.error is not None and result.error.code == 409)
        return self._found(result.object)

    @staticmethod
    def _found(document: dict[str, Any]) -> Found:
        spec = document.get("spec") or {}
        record = Record(
            holder=spec.get("holderIdentity") or "",
            lease_duration_seconds=spec.get("leaseDurationSeconds") or 0,
            acquire_ms=_unix_ms(spec.get("acquireTime")),
            renew_ms=_unix_ms(spec.get("renewTime")),
            transitions=spec.get("leaseTransitions") or 0,
        )
        return Found(record, document["metadata"]["resourceVersion"])


def _unix_ms(text: str | None) -> int:
    return unix_ms_of(text) if text else 0
