"""What OpenAPI tells of custom resources: their own schemas, with what every object has.

Source: k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder/builder.go, openapi/v2/conversion.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.registry.kind import Kind
from controllers.registry.schema import model

_META: Final = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1"
_RULES: Final = "x-kubernetes-validations"
_PRESERVES: Final = "x-kubernetes-preserve-unknown-fields"
_JUNCTORS: Final = ("allOf", "oneOf", "anyOf", "not")
_EMBEDDED_NEEDS: Final = ("kind", "apiVersion")


def name_of(kind: Kind) -> str:
    """Return what a kind's schema is called: the group from its end, version and kind (`com.example.v1.Widget`)."""
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])


def add_schemas(kind: Kind, schemas: dict[str, Any], *, v2: bool = False) -> None:
    """Add the schemas of a kind and of its lists; `v2`: as a reader of OpenAPI v2 bears them."""
    assert kind.published is not None, "it has a schema of its own"
    name = name_of(kind)
    if v2 and kind.published.get(_PRESERVES):
        # With any properties kubectl would take what else there is for unknown.
        told: dict[str, Any] = {"type": "object"}
    else:
        told = _node(_for_v2(kind.published) if v2 else kind.published, v2=v2)
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


def _for_v2(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without what readers of v2 do not bear (ToStructuralOpenAPIV2)."""
    told = {key: value for key, value in schema.items() if key not in (*_JUNCTORS, "nullable")}
    if schema.get("nullable") or schema.get(_PRESERVES):
        told.pop("items", None)
        told.pop("properties", None)
        if schema.get("nullable") or told.get("type") == "object":
            told.pop("type", None)
    if told.get("type") == "array" and "items" not in told:
        told.pop("type")
    properties, more = told.get("properties"), told.get("additionalProperties")
    if isinstance(properties, Mapping) and told.get("required"):
        told["required"] = [one for one in told["required"] if not (properties.get(one) or {}).get("nullable")]
    if isinstance(more, Mapping) and more.get("nullable"):
        told.pop("required", None)
    return _inside(told, _for_v2)


def _inside(schema: dict[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Change the schemas that lie in one."""
    if isinstance(schema.get("properties"), Mapping):
        schema["properties"] = {name: change(one) for name, one in schema["properties"].items()}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), Mapping):
            schema[key] = change(schema[key])
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            schema[key] = [change(one) for one in schema[key]]
    return schema


def _node(schema: Mapping[str, Any], *, v2: bool) -> dict[str, Any]:
    """Return a schema as it is told; objects inside have what every object has."""
    told = dict(schema)
    told.pop(_RULES, None)
    if schema.get(_RULES):
        told[_RULES] = schema[_RULES]
    told = _inside(told, lambda one: _node(one, v2=v2))
    if schema.get("x-kubernetes-embedded-resource") and not (v2 and schema.get(_PRESERVES)):
        told["properties"] = {**(told.get("properties") or {}), **_envelope()}
        needed = told.get("required") or []
        told["required"] = [*needed, *(one for one in _EMBEDDED_NEEDS if one not in needed)]
    if schema.get("x-kubernetes-int-or-string"):
        told.pop("type", None)
    return told
