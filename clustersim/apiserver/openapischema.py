"""The structs that validate, as OpenAPI v3 tells them: what their fields hold, how they merge, what stands for nothing.

Source: k8s.io/kube-openapi/pkg/generators (which default, enum and list type a field is published with).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from controllers.registry import goorder, merging
from controllers.registry.fieldowners.types import published_default
from controllers.registry.published import ZEROS
from controllers.registry.schema import FieldType, Model, is_model, model

META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_RAW: Final = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_REF: Final = "#/components/schemas/"
_ENUMS: Final = Path(__file__).with_name("enums.txt")

_EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer", "format": "int64"},
    "number": {"type": "number", "format": "double"},
    "boolean": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
}
_NAMED: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "time": (f"{META}.Time", {"type": "string", "format": "date-time"}),
    "micro-time": (f"{META}.MicroTime", {"type": "string", "format": "date-time"}),
    "any": (_RAW, {"type": "object"}),
    "nothing": (f"{_EXTENSIONS}.CustomResourceSubresourceStatus", {"type": "object"}),
    "fields": (f"{META}.FieldsV1", {"type": "object"}),
    "quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {"oneOf": [{"type": "string"}, {"type": "number"}]},
    ),
    "int-or-string": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    ),
}
"""Scalars that have a name of their own in upstream's documents."""

_SCHEMA: Final = "apiextensions_v1.JSONSchemaProps"
_IN_SCHEMA: Final = {
    "default": "JSON",
    "example": "JSON",
    "enum": "JSON",
    "items": "JSONSchemaPropsOrArray",
    "additionalItems": "JSONSchemaPropsOrBool",
    "additionalProperties": "JSONSchemaPropsOrBool",
    "dependencies": "JSONSchemaPropsOrStringArray",
    "definitions": "JSONSchemaProps",
    "patternProperties": "JSONSchemaProps",
    "properties": "JSONSchemaProps",
}
"""Fields of a schema whose values are read as anything, by what upstream calls them."""

_DESCRIBED: Final = {
    "JSON": "Any value of JSON.",
    "JSONSchemaPropsOrArray": "A schema, or a list of schemas.",
    "JSONSchemaPropsOrBool": "A schema, or whether anything is allowed.",
    "JSONSchemaPropsOrStringArray": "A schema, or names of properties.",
}

_EXTRA: Final = "map[string]v1.ExtraValue"

_PACKAGES: Final = {
    "meta_v1": META,
    "core_v1": "io.k8s.api.core.v1",
    "apps_v1": "io.k8s.api.apps.v1",
    "coordination_v1": "io.k8s.api.coordination.v1",
    "scheduling_v1": "io.k8s.api.scheduling.v1",
    "events_v1": "io.k8s.api.events.v1",
    "apiextensions_v1": _EXTENSIONS,
    "apiregistration_v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    "clustersim_v1": "io.clustersim.v1",
}


def name_of(key: str) -> str:
    """Return what a struct (`core_v1.Pod`) is called in upstream's documents."""
    module, _, name = key.partition(".")
    return f"{_PACKAGES.get(module, 'io.k8s.api.' + module.replace('_', '.'))}.{name}"


def add(key: str, schemas: dict[str, Any]) -> None:
    """Add a struct and everything that it refers to."""
    name = name_of(key)
    if name in schemas or not is_model(key):
        return
    struct = model(key)
    schemas[name] = {}
    properties: dict[str, Any] = {}
    for field in struct.fields.values():
        properties[field.name] = _property(struct, field)
        if named := _named(field, key):
            schemas.setdefault(*named)
        if field.model:
            add(field.model, schemas)
    entry: dict[str, Any] = {"type": "object", "description": struct.description, "properties": properties}
    places = goorder.place_of(key)
    required = [field.name for field in struct.fields.values() if field.required]
    if required:
        entry["required"] = sorted(required, key=lambda one: (places.get(one, 0), one))
    if struct.open:
        entry["x-kubernetes-preserve-unknown-fields"] = True
    if key in merging.ATOMIC_STRUCTS:
        entry["x-kubernetes-map-type"] = "atomic"
    if key in _unions():
        entry["x-kubernetes-unions"] = [_unions()[key]]
    schemas[name] = entry


INFO: Final = {"title": "Kubernetes", "version": "1.34"}
"""What each document calls itself."""

SECURITY: Final = {
    "BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }
}
"""How who asks is known, as each document says it."""


def note_kind(key: str, names: tuple[str, str, str], schemas: dict[str, Any]) -> None:
    """Say of a struct that it is a kind: its group, version and name."""
    group, version, kind = names
    told = schemas.get(name_of(key))
    if told is not None:
        told["x-kubernetes-group-version-kind"] = [{"group": group, "kind": kind, "version": version}]


@cache
def enums() -> dict[tuple[str, str], list[str]]:
    """Return the texts that a field may hold, or each value of a list or map, by struct and field."""
    found: dict[tuple[str, str], list[str]] = {}
    for struct, fields in _lines():
        if " by " not in struct:
            found.update({(struct, name): texts.split("|") for name, texts in fields})
    return found


@cache
def _unions() -> dict[str, dict[str, Any]]:
    """Return the structs of which one field is set, with the field that says which."""
    found: dict[str, dict[str, Any]] = {}
    for struct, fields in _lines():
        name, by, tells = struct.partition(" by ")
        if by:
            found[name] = {"discriminator": tells, "fields-to-discriminateBy": dict(fields)}
    return found


def _lines() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield what the table says: (struct, [(field, text)])."""
    for line in _ENUMS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            struct, _, fields = line.partition(": ")
            parts = [field.partition(" ") for field in fields.split(", ")]
            yield struct, [(name, text) for name, _, text in parts]


def _named(field: FieldType, struct: str) -> tuple[str, dict[str, Any]] | None:
    """Return name and schema of a scalar that has a name of its own."""
    if struct == _SCHEMA and field.name in _IN_SCHEMA:
        called = _IN_SCHEMA[field.name]
        return f"{_EXTENSIONS}.{called}", {"description": _DESCRIBED.get(called, "")}
    if field.scalar is None or field.scalar in _SCALARS or field.go == _EXTRA:
        return None
    return _NAMED["fields" if field.go == "v1.FieldsV1" else field.scalar]


def _property(struct: Model, field: FieldType) -> dict[str, Any]:
    place = struct.key, field.name
    told: dict[str, Any]
    if field.container == "list":
        told = {"type": "array", "items": _value(field, place)}
        merge_key = merging.MERGE_KEYS.get(place)
        if merge_key:
            told["x-kubernetes-patch-merge-key"] = merge_key
        if place in merging.LIST_TYPES:
            told["x-kubernetes-list-type"] = merging.LIST_TYPES[place]
            if merging.LIST_TYPES[place] == "map":
                told["x-kubernetes-list-map-keys"] = list(merging.LIST_KEYS[place])
    elif field.container == "map":
        told = {"type": "object", "additionalProperties": _value(field, place)}
    else:
        told = _plain(field, place, bare=False)
        default = published_default(struct.key, field.name)
        if default is not None:
            told["default"] = default
    if place in merging.STRATEGIES:
        told["x-kubernetes-patch-strategy"] = merging.STRATEGIES[place]
    if place in merging.ATOMIC_MAPS or place in merging.GRANULAR:
        told["x-kubernetes-map-type"] = "atomic" if place in merging.ATOMIC_MAPS else "granular"
    description = struct.descriptions.get(field.name)
    if description:
        told["description"] = description
    # What refers to another and says nothing else refers at once.
    return told["allOf"][0] if told.keys() == {"allOf"} else told


def _value(field: FieldType, place: tuple[str, str]) -> dict[str, Any]:
    """Return what a list or map holds: each value is there, if only as its zero."""
    if field.go == _EXTRA:
        return {"type": "array", "items": {"type": "string", "default": ""}}
    told = _plain(field, place, bare=True)
    if field.model or (place[0] == _SCHEMA and _IN_SCHEMA.get(place[1]) == "JSONSchemaProps"):
        told = {"allOf": [told], "default": {}} if "$ref" in told else {**told, "default": {}}
    elif field.scalar in ZEROS:
        told["default"] = ZEROS[field.scalar]
    return told


def _plain(field: FieldType, place: tuple[str, str], *, bare: bool) -> dict[str, Any]:
    """Return one value of a field; `bare`: what refers to a named scalar says nothing else."""
    named = _named(field, place[0])
    if named is not None:
        reference = {"$ref": f"{_REF}{named[0]}"}
        return reference if bare else {"allOf": [reference]}
    if field.scalar is None:
        return {"allOf": [{"$ref": f"{_REF}{name_of(field.model)}"}]}
    told = dict(_SCALARS[field.scalar])
    if field.scalar == "integer" and field.go.endswith("int32"):
        told["format"] = "int32"
    texts = enums().get(place)
    if texts:
        told["enum"] = texts
    return told
