"""Whether a schema is structural: one whose parts all say of what type they are, and say it once.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema (validation.go, convert.go, complete.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.custom.walking import Schema, children
from controllers.registry import fields
from scheduler_core.api.errors import Cause
from scheduler_core.expressions.patterns import pattern_error

PATTERN_CHARS_MAX: Final = 4_096
"""Letters of one pattern; a longer one is refused."""

_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_NESTED_EMPTY: Final = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)

_TOLD_EMPTY: Final = ("x-kubernetes-list-type", "x-kubernetes-map-type")
"""What counts where it is an empty text, too."""

_FOREIGN: Final = (
    ("id", "id"),
    ("$schema", "schema"),
    ("$ref", "$ref"),
    ("patternProperties", "patternProperties"),
    ("dependencies", "dependencies"),
    ("additionalItems", "additionalItems"),
    ("definitions", "definitions"),
)
"""What upstream makes no structural schema of, and how it calls it."""

_SET_AT_ALL: Final = "additionalItems"
"""Counts where it is empty, too."""


def foreign(schema: Schema) -> str:
    """Return why no structural schema can be made of a schema; empty: one can (NewStructural)."""
    for key, told in _FOREIGN:
        if schema.get(key) or (key == _SET_AT_ALL and schema.get(key) is not None):
            return f"OpenAPIV3Schema '{told}' is not supported"
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
    if isinstance(schema.get("items"), list) and schema["items"]:
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next(filter(None, (foreign(one) for _, one in children(schema))), "")


def invariants(schema: Schema, path: str, level: str) -> list[Cause]:
    """Return what of a schema has no single type, or says it where that does not count; `level`: how it is called."""
    kind = schema.get("type") or ""
    items, more, properties = schema.get("items"), schema.get("additionalProperties"), schema.get("properties") or {}
    causes: list[Cause] = []
    if kind == "array" and not isinstance(items, Mapping):
        causes.append(fields.required(f"{path}.items", "must be specified"))
    if isinstance(items, Mapping):
        causes += invariants(items, f"{path}.items", "item")
    for name, one in properties.items():
        causes += invariants(one, f"{path}.properties[{name}]", "field")
    if more is not None:
        if level == "root":
            causes.append(fields.not_allowed(f"{path}.additionalProperties", "must not be used at the root"))
        if isinstance(more, Mapping):
            causes += invariants(more, f"{path}.additionalProperties", "field")
    either, keeps = (
        bool(schema.get("x-kubernetes-int-or-string")),
        bool(schema.get("x-kubernetes-preserve-unknown-fields")),
    )
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    for said, key in ((keeps, "x-kubernetes-preserve-unknown-fields"), (embedded, "x-kubernetes-embedded-resource")):
        if either and said:
            why = "must be false if x-kubernetes-int-or-string is true"
            causes.append(fields.bad(f"{path}.{key}", True, why))
    causes += _junctors(schema, path, level)
    causes += _typed(schema, path, level, kind, free=either or keeps, embedded=embedded)
    if level == "root" or embedded:
        for name in ("kind", "apiVersion"):
            if name in properties and properties[name].get("type") != "string":
                found = properties[name].get("type") or ""
                causes.append(fields.bad(f"{path}.properties[{name}].type", found, "must be string"))
    if "metadata" in properties:
        causes += _metadata(properties["metadata"], f"{path}.properties[metadata]", level, embedded)
    if embedded and not keeps and not properties:
        why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        causes.append(fields.required(f"{path}.properties", why))
    return causes


def _typed(schema: Schema, path: str, level: str, kind: str, *, free: bool, embedded: bool) -> list[Cause]:
    causes: list[Cause] = []
    if embedded and kind != "object":
        why = "must be object if x-kubernetes-embedded-resource is true"
        causes.append(fields.bad(f"{path}.type", kind, why) if kind else fields.required(f"{path}.type", why))
    elif not kind and not free:
        where = {"root": "at the root", "item": "for specified array items", "field": "for specified object fields"}
        causes.append(fields.required(f"{path}.type", f"must not be empty {where[level]}"))
    if embedded and schema.get("additionalProperties") is not None:
        why = "must not be used if x-kubernetes-embedded-resource is set"
        causes.append(fields.not_allowed(f"{path}.additionalProperties", why))
    if level == "root" and kind and kind != "object":
        causes.append(fields.bad(f"{path}.type", kind, "must be object at the root"))
    return causes


def _metadata(schema: Schema, path: str, level: str, embedded: bool) -> list[Cause]:
    causes: list[Cause] = []
    if (level == "root" or embedded) and schema.get("type") != "object":
        causes.append(fields.bad(f"{path}.type", schema.get("type") or "", "must be object"))
    if level == "root":
        names = set(schema.get("properties") or ())
        rest = {key for key, value in schema.items() if value not in (None, False, "")} - {"type", "default"}
        if names <= {"name", "generateName"}:
            rest -= {"properties"}
        if rest:
            why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            causes.append(fields.not_allowed(path, why))
    return causes


def _is_either(schemas: Any) -> bool:
    return isinstance(schemas, list) and schemas == _INT_OR_STRING


def _junctors(schema: Schema, path: str, level: str, *, nested: bool = False) -> list[Cause]:
    causes: list[Cause] = []
    all_of: Sequence[Schema] = schema.get("allOf") or ()
    if not _is_either(schema.get("anyOf")) or nested:
        for index, one in enumerate(schema.get("anyOf") or ()):
            causes += _nested(one, f"{path}.anyOf[{index}]")
    for index, one in enumerate(all_of):
        excused = index == 0 and not nested and _is_either(one.get("anyOf"))
        causes += _nested(one, f"{path}.allOf[{index}]", excused=excused)
    for index, one in enumerate(schema.get("oneOf") or ()):
        causes += _nested(one, f"{path}.oneOf[{index}]")
    if schema.get("not") is not None:
        causes += _nested(schema["not"], f"{path}.not")
    pattern = schema.get("pattern")
    if pattern:
        if len(pattern) > PATTERN_CHARS_MAX:
            causes.append(fields.too_long(f"{path}.pattern", PATTERN_CHARS_MAX))
        elif wrong := pattern_error(pattern):
            why = f"must be a valid regular expression, but isn't: {wrong}"
            causes.append(fields.bad(f"{path}.pattern", pattern, why))
    return causes


def _nested(schema: Schema, path: str, *, excused: bool = False) -> list[Cause]:
    """Check a schema that only judges values."""
    causes = _junctors({**schema, "anyOf": None} if excused else schema, path, "", nested=True)
    if isinstance(schema.get("items"), Mapping):
        causes += _nested(schema["items"], f"{path}.items")
    for name, one in (schema.get("properties") or {}).items():
        causes += _nested(one, f"{path}.properties[{name}]")
    for key, why in _NESTED_EMPTY:
        if schema.get(key) not in (None, False, [], *(() if key in _TOLD_EMPTY else ("",))):
            causes.append(fields.not_allowed(f"{path}.{key}", why))
    if "metadata" in (schema.get("properties") or {}):
        causes.append(fields.not_allowed(f"{path}.properties[metadata]", "must not be specified in a nested context"))
    return causes


def complete(schema: Schema, path: str) -> list[Cause]:
    """Return which fields and items the root judges that stand nowhere outside of that; further in nobody looks."""
    causes: list[Cause] = []
    for key in ("allOf", "anyOf", "oneOf"):
        for index, one in enumerate(schema.get(key) or ()):
            causes += _stands(one, schema, f"{path}.{key}[{index}]", path)
    if schema.get("not") is not None:
        causes += _stands(schema["not"], schema, f"{path}.not", path)
    return causes


def _stands(judged: Schema, schema: Schema | None, where: str, path: str) -> list[Cause]:
    if schema is None:
        return [fields.required(path, f"because it is defined in {where}")]
    causes: list[Cause] = []
    if isinstance(judged.get("items"), Mapping):
        inner = schema.get("items") if isinstance(schema.get("items"), Mapping) else None
        causes += _stands(judged["items"], inner, f"{where}.items", f"{path}.items")
    for name, one in (judged.get("properties") or {}).items():
        found = (schema.get("properties") or {}).get(name)
        if found is None and isinstance(schema.get("additionalProperties"), Mapping):
            found = None
        causes += _stands(one, found, f"{where}.properties[{name}]", f"{path}.properties[{name}]")
    for key in ("allOf", "anyOf", "oneOf"):
        for index, one in enumerate(judged.get(key) or ()):
            causes += _stands(one, schema, f"{where}.{key}[{index}]", path)
    if judged.get("not") is not None:
        causes += _stands(judged["not"], schema, f"{where}.not", path)
    return causes
