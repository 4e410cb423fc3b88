"""CSINodes: which CSI drivers run on a node.

Source: pkg/apis/storage (defaults, validation), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.storage.common import driver_name
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _node_defaults(document: dict[str, Any]) -> None:
    # Upstream keeps no list that is empty, and writes this one all the same.
    spec = child(document, "spec")
    spec["drivers"] = spec.get("drivers") or None


def _node(document: dict[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, driver in enumerate(document["spec"].get("drivers") or ()):
        where, name = f"spec.drivers[{index}]", driver.get("name") or ""
        causes += driver_name(f"{where}.name", name)
        node = driver.get("nodeID") or ""
        causes += [] if node else [fields.required(f"{where}.nodeID")]
        if len(node) > 256:
            causes.append(fields.bad(f"{where}.nodeID", node, "must be 256 characters or less"))
        causes += fields.non_negative(f"{where}.allocatable.count", at(driver, "allocatable", "count"))
        causes += [fields.duplicate(f"{where}.name", name)] if name in seen else []
        seen.add(name)
        keys = driver.get("topologyKeys") or []
        for position, key in enumerate(keys):
            causes += [] if key else [fields.required(where)]
            causes += [fields.duplicate(where, key)] if key in keys[:position] else []
            causes += fields.qualified_name(where, key)
    return causes


def _node_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse to change what a driver once said; drivers come and go."""
    return [
        cause
        for known in old["spec"].get("drivers") or ()
        for driver in new["spec"].get("drivers") or ()
        if driver.get("name") == known.get("name")
        for cause in internal.immutable("spec.drivers", driver, known, "storage.CSINodeDriver")
    ]


KIND: Final = Kind(
    "CSINode",
    "csinodes",
    group="storage.k8s.io",
    namespaced=False,
    defaults=_node_defaults,
    rule_checks=2,
    validate=_node,
    validate_update=_node_update,
    whole_rules=True,
    returned_when_deleted=True,
    metadata_looks="ww",
    unconditional=False,
    columns=(
        NAME,
        Column(
            "Drivers",
            "integer",
            "Drivers indicates the number of CSI drivers registered on the node",
            lambda doc, age: len(at(doc, "spec", "drivers") or ()),
        ),
        AGE,
    ),
)
