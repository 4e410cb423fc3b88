"""A structural schema as a tree: what may lie where, what goes and what comes in by itself.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema (structural.go, convert.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

META: Final = ("apiVersion", "kind", "metadata")
"""Fields of every object, which no schema takes away."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """What a schema says of one value; `source` is the schema as it is written."""

    source: Mapping[str, Any]
    type: str = ""
    nullable: bool = False
    properties: Mapping[str, Node] = field(default_factory=dict)
    items: Node | None = None
    extra: Node | None = None
    """What every further member is; None: see `open`."""
    open: bool = False
    """Whether further members may be anything, or are as `extra` says."""
    preserves: bool = False
    embedded: bool = False
    int_or_string: bool = False
    list_type: str = ""
    list_keys: Sequence[str] = ()
    map_type: str = ""
    default: Any = None
    """What stands for it where it is missing; None: nothing."""
    defaults_below: bool = False
    """Whether it or anything below it has a default."""
    rules: Sequence[Mapping[str, Any]] = ()
    """`x-kubernetes-validations`."""
    programs: dict[Any, Any] = field(default_factory=dict)
    """Its rules as they were compiled, by their text."""

    def member(self, name: str) -> Node | None:
        """Return what a member is; None: nothing is said of it."""
        return self.properties.get(name) or self.extra

    def step(self, name: str) -> Node | None:
        """Return where a path goes on with a member; None: nowhere (ValidFieldPath)."""
        if self.properties:
            return self.properties.get(name)
        if self.source.get("additionalProperties") is None:
            return None
        return self.extra or Node({})

    def as_embedded(self) -> Node:
        """Return the same for a whole object: its metadata stay."""
        return self if self.embedded else replace(self, embedded=True)


ANYTHING: Final = Node({}, preserves=True)
"""What is said where nothing is."""


def read(schema: Mapping[str, Any] | None) -> Node:
    """Return the tree of a schema (`openAPIV3Schema`) that fits JSONSchemaProps; None keeps everything."""
    return ANYTHING if schema is None else _read(schema)


def _read(schema: Mapping[str, Any]) -> Node:
    properties = {name: _read(one) for name, one in (schema.get("properties") or {}).items()}
    items = schema.get("items")
    inner = _read(items) if isinstance(items, Mapping) else None
    more = schema.get("additionalProperties")
    extra = _read(more) if isinstance(more, Mapping) else None
    below = [*properties.values(), *(one for one in (inner, extra) if one is not None)]
    default = schema.get("default")
    return Node(
        schema,
        schema.get("type") or "",
        bool(schema.get("nullable")),
        properties,
        inner,
        extra,
        more is not None,
        bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        bool(schema.get("x-kubernetes-embedded-resource")),
        bool(schema.get("x-kubernetes-int-or-string")),
        schema.get("x-kubernetes-list-type") or "",
        tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        schema.get("x-kubernetes-map-type") or "",
        default,
        default is not None or any(one.defaults_below for one in below),
        tuple(schema.get("x-kubernetes-validations") or ()),
    )
