"""What is wrong with a schema: its structure, its defaults, and what may stand in it.

Source: k8s.io/apiextensions-apiserver (pkg/apiserver/schema/defaulting/validation.go; pkg/apis/apiextensions/
validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from controllers.custom import shaping
from controllers.custom.embedded import embedded_causes
from controllers.custom.formats import FORMATS, plain
from controllers.custom.node import META, read
from controllers.custom.rules import default_causes, leads, rule_causes
from controllers.custom.structural import complete, foreign, invariants
from controllers.custom.values import below
from controllers.custom.values import validate as value_causes
from controllers.custom.walking import Schema, children, count
from controllers.registry import fields
from scheduler_core.api.errors import Cause

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
NODES_MAX: Final = 20_000
"""Parts of the schema of one version; a larger one is refused: each costs some kilobytes of memory."""

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_AT_ROOT: Final = {
    "description": "Description",
    "type": "Type",
    "format": "Format",
    "title": "Title",
    "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum",
    "minimum": "Minimum",
    "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength",
    "minLength": "MinLength",
    "pattern": "Pattern",
    "maxItems": "MaxItems",
    "minItems": "MinItems",
    "uniqueItems": "UniqueItems",
    "multipleOf": "MultipleOf",
    "required": "Required",
    "items": "Items",
    "properties": "Properties",
    "externalDocs": "ExternalDocs",
    "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
    "x-kubernetes-validations": "XValidations",
}
"""What may stand at the root where the status is a part of its own, and what Go calls it."""

_UNSUPPORTED: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_UNSUPPORTED_EMPTY: Final = ("additionalItems", "$ref")
"""What counts where it is empty, too."""


def unknown_formats(schema: Schema) -> list[str]:
    """Return the formats of texts that nobody looks at."""
    own = schema.get("format") or ""
    found = [own] if own and schema.get("type") == "string" and plain(own) not in FORMATS else []
    return found + [name for _, one in children(schema) for name in unknown_formats(one)]


def schema_causes(schema: Schema, path: str, *, status: bool) -> list[Cause]:
    """Return what is wrong with the schema of a version; `status`: its status is a part of its own."""
    if count(schema) > NODES_MAX:
        return [fields.not_allowed(path, f"must have at most {NODES_MAX} parts")]
    causes = _root(schema, path) if status else []
    if schema.get("nullable"):
        causes.append(fields.not_allowed(f"{path}.nullable", "nullable cannot be true at the root"))
    why = foreign(schema)
    if not why:
        structural = sorted(
            invariants(schema, path, "root") + complete(schema, path), key=lambda one: (one.field, one.message)
        )
        causes += structural or _defaults(schema, path, root=True)
    causes += _allowed(schema, path, _Place(root=True))
    if why and not causes:
        causes.append(fields.bad(path, "", why))
    # Rules are read where the schema that they are about is good.
    return causes or rule_causes(schema, path)


def _root(schema: Schema, path: str) -> list[Cause]:
    told = " ".join(_AT_ROOT.values())
    for key in schema:
        if key == "type" and schema["type"] != "object":
            why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            return [fields.bad(f"{path}.type", schema["type"], why)]
        if key not in _AT_ROOT and schema[key] not in (None, False, [], {}, ""):
            why = f"only [{told}] fields are allowed at the root of the schema if the status subresource is enabled"
            return [fields.bad(path, schema, why)]
    return []


# Defaults have to be good values themselves.


def _defaults(schema: Schema, path: str, *, root: bool = False) -> list[Cause]:
    causes: list[Cause] = []
    if schema.get("default") is not None:
        causes += _default(schema, f"{path}.default", root=root)
    for part, one in children(schema):
        if part.startswith(("items", "additionalProperties", "properties[")):
            causes += _defaults(one, f"{path}.{part}")
    return causes


def _default(schema: Schema, path: str, *, root: bool = False) -> list[Cause]:
    default = schema["default"]
    node = read(schema)
    if inner := embedded_causes(default, node, path, root=root):
        return inner
    causes: list[Cause] = []
    if isinstance(default, dict | list):
        holder = {"value": msgspec.json.decode(msgspec.json.encode(default))}
        unknown: list[str] = []
        shaping.prune(holder["value"], node, "", unknown)
        if unknown:
            causes.append(fields.bad(path, default, "must not have unknown fields"))
    # Where it lies its sentences do not say.
    causes += [replace(one, field=below(path, one.field)) for one in value_causes(default, _of_defaults(schema))]
    return causes or default_causes(default, node, path)


def _of_defaults(schema: Schema) -> Schema:
    """Return a schema as defaults are asked about it: what may be a number or a text may be anything."""
    plain = {key: value for key, value in schema.items() if key != "x-kubernetes-int-or-string"}
    for key in ("items", "additionalProperties"):
        if isinstance(plain.get(key), Mapping):
            plain[key] = _of_defaults(plain[key])
    if plain.get("properties"):
        plain["properties"] = {name: _of_defaults(one) for name, one in plain["properties"].items()}
    return plain


# What may stand in it.


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a schema something stands."""

    root: bool = False
    inside_metadata: bool = False
    no_defaults: str | None = None
    """Why there may be no defaults; None: there may."""


def _allowed(schema: Schema, path: str, place: _Place) -> list[Cause]:
    causes = _plain(schema, path, place)
    more, properties = schema.get("additionalProperties"), schema.get("properties") or {}
    if more is not None:
        if properties and more is not True:
            why = "additionalProperties and properties are mutual exclusive"
            causes.append(fields.not_allowed(f"{path}.additionalProperties", why))
        if isinstance(more, Mapping):
            why = "inside additionalProperties applying to object metadata"
            inner = replace(place, root=False, no_defaults=why if place.inside_metadata else place.no_defaults)
            causes += _allowed(more, f"{path}.additionalProperties", inner)
    for name, one in properties.items():
        inner = replace(place, root=False)
        if (place.root or schema.get("x-kubernetes-embedded-resource")) and name in META:
            inner = replace(inner, inside_metadata=True)
            if place.root:
                inner = replace(inner, no_defaults=f"in top-level {name}")
        causes += _allowed(one, f"{path}.properties[{name}]", inner)
    for part, one in children(schema):
        if not part.startswith(("properties[", "additionalProperties", "additionalItems", "patternProperties")):
            causes += _allowed(one, f"{path}.{part}", replace(place, root=False))
    return causes + _extensions(schema, path) + _rules(schema, path)


def _plain(schema: Schema, path: str, place: _Place) -> list[Cause]:
    kind = schema.get("type") or ""
    causes: list[Cause] = []
    if kind and kind not in TYPES:
        causes.append(fields.unsupported(f"{path}.type", kind, TYPES))
    if schema.get("default") is not None and place.no_defaults is not None:
        causes.append(fields.not_allowed(f"{path}.default", f"must not be set {place.no_defaults}"))
    causes += [
        fields.not_allowed(f"{path}.{key}", f"{key} is not supported")
        for key in _UNSUPPORTED
        if schema.get(key) or (key in _UNSUPPORTED_EMPTY and schema.get(key) is not None)
    ]
    if kind == "null":
        why = "type cannot be set to null, use nullable as an alternative"
        causes.append(fields.not_allowed(f"{path}.type", why))
    if isinstance(schema.get("items"), list) and schema["items"]:
        causes.append(fields.not_allowed(f"{path}.items", "items must be a schema object and not an array"))
    if place.inside_metadata and schema.get("x-kubernetes-embedded-resource"):
        why = "must not be used inside of resource meta"
        causes.append(fields.not_allowed(f"{path}.x-kubernetes-embedded-resource", why))
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        causes.append(fields.not_allowed(f"{path}.uniqueItems", why))
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        causes.append(fields.bad(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined"))
    return causes


def _extensions(schema: Schema, path: str) -> list[Cause]:
    causes: list[Cause] = []
    kind = schema.get("type") or ""
    map_type, list_type = schema.get("x-kubernetes-map-type"), schema.get("x-kubernetes-list-type")
    for said, wanted, key in ((map_type, "object", "map"), (list_type, "array", "list")):
        if said is not None and kind != wanted:
            why = f"must be {wanted} if x-kubernetes-{key}-type is specified"
            causes.append(fields.bad(f"{path}.type", kind, why) if kind else fields.required(f"{path}.type", why))
    if map_type not in (None, "atomic", "granular"):
        causes.append(
            fields.unsupported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"), ordered=False)
        )
    items = schema.get("items") if isinstance(schema.get("items"), Mapping) else None
    if list_type == "set" and kind == "array" and items is not None:
        why = "must be atomic as item of a list with x-kubernetes-list-type=set"
        inner = items.get("x-kubernetes-list-type")
        if items.get("type") == "array" and inner not in (None, "atomic"):
            causes.append(fields.bad(f"{path}.items.x-kubernetes-list-type", inner, why))
        if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
            causes.append(fields.bad(f"{path}.items.x-kubernetes-map-type", inner, why))
    if list_type not in (None, "atomic", "set", "map"):
        types = ("atomic", "set", "map")
        causes.append(fields.unsupported(f"{path}.x-kubernetes-list-type", list_type, types, ordered=False))
    return causes + _list_map(schema, path, list_type, items)


def _list_map(schema: Schema, path: str, list_type: str | None, items: Schema | None) -> list[Cause]:
    keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys") or ()
    causes: list[Cause] = []
    where = f"{path}.x-kubernetes-list-map-keys"
    if keys and list_type != "map":
        why, field = "must be map if x-kubernetes-list-map-keys is non-empty", f"{path}.x-kubernetes-list-type"
        causes.append(fields.required(field, why) if list_type is None else fields.bad(field, list_type, why))
    if list_type == "map":
        if not keys:
            causes.append(fields.required(where, "must not be empty if x-kubernetes-list-type is map"))
        if items is None:
            why = "must have a schema if x-kubernetes-list-type is map"
            causes.append(fields.required(f"{path}.items", why))
        elif items.get("type") != "object":
            why = "must be object if parent array's x-kubernetes-list-type is map"
            causes.append(fields.bad(f"{path}.items.type", items.get("type") or "", why))
        else:
            causes += _keys(keys, items, path, where)
    if items is not None and list_type in ("set", "map"):
        if items.get("nullable"):
            why = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
            causes.append(fields.not_allowed(f"{path}.items.nullable", why))
        causes += _needed_keys(keys, items, f"{path}.items") if list_type == "map" else []
    return causes


def _keys(keys: Sequence[str], items: Schema, path: str, where: str) -> list[Cause]:
    causes: list[Cause] = []
    for index, key in enumerate(keys):
        found = (items.get("properties") or {}).get(key)
        if found is None:
            causes.append(fields.bad(where, list(keys), "entries must all be names of item properties"))
        elif found.get("type") in ("array", "object"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            causes.append(fields.bad(f"{path}.items.properties[{key}].type", items.get("type"), why))
        if key in keys[:index]:
            causes.append(fields.bad(where, list(keys), "must not contain duplicate entries"))
    return causes


def _needed_keys(keys: Sequence[str], items: Schema, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for key in keys:
        found = (items.get("properties") or {}).get(key)
        if found is None:
            continue
        if key not in (items.get("required") or ()) and found.get("default") is None:
            why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            causes.append(fields.required(f"{path}.properties[{key}].default", why))
        if found.get("nullable"):
            why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            causes.append(fields.not_allowed(f"{path}.properties[{key}].nullable", why))
    return causes


def _rules(schema: Schema, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        where = f"{path}.x-kubernetes-validations[{index}]"
        text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
        if not text:
            causes.append(fields.required(f"{where}.rule", "rule is not specified"))
        elif message and not message.strip():
            causes.append(fields.bad(f"{where}.message", message, "must be non-empty if specified"))
        elif _has_breaks(message.strip()):
            causes.append(fields.bad(f"{where}.message", message, "must not contain line breaks"))
        elif _has_breaks(text) and not message.strip():
            why = "message must be specified if rule contains line breaks"
            causes.append(fields.required(f"{where}.message", why))
        expression, place = rule.get("messageExpression") or "", rule.get("fieldPath") or ""
        if expression and not expression.strip():
            why = "messageExpression must be non-empty if specified"
            causes.append(fields.required(f"{where}.messageExpression", why))
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            causes.append(fields.unsupported(f"{where}.reason", reason, _REASONS))
        if place and not place.strip():
            causes.append(fields.bad(f"{where}.fieldPath", place, "must be non-empty if specified"))
        if _has_breaks(place):
            causes.append(fields.bad(f"{where}.fieldPath", place, "must not contain line breaks"))
        if place and not leads(place, read(schema)):
            causes.append(fields.bad(f"{where}.fieldPath", place, "must be a valid path"))
    return causes


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
