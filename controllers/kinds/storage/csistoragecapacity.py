"""CSIStorageCapacities: how much room a class has in a part of the cluster.

Source: pkg/apis/storage (defaults, validation), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import CREATED_AT, NAME
from controllers.kinds.core.pod import warnings
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause


def _capacity(document: dict[str, Any]) -> list[Cause]:
    name = document.get("storageClassName") or ""
    causes = fields.label_selector("nodeTopology", document.get("nodeTopology"))
    causes += fields.subdomain("storageClassName", name)
    amount = document.get("capacity")
    if amount is not None and quantity.nano(amount) < 0:
        causes.append(fields.bad("capacity", amount, "must be greater than or equal to 0"))
    return causes


def _capacity_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    topology, before = new.get("nodeTopology"), old.get("nodeTopology")
    shown = None if topology is None else fields.shown_selector(topology)
    causes = [] if topology == before else [fields.bad("nodeTopology", shown, "field is immutable")]
    return causes + fields.immutable("storageClassName", new.get("storageClassName") or "", old["storageClassName"])


KIND: Final = Kind(
    "CSIStorageCapacity",
    "csistoragecapacities",
    group="storage.k8s.io",
    students=False,
    whole_rules=True,
    validate=_capacity,
    validate_update=_capacity_update,
    warns=lambda document: warnings.deprecated_keys("nodeTopology", document.get("nodeTopology") or {}),
    unconditional=False,
    columns=(
        NAME,
        CREATED_AT,
    ),
)
