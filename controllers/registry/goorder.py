"""An object as upstream writes it into a sentence: fields in the order of Go's structs, maps by their keys.

What a patch has touched is written by its keys: upstream's libraries take it apart into maps, and leave the rest as the
encoder wrote it (evanphx/json-patch, `partialDoc` and `MergePatch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from controllers.registry.schema import model

_TABLE: Final = Path(__file__).with_name("go_order.txt")

Touched = Mapping[str, Any]
"""The fields that a patch goes through, as a tree."""


@cache
def _orders() -> dict[str, dict[str, int]]:
    """Return by struct the place of each of its fields."""
    table: dict[str, dict[str, int]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            struct, _, names = line.partition(": ")
            table[struct] = {name: place for place, name in enumerate(names.split(" "))}
    return table


def place_of(struct: str) -> Mapping[str, int]:
    """Return the places of a struct's fields, where they are not those of the alphabet."""
    return _orders().get(struct, {})


def touched_by_merge(patch: Any) -> Touched:
    """Return what a merge patch goes through: all that it brings, what stands in its lists too."""
    parts = patch.items() if isinstance(patch, Mapping) else ((str(index), one) for index, one in enumerate(patch))
    return {key: touched_by_merge(value) for key, value in parts if isinstance(value, (dict, list))}


def touched_by_operations(operations: Iterable[Any]) -> Touched:
    """Return what a JSON patch goes through."""
    tree: dict[str, Any] = {}
    for operation in operations:
        for name in ("path", "from"):
            path = operation.get(name) if isinstance(operation, Mapping) else None
            if not isinstance(path, str):
                continue
            place = tree
            for part in path.split("/")[1:-1]:
                place = place.setdefault(part.replace("~1", "/").replace("~0", "~"), {})
    return tree


def text(document: Mapping[str, Any], schema: str, touched: Touched) -> str:
    """Return an object as JSON, its touched parts by their keys."""
    if not _is_struct(schema):
        # Upstream has it as a map then, which it writes by its keys.
        return msgspec.json.encode(document, order="sorted").decode()
    return msgspec.json.encode(_ordered(document, schema, touched)).decode()


def _is_struct(schema: str) -> bool:
    return "metadata" in model(schema).fields


def in_order(value: Mapping[str, Any], struct: str) -> Any:
    """Return a struct with its members, and those of all structs in it, in the order of Go's."""
    return _ordered(value, struct, None)


def _ordered(value: Any, schema: str, touched: Touched | None) -> Any:
    """Return a value with its members in order; `schema` is its struct (empty: it is none)."""
    if isinstance(value, list):
        return [_ordered(item, schema, (touched or {}).get(str(index))) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    struct = model(schema) if schema else None
    places = _orders().get(schema, {}) if touched is None else {}
    keys = sorted(value, key=lambda key: (places.get(key, len(places)), key))
    told = {}
    for key in keys:
        field = struct.fields.get(key) if struct is not None else None
        if field is None or field.scalar == "any":
            # What is in no struct is written as it came.
            told[key] = value[key]
        elif field.container == "map" and field.model and isinstance(value[key], dict):
            told[key] = {name: _ordered(one, field.model, None) for name, one in sorted(value[key].items())}
        else:
            told[key] = _ordered(value[key], field.model, (touched or {}).get(key))
    return told
