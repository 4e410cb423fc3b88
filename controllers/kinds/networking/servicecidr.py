"""ServiceCIDRs: from which range the addresses of Services are given out. The cluster's own is computed.

Source: pkg/apis/networking (validation), pkg/registry/networking/servicecidr, pkg/controlplane/controller/
defaultservicecidr, pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.core.service_addresses import CLUSTER_RANGE
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry import addresses, fields, internal
from controllers.registry.computed import Computed, Facts
from controllers.registry.kind import Column, Kind
from controllers.registry.standing import standing
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

DEFAULT: Final = "kubernetes"
"""The name of the cluster's own."""

PROTECTED: Final = "networking.k8s.io/service-cidr-finalizer"
"""Keeps a range as long as addresses out of it are in use: a controller manager gives it to each that has none."""

_FIELD: Final = "spec.cidrs"
_FAMILIES: Final = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
_IMMUTABLE: Final = "field is immutable"


def _spec(document: Mapping[str, Any]) -> list[Cause]:
    cidrs = at(document, "spec", "cidrs") or []
    if not cidrs:
        return [fields.required(_FIELD, "at least one CIDR required")]
    if len(cidrs) > 2:
        return [
            fields.bad(
                _FIELD, internal.shown(document["spec"], "networking.ServiceCIDRSpec"), "may only hold up to 2 values"
            )
        ]
    causes = [cause for index, cidr in enumerate(cidrs) for cause in addresses.strict_block(f"{_FIELD}[{index}]", cidr)]
    families = [found.version for cidr in cidrs if (found := addresses.network(cidr)) is not None]
    if len(families) == 2 and families[0] == families[1]:
        causes.append(fields.bad(_FIELD, cidrs, _FAMILIES))
    return causes


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _changed(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    cidrs, before = at(new, "spec", "cidrs") or [], at(old, "spec", "cidrs") or []
    if (len(before), len(cidrs)) != (1, 2) and len(before) != len(cidrs):
        return [fields.bad(_FIELD, at(new, "spec", "cidrs"), _IMMUTABLE)]
    causes = [
        fields.bad(f"{_FIELD}[{index}]", cidrs[index], _IMMUTABLE)
        for index, cidr in enumerate(before)
        if cidrs[index] != cidr
    ]
    return causes + (_spec(new) if len(before) < len(cidrs) else [])


def _own(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield the cluster's own, from which the addresses of its Services are."""
    if name not in ("", DEFAULT):
        return
    began = wire_time(facts.epoch_ms)
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": began,
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
    }
    document = {
        "apiVersion": KIND.api_version,
        "kind": KIND.kind,
        "metadata": {"name": DEFAULT, "finalizers": [PROTECTED]},
        "spec": {"cidrs": [str(CLUSTER_RANGE)]},
        "status": {"conditions": [ready]},
    }
    yield standing(facts, KIND.resource, document)


KIND: Final = Kind(
    "ServiceCIDR",
    "servicecidrs",
    group="networking.k8s.io",
    namespaced=False,
    subresources=(STATUS_ONLY,),
    rank=5,
    whole_rules=True,
    metadata_looks="c",
    prepare=_prepare,
    asks=True,
    ratchets=True,
    validate=_spec,
    validate_update=_changed,
    computed=Computed(_own, "the ServiceCIDR {name} is computed and cannot be written"),
    columns=(
        NAME,
        Column(
            "CIDRs",
            "string",
            "",
            lambda document, age: ",".join(at(document, "spec", "cidrs") or ()),
            source="networking_v1.ServiceCIDRSpec#cidrs",
        ),
        AGE,
    ),
)
