"""OpenAPI v2, from the documents of v3: what clients read that know no v3, as JSON or as protobuf.

The protobuf is that of github.com/google/gnostic-models/openapiv2 (OpenAPIv2.proto), which client-go asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from clustersim.apiserver.protobuf.wire import delimited

PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_ASKED: Final = ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", PROTOBUF)
"""How clients call it: client-go with `@`, which no answer may carry."""

_V3: Final = "#/components/schemas/"
_METHODS: Final = {"get": 2, "put": 3, "post": 4, "delete": 5, "patch": 8}
"""Field numbers of a path's operations."""


def is_asked(media: str) -> bool:
    """Return whether a media type is the document as protobuf."""
    return media in _ASKED


def document(info: Mapping[str, str], parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the v2 document of the v3 documents of all groups and versions."""
    paths: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for part in parts:
        paths |= {path: _path(methods) for path, methods in part["paths"].items()}
        for name, schema in part["components"]["schemas"].items():
            told = _schema(schema)
            # A struct that several groups share may be a kind in one of them alone.
            definitions[name] = {**definitions.get(name, {}), **told}
    return {"swagger": "2.0", "info": dict(info), "paths": paths, "definitions": definitions}


def _path(methods: Mapping[str, Any]) -> dict[str, Any]:
    return {method: _operation(one) for method, one in methods.items() if one["x-kubernetes-action"] != "connect"}


def _operation(operation: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in operation.items() if key not in ("requestBody", "parameters")}
    parameters: list[dict[str, Any]] = []
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]
        if operation["x-kubernetes-action"] == "patch":
            told["consumes"] = list(content)
        schema = next(iter(content.values()))["schema"]
        parameters.append({"in": "body", "name": "body", "required": True, "schema": _schema(schema)})
    for one in operation.get("parameters", ()):
        parameters.append({"in": one["in"], "name": one["name"], **one["schema"]})
    if parameters:
        told["parameters"] = parameters
    return told


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for key, value in schema.items():
        match key:
            case "$ref":
                told[key] = value.replace(_V3, "#/definitions/")
            case "allOf" if len(value) == 1 and "$ref" in value[0]:
                told |= _schema(value[0])
            case "allOf" | "anyOf" | "not" | "nullable" | "default":
                # Of a schema that a session defines v2 tells less, and of no field what stands for it.
                continue
            case "oneOf" if schema.get("type"):
                continue
            case "oneOf":
                # v2 knows no choice of types: what is either is told as a text.
                told["type"] = "string"
            case "properties":
                told[key] = {name: _schema(inner) for name, inner in value.items()}
            case "items" | "additionalProperties" if isinstance(value, Mapping):
                told[key] = _schema(value)
            case _:
                told[key] = value
    return told


def encode(told: Mapping[str, Any]) -> bytes:
    """Return a v2 document as protobuf."""
    info = _text(1, told["info"]["title"]) + _text(2, told["info"]["version"])
    paths = b"".join(delimited(2, _text(1, path) + delimited(2, _item(one))) for path, one in told["paths"].items())
    return (
        _text(1, told["swagger"]) + delimited(2, info) + delimited(8, paths) + delimited(9, _named(told["definitions"]))
    )


def _item(methods: Mapping[str, Any]) -> bytes:
    return b"".join(delimited(_METHODS[method], _encoded(one)) for method, one in methods.items())


def _encoded(operation: Mapping[str, Any]) -> bytes:
    parameters = b"".join(delimited(8, delimited(1, _parameter(one))) for one in operation.get("parameters", ()))
    answers = b"".join(
        delimited(1, _text(1, code) + delimited(2, delimited(1, _text(1, one["description"]))))
        for code, one in operation["responses"].items()
    )
    taken = b"".join(_text(7, media) for media in operation.get("consumes", ()))
    return taken + parameters + delimited(9, answers) + _extensions(13, operation)


def _parameter(one: Mapping[str, Any]) -> bytes:
    if one["in"] == "body":
        body = _text(2, one["name"]) + _text(3, "body") + b"\x20\x01" + delimited(5, _schema_bytes(one["schema"]))
        return delimited(1, body)
    query = _text(2, one["in"]) + _text(4, one["name"]) + _text(6, one["type"])
    return delimited(2, delimited(3, query))


def _named(schemas: Mapping[str, Any]) -> bytes:
    return b"".join(delimited(1, _text(1, name) + delimited(2, _schema_bytes(one))) for name, one in schemas.items())


def _schema_bytes(schema: Mapping[str, Any]) -> bytes:
    told = b"".join(
        _text(number, schema[key]) for number, key in ((1, "$ref"), (2, "format"), (4, "description")) if key in schema
    )
    told += b"".join(_text(19, name) for name in schema.get("required", ()))
    if "additionalProperties" in schema:
        told += delimited(21, delimited(1, _schema_bytes(schema["additionalProperties"])))
    if "type" in schema:
        told += delimited(22, _text(1, schema["type"]))
    if "items" in schema:
        told += delimited(23, delimited(1, _schema_bytes(schema["items"])))
    if "properties" in schema:
        told += delimited(25, _named(schema["properties"]))
    return told + _extensions(31, schema)


def _extensions(number: int, of: Mapping[str, Any]) -> bytes:
    """Return what begins with `x-`, as YAML (which JSON is)."""
    return b"".join(
        delimited(number, _text(1, key) + delimited(2, _text(2, msgspec.json.encode(value).decode())))
        for key, value in of.items()
        if key.startswith("x-")
    )


def _text(number: int, text: str) -> bytes:
    return delimited(number, text.encode())
