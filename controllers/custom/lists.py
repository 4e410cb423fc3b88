"""Lists that are sets, or maps by some keys of their items: nothing stands in them twice.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from controllers.custom.node import Node
from controllers.registry import fields
from scheduler_core.api.errors import Cause


def repeated(value: Any, node: Node | None, path: str = "") -> list[Cause]:
    """Return what stands twice in the lists of a value."""
    if node is None:
        return []
    causes: list[Cause] = []
    if isinstance(value, dict):
        for name, inner in value.items():
            found = node.properties.get(name)
            if found is not None:
                causes += repeated(inner, found, f"{path}.{name}" if path else name)
            elif node.extra is not None:
                causes += repeated(inner, node.extra, f"{path}[{name}]")
    elif isinstance(value, list):
        if node.list_type == "set":
            causes += [fields.duplicate(f"{path}[{index}]", value[index]) for index in _twice(value)]
        elif node.list_type == "map":
            causes += _by_keys(value, node, path)
        for index, item in enumerate(value):
            causes += repeated(item, node.items, f"{path}[{index}]")
    return causes


def _by_keys(value: Sequence[Any], node: Node, path: str) -> list[Cause]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            return [fields.bad(f"{path}[{index}]", item, "must be an object for an array of list-type map")]
    keys = [{key: item[key] for key in node.list_keys if key in item} if item else {} for item in value]
    return [fields.duplicate(f"{path}[{index}]", keys[index]) for index in _twice(keys)]


def _twice(values: Sequence[Any]) -> Iterator[int]:
    """Yield where something stands for the second time."""
    seen: dict[bytes, int] = {}
    for index, value in enumerate(values):
        written = msgspec.json.encode(value, order="deterministic")
        seen[written] = seen.get(written, 0) + 1
        if seen[written] == 2:
            yield index
