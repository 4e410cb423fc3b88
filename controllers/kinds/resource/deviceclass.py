"""DeviceClasses: which devices a claim may mean by a name."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.resource import claims
from controllers.registry.kind import Kind
from scheduler_core.api.document import child
from scheduler_core.api.errors import Cause


def _defaults(document: dict[str, Any]) -> None:
    child(document, "spec")


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = claims.selectors("spec.selectors", spec.get("selectors") or ())
    return causes + claims.each("spec.config", spec.get("config") or (), claims.ITEMS_MAX, claims.config)


KIND: Final = Kind(
    "DeviceClass",
    "deviceclasses",
    group=claims.GROUP,
    metadata_looks="wc",
    kept_as="v1beta2",
    namespaced=False,
    rank=6,
    generation=True,
    whole_rules=True,
    returned_when_deleted=True,
    defaults=_defaults,
    rule_checks=2,
    validate=_validate,
    columns=(NAME, AGE),
)
