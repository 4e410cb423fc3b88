"""Reading a definition: the schemas in it are structs within structs, which the generated models do not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from controllers.registry.checking import Report, check
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause

_DEFINITION: Final = "apiextensions_v1.CustomResourceDefinition"
_SCHEMA: Final = "apiextensions_v1.JSONSchemaProps"
_MAPS: Final = ("properties", "patternProperties", "definitions", "dependencies")
_EITHER: Final = {"additionalProperties": bool, "additionalItems": bool, "items": list}
"""Fields that hold a schema, or something else."""


def checked(document: Document) -> Report:
    """Normalise a definition, or some members of one, and report what was unknown or of a wrong type."""
    report = check(document, _DEFINITION)
    if report.wrong:
        return report
    for index, version in enumerate((document.get("spec") or {}).get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            where = f"spec.versions[{index}].schema.openAPIV3Schema"
            _below(schema, where, where, report)
    return report


def _below(schema: Document, path: str, told: str, report: Report) -> None:
    """Check what lies inside a schema whose own fields are checked; `told`: how upstream's decoder calls its place."""
    for part, one in _inner(schema, path, report):
        where, shown = f"{path}{part}", f"{told}{_spelled(part)}"
        found = check(one, _SCHEMA, where)
        report.wrong += found.wrong
        report.unknown += [f"{shown}{name.removeprefix(where)}" for name in found.unknown]
        if not found.wrong:
            _below(one, where, shown, report)
    for key in ("allOf", "anyOf", "oneOf"):
        for index, one in enumerate(schema.get(key) or ()):
            _below(one, f"{path}.{key}[{index}]", f"{told}.{key}[{index}]", report)
    if schema.get("not") is not None:
        _below(schema["not"], f"{path}.not", f"{told}.not", report)


def _spelled(part: str) -> str:
    """Return how the decoder calls a member of a map: it sets a point before the key."""
    key, _, name = part.partition("[")
    return part if key == ".items" or not name else f"{key}.{name.removesuffix(']')}"


def _inner(schema: Document, path: str, report: Report) -> Iterator[tuple[str, Document]]:
    for key in _MAPS:
        for name, one in list((schema.get(key) or {}).items()):
            if one is None:
                one = schema[key][name] = {}
            if isinstance(one, dict):
                yield f".{key}[{name}]", one
            elif key != "dependencies":
                # What is neither is none there, as what is no schema among items.
                report.wrong.append(_mistyped(one, f"{path}.{key}", "v1.JSONSchemaProps"))
    for key, other in _EITHER.items():
        said: Any = schema.get(key)
        if isinstance(said, dict):
            yield f".{key}", said
        elif isinstance(said, list) and other is list:
            yield from ((f".{key}[{index}]", item) for index, item in enumerate(said) if isinstance(item, dict))
        elif other is list:
            schema.pop(key, None)
        elif said is not None and not isinstance(said, other):
            report.wrong.append(Cause(f"{path}.{key}", "boolean or JSON schema expected"))


def _mistyped(value: Any, path: str, wanted: str) -> Cause:
    given = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}.get(type(value), "null")
    # Go names the struct that it was in, and the fields on the way to it.
    place = re.sub(r"\[[^\]]*\]", "", path)
    why = f"json: cannot unmarshal {given} into Go struct field JSONSchemaProps.{place} of type {wanted}"
    return Cause(path, why, "FieldValueTypeInvalid")
