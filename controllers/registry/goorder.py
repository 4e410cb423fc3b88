"""An object as upstream writes it into a sentence: fields in the order of Go's structs, maps by their keys.

What a patch has touched is written by its keys: upstream's libraries take it apart into maps, and leave the rest as the
encoder wrote it (evanphx/json-patch, `partialDoc` and `MergePatch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controllers.registry.schema import model

_TABLE: Final = Path(__file__).with_name("go_order.txt")

Touched = Mapping[str, Any]
"""The fields that a patch goes through, as a tree; its leaves may be `Brought`."""


class Brought(NamedTuple):
    """What a JSON patch brought: upstream's library keeps the text that it had.

    Attributes:
        schema: the struct that it was where it came from, empty for no struct; None: it stands as it was sent.
    """

    schema: str | None


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


def touched_by_operations(operations: Iterable[Any], schema: str) -> Touched:
    """Return what a JSON patch of an object goes through, and what it brings."""
    tree: dict[str, Any] = {}
    for operation in operations:
        if not isinstance(operation, Mapping):
            continue
        _place(tree, operation.get("from"))
        place, last = _place(tree, operation.get("path"))
        if operation.get("op") in ("add", "replace"):
            place[last] = Brought(None)
        elif operation.get("op") in ("copy", "move"):
            place[last] = Brought(_struct_at(schema, operation.get("from")))
    return tree


def _parts(path: Any) -> list[str]:
    parts = path.split("/")[1:] if isinstance(path, str) else []
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def _place(tree: dict[str, Any], path: Any) -> tuple[dict[str, Any], str]:
    """Return where in the tree of what is touched the last part of a path lies, and that part."""
    *outer, last = _parts(path) or [""]
    for part in outer:
        if not isinstance(tree.get(part), dict):
            tree[part] = {}
        tree = tree[part]
    return tree, last


def _struct_at(schema: str, path: Any) -> str:
    """Return the struct at a path, or that of the items of the list there; empty: there is none."""
    waiting = _parts(path)
    while waiting and schema:
        field = model(schema).fields.get(waiting.pop(0))
        if field is None or (field.container == "map" and not waiting):
            return ""
        if field.container:
            waiting = waiting[1:]
        schema = field.model
    return schema


def text(document: Mapping[str, Any], schema: str, touched: Touched) -> str:
    """Return an object as JSON, its touched parts by their keys."""
    if not _is_struct(schema):
        # Upstream has it as a map then, which it writes by its keys.
        return msgspec.json.encode(_exponents(document), order="sorted").decode()
    return msgspec.json.encode(_exponents(_ordered(document, schema, touched))).decode()


def _exponents(value: Any) -> Any:
    """Return a value with its largest and smallest numbers as most clients send them: `1e+30`."""
    if isinstance(value, dict):
        return {key: _exponents(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exponents(item) for item in value]
    return msgspec.Raw(repr(value).encode()) if isinstance(value, float) else value


def _is_struct(schema: str) -> bool:
    return "metadata" in model(schema).fields


def in_order(value: Mapping[str, Any], struct: str) -> Any:
    """Return a struct with its members, and those of all structs in it, in the order of Go's."""
    return _ordered(value, struct, None)


def _ordered(value: Any, schema: str, touched: Touched | Brought | None) -> Any:
    """Return a value with its members in order; `schema` is its struct (empty: it is none)."""
    if isinstance(touched, Brought):
        return value if touched.schema is None else _ordered(value, touched.schema, None)
    if isinstance(value, list):
        inner = dict(touched or {})
        # Where something was put behind the last one it is the last one now.
        inner.setdefault(str(len(value) - 1), inner.get("-"))
        return [_ordered(item, schema, inner.get(str(index))) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    struct = model(schema) if schema else None
    places = _orders().get(schema, {}) if touched is None else {}
    keys = sorted(value, key=lambda key: (places.get(key, len(places)), key))
    told = {}
    for key in keys:
        field = struct.fields.get(key) if struct is not None else None
        below = (touched or {}).get(key)
        if isinstance(below, Brought):
            told[key] = _ordered(value[key], "", below)
        elif field is None or field.scalar == "any":
            # What is in no struct is written as it came.
            told[key] = value[key]
        elif field.container == "map" and field.model and isinstance(value[key], dict):
            told[key] = {name: _ordered(one, field.model, None) for name, one in sorted(value[key].items())}
        else:
            told[key] = _ordered(value[key], field.model, below)
    return told
