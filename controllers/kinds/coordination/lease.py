"""Leases: who holds a lock, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.coordination.apiservers import NAMESPACE, api_servers, lease_of
from controllers.kinds.coordination.heartbeat import LEASE_NAMESPACE, node_lease
from controllers.log.store import Stored
from controllers.registry import fields
from controllers.registry.computed import Computed, Facts
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause


def _defaults(document: dict[str, Any]) -> None:
    document.setdefault("spec", {})


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        causes.append(fields.bad("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    causes += fields.non_negative("spec.leaseTransitions", spec.get("leaseTransitions"))
    return causes


def _of_nodes(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield the Leases by which kubelets say that they are alive."""
    if namespace not in (None, LEASE_NAMESPACE):
        return
    node = facts.get("nodes", "", name) if name else None
    now_ms = facts.unix_ms() - facts.epoch_ms
    for one in facts.list("nodes")[0] if not name else () if node is None else (node,):
        lease = node_lease(one.object, facts.epoch_ms, now_ms)
        data = msgspec.json.encode(lease)
        yield Stored(KIND.resource, LEASE_NAMESPACE, one.name, lease["metadata"]["uid"], one.revision, data)


def _of_api_servers(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield the Leases by which API servers say that they are there."""
    if namespace not in (None, NAMESPACE) or (name and not name.startswith("apiserver-")):
        return
    nodes = [stored.object for stored in facts.list("nodes")[0]]
    for server in api_servers(nodes, facts.epoch_ms):
        if name in ("", server.lease):
            lease = lease_of(server, facts.unix_ms())
            data = msgspec.json.encode(lease)
            yield Stored(KIND.resource, NAMESPACE, server.lease, lease["metadata"]["uid"], 1, data)


def _computed(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    yield from _of_nodes(facts, namespace, name)
    yield from _of_api_servers(facts, namespace, name)


_FIXED: Final = (
    "the Lease {name} is computed from the state of the machine that holds it and cannot be written; stop the kubelet "
    "with the annotation clustersim.io/kubelet-stopped-at on the node"
)

KIND: Final = Kind(
    "Lease",
    "leases",
    group="coordination.k8s.io",
    components=True,
    computed=Computed(_computed, _FIXED),
    exported=False,
    made_by_put=True,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    any_finalizers=True,
    metadata_looks="c",
    unconditional=False,
    columns=(
        NAME,
        Column(
            "Holder",
            "string",
            "",
            lambda doc, age: at(doc, "spec", "holderIdentity") or "",
            source="coordination_v1.LeaseSpec#holderIdentity",
        ),
        AGE,
    ),
    page={"spec": True},
)
