"""OpenAPI v3 and v2, made from the models that validate: enough for kubectl's apply, create, replace, edit, explain."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, Final

import msgspec

from clustersim.apiserver import openapiv2
from clustersim.apiserver.discovery import group_versions
from clustersim.apiserver.messages import Request, Response, json_response
from clustersim.apiserver.routes import unknown_path
from controllers.kinds.table import SERVED
from controllers.registry.kind import Kind
from controllers.registry.merging import MERGE_KEYS
from controllers.registry.schema import FieldType, Model, model

_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer", "format": "int64"},
    "number": {"type": "number", "format": "double"},
    "boolean": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "micro-time": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "format": "byte"},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "int-or-string": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
}

_PACKAGES: Final = {
    "meta_v1": "io.k8s.apimachinery.pkg.apis.meta.v1",
    "core_v1": "io.k8s.api.core.v1",
    "apps_v1": "io.k8s.api.apps.v1",
    "coordination_v1": "io.k8s.api.coordination.v1",
    "scheduling_v1": "io.k8s.api.scheduling.v1",
    "events_v1": "io.k8s.api.events.v1",
    "clustersim_v1": "io.clustersim.v1",
}


_INFO: Final = {"title": "Kubernetes", "version": "1.34"}
"""What upstream's documents are called."""


def answer(request: Request) -> Response:
    """Answer /openapi/v2, /openapi/v3 and the document of one group and version.

    Raises:
        ApiError: 404.
    """
    if request.path.rstrip("/") == "/openapi/v2":
        as_protobuf = openapiv2.wants_protobuf(request.headers.get("accept", ""))
        return Response(200, _v2(as_protobuf), openapiv2.PROTOBUF if as_protobuf else "application/json")
    rest = request.path.removeprefix("/openapi/v3").strip("/")
    if not request.path.startswith("/openapi/v3"):
        raise unknown_path(request.path)
    if not rest:
        prefix = f"/clusters/{request.code}/openapi/v3"
        paths = {
            _name(group, version): {
                "serverRelativeURL": f"{prefix}/{_name(group, version)}?hash={_hash(group, version)}"
            }
            for group, version in group_versions()
        }
        return json_response({"paths": paths})
    for group, version in group_versions():
        if rest == _name(group, version):
            response = Response(200, _document(group, version))
            response.headers.append(("cache-control", "public, immutable"))
            response.headers.append(("etag", f'"{_hash(group, version)}"'))
            return response
    raise unknown_path(request.path)


def _name(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


@cache
def _hash(group: str, version: str) -> str:
    return hashlib.sha256(_document(group, version)).hexdigest().upper()


@cache
def _document(group: str, version: str) -> bytes:
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for kind in SERVED:
        if (kind.group, kind.version) == (group, version):
            _add_schema(kind.schema, schemas)
            schema = schemas[_schema_name(kind.schema)]
            schema["x-kubernetes-group-version-kind"] = [_gvk(kind)]
            paths.update(_paths(kind))
    return msgspec.json.encode(
        {
            "openapi": "3.0.0",
            "info": _INFO,
            "paths": paths,
            "components": {"schemas": schemas},
        }
    )


@cache
def _v2(as_protobuf: bool) -> bytes:
    told = openapiv2.document(_INFO, (msgspec.json.decode(_document(*one)) for one in group_versions()))
    return openapiv2.encode(told) if as_protobuf else msgspec.json.encode(told)


def _gvk(kind: Kind) -> dict[str, str]:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _paths(kind: Kind) -> dict[str, Any]:
    """Return the operations that kubectl looks for: which kind a path writes, and whether fields are validated."""
    base = "/" + _name(kind.group, kind.version)
    collection = f"{base}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{base}/{kind.plural}"
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
        for name in ("dryRun", "fieldManager", "fieldValidation")
    ]
    body = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{_schema_name(kind.schema)}"}}}}

    def operation(action: str, *, writes: bool) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": _gvk(kind),
            "responses": {"200": {"description": "OK"}},
        }
        if writes:
            entry["parameters"] = parameters
            entry["requestBody"] = body
        return entry

    return {
        collection: {"get": operation("list", writes=False), "post": operation("post", writes=True)},
        f"{collection}/{{name}}": {
            "get": operation("get", writes=False),
            "put": operation("put", writes=True),
            "patch": operation("patch", writes=True),
            "delete": operation("delete", writes=False),
        },
    }


def _schema_name(key: str) -> str:
    module, _, name = key.partition(".")
    return f"{_PACKAGES.get(module, 'io.k8s.api.' + module.replace('_', '.'))}.{name}"


def _add_schema(key: str, schemas: dict[str, Any]) -> None:
    """Add a struct and everything that it refers to."""
    name = _schema_name(key)
    if name in schemas:
        return
    struct = model(key)
    schemas[name] = {}
    properties: dict[str, Any] = {}
    for field in struct.fields.values():
        properties[field.name] = _property(struct, field)
        if field.model:
            _add_schema(field.model, schemas)
    entry: dict[str, Any] = {"type": "object", "description": struct.description, "properties": properties}
    required = [field.name for field in struct.fields.values() if field.required]
    if required:
        entry["required"] = required
    if struct.open:
        entry["x-kubernetes-preserve-unknown-fields"] = True
    schemas[name] = entry


def _property(struct: Model, field: FieldType) -> dict[str, Any]:
    inner: dict[str, Any]
    if field.scalar is not None:
        inner = dict(_SCALARS[field.scalar])
    elif field.container:
        inner = {"$ref": f"#/components/schemas/{_schema_name(field.model)}"}
    else:
        inner = {"allOf": [{"$ref": f"#/components/schemas/{_schema_name(field.model)}"}]}
    if field.container == "list":
        inner = {"type": "array", "items": inner}
        merge_key = MERGE_KEYS.get((struct.key, field.name))
        if merge_key:
            inner["x-kubernetes-patch-merge-key"] = merge_key
            inner["x-kubernetes-patch-strategy"] = "merge"
    elif field.container == "map":
        inner = {"type": "object", "additionalProperties": inner}
    description = struct.descriptions.get(field.name)
    if description:
        inner["description"] = description
    return inner
