"""Locks of an earlier era: the record as an annotation of an Endpoints object or a ConfigMap.

Source: client-go `tools/leaderelection/resourcelock` `endpointslock.go` and `configmaplock.go`, removed in v0.24.
Everybody who watches Endpoints (each kube-proxy) hears of every renewal: that is why Leases came.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from controllers.leaderelection.elector import Create, Failed, Found, Missing, Record, Response, Update
from controllers.log import operations
from controllers.log.operations import Operation, Result
from controllers.log.stamps import unix_ms_of, wire_time
from controllers.log.store import Stored

ANNOTATION: Final = "control-plane.alpha.kubernetes.io/leader"
"""LeaderElectionRecordAnnotationKey."""


class AnnotatedLock:
    """One annotated object, as the lock of an election."""

    def __init__(self, kind: str, resource: str, namespace: str, name: str) -> None:
        """Name the object."""
        self.kind = kind
        self.resource = resource
        self.resources: tuple[str, ...] = (resource,)
        self.namespace = namespace
        self.name = name

    def describe(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def read(self, read: Callable[[str, str, str], Stored | None]) -> Response:
        """Return the answer to a `Get`."""
        stored = read(self.resource, self.namespace, self.name)
        return Missing() if stored is None else _found(stored.object)

    def write(self, request: Create | Update) -> Operation:
        """Return the operation that a request asks for."""
        annotations = {ANNOTATION: _encoded(request.record)}
        if isinstance(request, Create):
            metadata = {"name": self.name, "namespace": self.namespace, "annotations": annotations}
            document = {"apiVersion": "v1", "kind": self.kind, "metadata": metadata}
            return operations.Create(self.resource, self.namespace, document)
        patch = {"metadata": {"resourceVersion": request.version, "annotations": annotations}}
        return operations.Patch(self.resource, self.namespace, self.name, patch)

    def written(self, result: Result, read: Callable[[str, str, str], Stored | None]) -> Operation | Response:
        """Return the answer to the request that had this result."""
        if result.object is None:
            return Failed(conflict=result.error is not None and result.error.code == 409)
        return _found(result.object)


def _encoded(record: Record) -> str:
    return json.dumps(
        {
            "holderIdentity": record.holder,
            "leaseDurationSeconds": record.lease_duration_seconds,
            "acquireTime": wire_time(record.acquire_ms),
            "renewTime": wire_time(record.renew_ms),
            "leaderTransitions": record.transitions,
        },
        separators=(",", ":"),
    )


def _found(document: dict[str, Any]) -> Found:
    metadata = document["metadata"]
    return Found(_decoded((metadata.get("annotations") or {}).get(ANNOTATION)), metadata["resourceVersion"])


def _decoded(text: str | None) -> Record:
    """Return what an annotation holds; one that is missing or no record is a lock that nobody holds."""
    try:
        record = json.loads(text or "")
        return Record(
            holder=str(record["holderIdentity"]),
            lease_duration_seconds=int(record["leaseDurationSeconds"]),
            acquire_ms=unix_ms_of(record["acquireTime"]),
            renew_ms=unix_ms_of(record["renewTime"]),
            transitions=int(record["leaderTransitions"]),
        )
    except (ValueError, KeyError, TypeError):
        return Record("", 0, 0, 0, 0)
