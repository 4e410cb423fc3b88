"""Schemas of definitions as they are sent, and what lies inside of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


def children(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield (path below, schema) of the schemas inside one."""
    for key in ("items", "additionalProperties", "not", "additionalItems"):
        if isinstance(schema.get(key), Mapping):
            yield key, schema[key]
    for key in ("properties", "patternProperties", "definitions", "dependencies"):
        for name, one in (schema.get(key) or {}).items():
            if isinstance(one, Mapping):
                yield f"{key}[{name}]", one
    for key in ("allOf", "anyOf", "oneOf"):
        for index, one in enumerate(schema.get(key) or ()):
            yield f"{key}[{index}]", one
    if isinstance(schema.get("items"), list):
        for index, one in enumerate(schema["items"]):
            yield f"items[{index}]", one


def has(schema: Schema | None, wanted: Callable[[Schema], bool]) -> bool:
    """Return whether something is so in a schema or in one inside."""
    if schema is None:
        return False
    return wanted(schema) or any(has(one, wanted) for _, one in children(schema))


def count(schema: Schema) -> int:
    """Return how many parts a schema has."""
    return 1 + sum(count(one) for _, one in children(schema))
