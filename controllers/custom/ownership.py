"""What of a custom resource may be owned, from its schema.

Source: k8s.io/kube-openapi/pkg/schemaconv/openapi.go, v1.34.
"""

from __future__ import annotations

from typing import Final

from controllers.custom.node import Node
from controllers.registry.fieldowners.types import ANY, SCALARS, Type, type_of

_NAMES: Final = {"string": "string", "integer": "numeric", "number": "numeric", "boolean": "boolean"}
_DEDUCED: Final = Type("any")
"""Of what nothing is said: members of mappings have owners, lists are owned as a whole."""


def type_from(node: Node) -> Type:
    """Return what an object is."""
    found = _type(node.as_embedded(), node.preserves)
    return found if found.members is not None else _struct({}, _DEDUCED, node)


def _type(node: Node, keeps: bool) -> Type:
    keeps = keeps or node.preserves
    if node.int_or_string:
        return SCALARS["untyped"]
    if node.type == "array":
        keys = node.list_keys if node.list_type == "map" else ()
        element = _type(node.items, keeps) if node.items is not None else SCALARS["untyped"]
        return Type("list", node.list_type not in ("map", "set"), element=element, keys=tuple(keys))
    if node.type == "object" or node.embedded:
        members = {name: _type(one, keeps) for name, one in node.properties.items()}
        if node.extra is not None:
            rest: Type | None = _type(node.extra, keeps)
        else:
            rest = _DEDUCED if keeps or node.open or not members else None
        if not members and rest is not None and not node.embedded:
            return Type("map", node.map_type == "atomic", element=rest)
        return _struct(members, rest, node)
    if node.type:
        return SCALARS[_NAMES.get(node.type, "untyped")]
    return _DEDUCED if keeps else ANY


def _struct(members: dict[str, Type], rest: Type | None, node: Node) -> Type:
    if node.embedded:
        envelope = {
            "apiVersion": SCALARS["string"],
            "kind": SCALARS["string"],
            "metadata": type_of("meta_v1.ObjectMeta"),
        }
        members = {**members, **envelope}
    defaults = {name: one.default for name, one in node.properties.items() if one.default is not None}
    return Type("struct", node.map_type == "atomic", members=members, rest=rest, key_defaults=defaults)
