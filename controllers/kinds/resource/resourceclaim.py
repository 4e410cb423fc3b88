"""ResourceClaims: devices that pods share or have to themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.resource import claims, claimstatus
from controllers.registry import internal
from controllers.registry.kind import Column, Kind, Lookup
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    child(child(document, "spec"), "devices").setdefault("requests", None)
    claims.defaults(document["spec"])


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    return claims.admin_access(document, at(document, "spec", "devices", "requests") or (), lookup)


def _validate(document: dict[str, Any]) -> list[Cause]:
    return claims.spec("spec", document["spec"])


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    # Upstream looks at the spec once more behind this.
    return internal.immutable("spec", new["spec"], old.get("spec"), "resource.ResourceClaimSpec") + _validate(new)


def _state(document: Mapping[str, Any], age: Any) -> str:
    leaving = "deletionTimestamp" in document["metadata"]
    states = ["deleted"] if leaving else []
    if at(document, "status", "allocation") is None:
        states += [] if leaving else ["pending"]
    else:
        states += ["allocated", "reserved"] if at(document, "status", "reservedFor") else ["allocated"]
    return ",".join(states)


KIND: Final = Kind(
    "ResourceClaim",
    "resourceclaims",
    metadata_looks="wc",
    component_verbs=frozenset({"update", "patch"}),
    group=claims.GROUP,
    kept_as="v1beta2",
    subresources=(replace(STATUS_ONLY, complete=claimstatus.complete, part_rules=claimstatus.rules),),
    rank=30,
    whole_rules=True,
    returned_when_deleted=True,
    prepare=_prepare,
    defaults=_defaults,
    admit=_admit,
    validate=_validate,
    validate_update=_validate_update,
    columns=(
        NAME,
        Column("State", "string", "A summary of the current state (allocated, pending, reserved, etc.).", _state),
        AGE,
    ),
)
