"""ResourceSlices: devices that a driver offers, on one node, on some, or anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, text_of
from controllers.kinds.core import scheduling
from controllers.kinds.resource import claims
from controllers.kinds.storage.common import driver_name
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

DEVICES_MAX: Final = 128
"""Devices of one slice, as upstream."""

ATTRIBUTES_MAX: Final = 32
"""Attributes and capacities of one device together, as upstream."""

_VALUE_BYTES_MAX: Final = 64
_KEY_CHARS_MAX: Final = 96
_PLACES: Final = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_VERSION: Final = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
_STRUCT: Final = "resource_v1.ResourceSliceSpec"


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("devices", None)


def _validate(document: dict[str, Any]) -> list[Cause]:
    return _spec(document["spec"], [])


def _spec(spec: Mapping[str, Any], fixed: list[Cause]) -> list[Cause]:
    """Check a spec; `fixed` is what a change must not change, and stands in the middle."""
    causes = driver_name("spec.driver", spec.get("driver") or "")
    causes += _pool("spec.pool", spec.get("pool") or {}) + fixed + _places(spec)
    return causes + claims.distinct("spec.devices", spec["devices"] or (), DEVICES_MAX, _device)


def _places(spec: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    said = []
    for key in _PLACES:
        value = spec.get(key)
        if value is None:
            continue
        if value is False:
            causes.append(fields.bad(f"spec.{key}", value, "must be either unset or set to true"))
            continue
        if value == "":
            causes.append(fields.bad(f"spec.{key}", value, "must be either unset or set to a non-empty string"))
            continue
        said.append(f"`{key}`")
    if spec.get("nodeName"):
        causes += fields.subdomain("spec.nodeName", spec["nodeName"])
    if spec.get("nodeSelector") is not None:
        causes += scheduling.node_selector("spec.nodeSelector", spec["nodeSelector"])
        terms = spec["nodeSelector"].get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            told = internal.shown(terms, "[]core.NodeSelectorTerm") if terms else terms
            why = "must have exactly one node selector term"
            causes.append(fields.bad("spec.nodeSelector.nodeSelectorTerms", told, why))
    if not said:
        causes.append(fields.required("spec", _ONE_PLACE))
    elif len(said) > 1:
        causes.append(fields.bad("spec", "{" + ", ".join(said) + "}", f"{_ONE_PLACE}, but multiple fields are set"))
    return causes


def _pool(where: str, pool: Mapping[str, Any]) -> list[Cause]:
    causes = claims.pool_name(f"{where}.name", pool.get("name") or "")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        causes.append(fields.bad(f"{where}.resourceSliceCount", count, "must be greater than zero"))
    if generation < 0:
        causes.append(fields.bad(f"{where}.generation", generation, "must be greater than or equal to zero"))
    return causes


def _device(where: str, device: Mapping[str, Any]) -> list[Cause]:
    causes = fields.label_name(f"{where}.name", device.get("name") or "")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    if len(attributes) + len(capacity) > ATTRIBUTES_MAX:
        why = f"the total number of attributes and capacities must not exceed {ATTRIBUTES_MAX}"
        causes.append(fields.bad(where, len(attributes) + len(capacity), why))
    for name, attribute in sorted(attributes.items()):
        place = f"{where}.attributes[{_shortened(name)}]"
        causes += claims.attribute_name(place, name) + _attribute(place, attribute)
    for name in sorted(capacity):
        causes += claims.attribute_name(f"{where}.capacity[{_shortened(name)}]", name)
    return causes


def _shortened(key: str) -> str:
    """Return a key as places tell it: without its middle where it is too long (truncateIfTooLong)."""
    left = _KEY_CHARS_MAX - len("...")
    return key if len(key) <= _KEY_CHARS_MAX else f"{key[: (left + 1) // 2]}...{key[len(key) - left // 2 :]}"


def _attribute(where: str, attribute: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    said = [key for key in ("bool", "int", "string", "version") if key in attribute]
    for key in ("string", "version"):
        text = str(attribute.get(key) or "")
        if key == "version" and key in attribute and not _VERSION.fullmatch(text):
            why = "must be a string compatible with semver.org spec 2.0.0"
            causes.append(fields.bad(f"{where}.version", text, why))
        if len(text.encode()) > _VALUE_BYTES_MAX:
            causes.append(fields.too_long(f"{where}.{key}", _VALUE_BYTES_MAX))
    if not said:
        causes.append(fields.required(where, "exactly one value must be specified"))
    elif len(said) > 1:
        told = internal.shown(attribute, "resource.DeviceAttribute")
        causes.append(fields.bad(where, told, "exactly one value must be specified"))
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    fixed: list[Cause] = []
    for path in (("pool", "name"), ("driver",)):
        field = ".".join(("spec", *path))
        fixed += fields.immutable(field, at(new, "spec", *path) or "", at(old, "spec", *path) or "")
    fixed += fields.immutable("spec.nodeName", at(new, "spec", "nodeName"), at(old, "spec", "nodeName"))
    return _spec(new["spec"], fixed)


KIND: Final = Kind(
    "ResourceSlice",
    "resourceslices",
    group=claims.GROUP,
    kept_as="v1beta2",
    namespaced=False,
    rank=28,
    generation=True,
    generation_counts_off=True,
    components=True,
    whole_rules=True,
    returned_when_deleted=True,
    defaults=_defaults,
    rule_checks=0,
    validate=_validate,
    validate_update=_validate_update,
    metadata_looks="c",
    columns=(
        NAME,
        Column("Node", "string", "Where they are.", text_of("spec", "nodeName"), source=f"{_STRUCT}#nodeName"),
        Column("Driver", "string", "Who offers them.", text_of("spec", "driver"), source=f"{_STRUCT}#driver"),
        Column(
            "Pool",
            "string",
            "What they belong to.",
            text_of("spec", "pool", "name"),
            source="resource_v1.ResourcePool#name",
        ),
        AGE,
    ),
    unselectable="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
    selectable={
        "spec.nodeName": lambda doc: str(at(doc, "spec", "nodeName") or ""),
        "spec.driver": lambda doc: str(at(doc, "spec", "driver") or ""),
    },
)
