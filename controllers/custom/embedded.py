"""Rules of objects inside of objects: what they say of their kind, and their metadata.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from controllers.custom.node import Node
from controllers.registry import fields
from controllers.registry import metadata as metadata_rules
from scheduler_core.api.errors import Cause


def has_embedded(node: Node) -> bool:
    """Return whether an object may lie in what a schema tells of."""
    below = [*node.properties.values(), *(one for one in (node.items, node.extra) if one is not None)]
    return node.embedded or any(map(has_embedded, below))


def embedded_causes(value: Any, node: Node | None, path: str = "", *, root: bool = False) -> list[Cause]:
    """Return what is wrong with the objects inside a value; `root`: it is one itself, whatever its schema says."""
    if node is None:
        return []
    causes: list[Cause] = []
    if isinstance(value, Mapping):
        if node.embedded or root:
            causes += _of_object(value, path)
        for name, inner in value.items():
            if name in node.properties:
                causes += embedded_causes(inner, node.properties[name], _joined(path, name))
            elif node.extra is not None:
                causes += embedded_causes(inner, node.extra, f"{path}[{name}]")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            causes += embedded_causes(item, node.items, f"{path}[{index}]")
    return causes


def _of_object(value: Mapping[str, Any], path: str) -> list[Cause]:
    causes = [fields.required(_joined(path, key)) for key in ("apiVersion", "kind") if key not in value]
    version, kind, metadata = value.get("apiVersion"), value.get("kind"), value.get("metadata")
    where = _joined(path, "apiVersion")
    if version == "":
        causes.append(fields.bad(where, version, "must not be empty"))
    elif isinstance(version, str) and version.count("/") > 1:
        causes.append(fields.bad(where, version, f"unexpected GroupVersion string: {version}"))
    where = _joined(path, "kind")
    if kind == "":
        causes.append(fields.bad(where, kind, "must not be empty"))
    elif isinstance(kind, str) and (wrong := fields.service_name("", kind.lower())):
        why = ",".join(one.message.partition(": ")[2].partition(": ")[2] for one in wrong)
        causes.append(fields.bad(where, kind, f"may have mixed case, but should otherwise match: {why}"))
    if isinstance(metadata, Mapping):
        # It needs no name.
        named = {**metadata, "name": metadata.get("name") or "fakename"}
        found = metadata_rules.validate(named, "path", any_finalizers=True)
        if metadata.get("namespace"):
            found += fields.label_name("metadata.namespace", metadata["namespace"])
        causes += [replace(one, field=_joined(path, one.field)) for one in found]
    return causes


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
