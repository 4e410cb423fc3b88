"""ResourceClaimTemplates: from which each pod gets a claim of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.resource import claims
from controllers.registry import internal, metadata
from controllers.registry.kind import Kind, Lookup
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    child(spec, "metadata")
    child(child(spec, "spec"), "devices").setdefault("requests", None)
    claims.defaults(spec["spec"])


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    return claims.admin_access(document, at(document, "spec", "spec", "devices", "requests") or (), lookup)


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    return metadata.of_template("spec.metadata", spec["metadata"]) + claims.spec("spec.spec", spec["spec"])


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    # Upstream looks at the spec once more behind this.
    fixed = internal.immutable("spec", new["spec"], old.get("spec"), "resource.ResourceClaimTemplateSpec")
    return fixed + _validate(new)


KIND: Final = Kind(
    "ResourceClaimTemplate",
    "resourceclaimtemplates",
    group=claims.GROUP,
    metadata_looks="wc",
    kept_as="v1beta2",
    rank=29,
    whole_rules=True,
    returned_when_deleted=True,
    defaults=_defaults,
    admit=_admit,
    validate=_validate,
    validate_update=_validate_update,
    columns=(NAME, AGE),
)
