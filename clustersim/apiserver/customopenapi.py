"""What OpenAPI tells of custom resources: their own schemas, with what every object has.

Source: k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder/builder.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.registry.kind import Kind
from controllers.registry.schema import model

_META: Final = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1"
_RULES: Final = "x-kubernetes-validations"


def name_of(kind: Kind) -> str:
    """Return what a kind's schema is called: the group from its end, version and kind (`com.example.v1.Widget`)."""
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])


def add_schemas(kind: Kind, schemas: dict[str, Any]) -> None:
    """Add the schemas of a kind and of its lists."""
    assert kind.published is not None, "it has a schema of its own"
    name = name_of(kind)
    told = _node(kind.published)
    told["properties"] = {**(told.get("properties") or {}), **_envelope()}
    told["x-kubernetes-group-version-kind"] = [{"group": kind.group, "kind": kind.kind, "version": kind.version}]
    schemas[name] = told
    schemas[f"{name}List"] = {
        "description": f"{kind.kind}List is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_envelope(lists=True),
            "items": {
                "description": f"List of {kind.plural}. More info: "
                "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
                "type": "array",
                "items": {"allOf": [{"$ref": f"#/components/schemas/{name}"}], "default": {}},
            },
        },
        "x-kubernetes-group-version-kind": [{"group": kind.group, "kind": kind.list_kind, "version": kind.version}],
    }


def _envelope(*, lists: bool = False) -> dict[str, Any]:
    known = model("core_v1.Pod").descriptions
    meta = "ListMeta" if lists else "ObjectMeta"
    return {
        "apiVersion": {"type": "string", "description": known.get("apiVersion", "")},
        "kind": {"type": "string", "description": known.get("kind", "")},
        "metadata": {"allOf": [{"$ref": f"{_META}.{meta}"}], "description": known.get("metadata", "")},
    }


def _node(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema as it is told; objects inside have what every object has."""
    told = dict(schema)
    told.pop(_RULES, None)
    if schema.get(_RULES):
        told[_RULES] = schema[_RULES]
    for key in ("properties",):
        if isinstance(schema.get(key), Mapping):
            told[key] = {name: _node(one) for name, one in schema[key].items()}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), Mapping):
            told[key] = _node(schema[key])
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            told[key] = [_node(one) for one in schema[key]]
    if schema.get("x-kubernetes-embedded-resource"):
        told["properties"] = {**(told.get("properties") or {}), **_envelope()}
    if schema.get("x-kubernetes-int-or-string"):
        told.pop("type", None)
    return told
