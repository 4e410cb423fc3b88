"""OpenAPI v3 and v2, made from the models that validate: enough for kubectl's apply, create, replace, edit, explain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from clustersim.apiserver import caching, customopenapi, openapiroots, openapischema, openapiv2
from clustersim.apiserver.caching import VARIES
from clustersim.apiserver.discovery import served_of
from clustersim.apiserver.messages import Request, Response, json_response
from clustersim.apiserver.negotiation import clauses_of
from clustersim.apiserver.reviews import REVIEWS
from clustersim.apiserver.routes import unknown_path
from clustersim.apiserver.writing import PATCH_TYPES
from controllers.kinds.table import TABLE
from controllers.registry.kind import Kind
from controllers.registry.schema import is_model
from controllers.registry.table import Kinds

DOCUMENTS_KEPT: Final = 512
"""Documents of groups and versions that a process remembers; those of our own kinds are some thirty."""

_BINARY: Final = "application/com.github.proto-openapi."

_Parts = dict[tuple[str, str], tuple[Kind, ...]]
"""Group and version → its kinds."""

_PATCH: Final = {"type": "object", "description": "A change of an object, in one of the forms of a patch."}


def answer(request: Request, kinds: Kinds = TABLE) -> Response:
    """Answer /openapi/v2, /openapi/v3 and the document of one group and version, with the kinds of a session.

    Raises:
        ApiError: 404.
    """
    accepted = [clause.media for clause in clauses_of(request)]
    if (
        request.path != "/openapi/v3"
        and (accepted or request.path == "/openapi/v2")
        and not any(map(_is_acceptable, accepted))
    ):
        return Response(406, b"", "")
    served = served_of(kinds)
    parts = {one: tuple(served.of(*one)) for one in served.group_versions}
    if request.path == "/openapi/v2":
        as_protobuf, known = openapiv2.is_asked(next(filter(_is_acceptable, accepted), "")), tuple(parts.items())
        media = openapiv2.PROTOBUF if as_protobuf else "application/json"
        return caching.tagged(
            request, Response(200, _v2(as_protobuf, known), media, [VARIES], plain=True), _v2_tag(known)
        )
    if not re.match(r"/openapi/v3(/|$)", request.path):
        raise unknown_path(request.path, kinds)
    rest = request.path.removeprefix("/openapi/v3").strip("/")
    roots = openapiroots.documents(tuple(group for group in served.groups if group))
    if request.path == "/openapi/v3":
        return _index(request, parts, roots)
    if not accepted and (rest in roots or rest in {_name(*one) for one in parts}):
        # Upstream looks for the first that it has, and finds nothing wrong where there is none.
        return Response(200, b"", "", [VARIES])
    for (group, version), of in parts.items():
        if rest == _name(group, version):
            return _tagged(request, rest, _document(group, version, of), _hash(group, version, of))
    if rest in roots and not request.path.endswith("/"):
        return _tagged(request, rest, roots[rest], caching.tag_of(roots[rest]))
    return Response(404, b"", "")


def _is_acceptable(media: str) -> bool:
    """Return whether it is one of the forms that upstream has; of v3 there is JSON alone here."""
    return media in ("application/json", "application/*", "*/*", "*/json") or media.startswith(_BINARY)


def _index(request: Request, parts: _Parts, roots: Mapping[str, bytes]) -> Response:
    """Answer where each document is, and which one it is at the moment."""
    tags = {_name(group, version): _hash(group, version, of) for (group, version), of in parts.items()}
    tags |= {name: caching.tag_of(document) for name, document in roots.items()}
    prefix = f"/clusters/{request.code}/openapi/v3"
    response = json_response(
        {"paths": {name: {"serverRelativeURL": f"{prefix}/{name}?hash={tags[name]}"} for name in sorted(tags)}}
    )
    # Upstream leaves it to Go to find out what this is.
    response.content_type = "text/plain; charset=utf-8"
    return caching.tagged(request, response, caching.tag_of(response.body))


def _tagged(request: Request, name: str, document: bytes, tag: str) -> Response:
    """Answer one document: for ever, where the client names what it expects."""
    asked = request.query.get("hash", "")
    headers = [VARIES]
    if asked and asked != tag:
        place = f"/clusters/{request.code}/openapi/v3/{name}?hash={tag}"
        return Response(301, b"", headers=[*headers, ("etag", f'"{tag}"'), ("location", place)])
    if asked:
        headers.append(("cache-control", "public, immutable"))
    return caching.tagged(request, Response(200, document, headers=headers, plain=True), tag)


def _name(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


@lru_cache(DOCUMENTS_KEPT)
def _hash(group: str, version: str, kinds: tuple[Kind, ...]) -> str:
    return caching.tag_of(_document(group, version, kinds))


@lru_cache(DOCUMENTS_KEPT)
def _document(group: str, version: str, kinds: tuple[Kind, ...]) -> bytes:
    """Return what is served of one group and version: paths in upstream's names, and every struct that they use."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {f"/{_name(group, version)}/": {"get": _operation("get", None)}}
    openapischema.add("meta_v1.APIResourceList", schemas)
    for kind in kinds:
        if kind.published is not None:
            customopenapi.add_schemas(kind, schemas)
            openapischema.add("meta_v1.ObjectMeta", schemas)
            openapischema.add("meta_v1.ListMeta", schemas)
            _add_bodies(kind, schemas)
            paths |= _paths(kind)
        elif is_model(kind.schema):
            openapischema.add(kind.schema, schemas)
            openapischema.note_kind(kind.schema, (kind.group, kind.version, kind.kind), schemas)
            openapischema.add(f"{kind.schema}List", schemas)
            openapischema.note_kind(f"{kind.schema}List", (kind.group, kind.version, kind.list_kind), schemas)
            _add_bodies(kind, schemas)
            paths |= _paths(kind)
    for review in REVIEWS:
        if (review.group, "v1") == (group, version):
            key = _model_of(review.group, "v1", review.kind)
            openapischema.add(key, schemas)
            openapischema.note_kind(key, (group, version, review.kind), schemas)
            home = "/namespaces/{namespace}" if review.namespaced else ""
            gvk = {"group": group, "version": version, "kind": review.kind}
            paths[f"/{_name(group, version)}{home}/{review.plural}"] = {"post": _operation("post", gvk, key)}
    verbs = {operation["x-kubernetes-action"] for methods in paths.values() for operation in methods.values()}
    for struct, uses in (("WatchEvent", "watch"), ("DeleteOptions", "delete"), ("Status", "delete")):
        if uses in verbs:
            openapischema.add(f"meta_v1.{struct}", schemas)
    if "patch" in verbs:
        schemas[f"{openapischema.META}.Patch"] = _PATCH
    components = {"schemas": schemas, "securitySchemes": openapischema.SECURITY}
    head = {"openapi": "3.0.0", "info": openapischema.INFO}
    return msgspec.json.encode({**head, "paths": paths, "components": components})


@lru_cache(8)
def _v2(as_protobuf: bool, parts: tuple[tuple[tuple[str, str], tuple[Kind, ...]], ...]) -> bytes:
    if as_protobuf:
        return openapiv2.encode(msgspec.json.decode(_v2(False, parts)))
    told = (_part_of_v2(*names, kinds) for names, kinds in parts)
    return msgspec.json.encode(openapiv2.document(openapischema.INFO, told))


def _part_of_v2(group: str, version: str, kinds: tuple[Kind, ...]) -> dict[str, Any]:
    """Return the document of a group and version with which v2 is made."""
    told: dict[str, Any] = msgspec.json.decode(_document(group, version, kinds))
    for kind in kinds:
        if kind.published is not None:
            customopenapi.add_schemas(kind, told["components"]["schemas"], v2=True)
    return told


@lru_cache(8)
def _v2_tag(parts: tuple[tuple[tuple[str, str], tuple[Kind, ...]], ...]) -> str:
    # One for both forms: what varies by what a client accepts is said to.
    return caching.tag_of(_v2(False, parts))


def _gvk(kind: Kind) -> dict[str, str]:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


_METHODS: Final = {"get": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete"}
_COLLECTION: Final = {"list": "get", "create": "post", "deletecollection": "delete"}
_PARAMETERS: Final = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]
"""What kubectl looks for: whether a path validates fields."""


def _operation(action: str, gvk: dict[str, str] | None, body: str = "", *, strategic: bool = True) -> dict[str, Any]:
    """Return one operation; `body` is the struct that it takes, or changes. `strategic`: whether its kind merges so.

    kubectl takes this document for `apply` where a patch names its forms; else it reads the whole of v2 as well.
    """
    told: dict[str, Any] = {"x-kubernetes-action": action, "responses": {"200": {"description": "OK"}}}
    if gvk is not None:
        told["x-kubernetes-group-version-kind"] = gvk
    if body:
        name = body if body.count(".") > 1 else openapischema.name_of(body)
        forms = ["application/json"]
        if action == "patch":
            name = f"{openapischema.META}.Patch"
            forms = [form for form, patch_type in PATCH_TYPES.items() if strategic or patch_type != "strategic"]
        schema = {"schema": {"$ref": f"#/components/schemas/{name}"}}
        told["parameters"] = _PARAMETERS
        told["requestBody"] = {"content": dict.fromkeys(forms, schema)}
    return told


def _paths(kind: Kind) -> dict[str, Any]:
    """Return what may be done with a kind, path by path."""
    base = "/" + _name(kind.group, kind.version)
    home = f"{base}/namespaces/{{namespace}}" if kind.namespaced else base
    collection, one, gvk = f"{home}/{kind.plural}", f"{home}/{kind.plural}/{{name}}", _gvk(kind)
    told: dict[str, Any] = {collection: {}, one: {}}
    for verb in kind.verbs:
        writes = _body(kind) if verb in ("create", "update", "patch") else ""
        if verb in _COLLECTION:
            told[collection][_COLLECTION[verb]] = _operation("list" if verb == "list" else verb, gvk, writes)
        elif verb in _METHODS:
            told[one][_METHODS[verb]] = _operation(_METHODS[verb], gvk, writes, strategic=kind.strategic)
    for method, action in (("post", "post"), ("delete", "deletecollection")):
        if method in told[collection]:
            told[collection][method]["x-kubernetes-action"] = action
    if kind.namespaced and "list" in kind.verbs:
        told[f"{base}/{kind.plural}"] = {"get": _operation("list", gvk)}
    if "watch" in kind.verbs:
        watched = [f"{base}/watch/{kind.plural}", f"{one.replace(base, f'{base}/watch', 1)}"]
        if kind.namespaced:
            watched.append(collection.replace(base, f"{base}/watch", 1))
        told |= {path: {"get": _operation("watch", gvk)} for path in watched}
    for subresource in kind.subresources:
        group, version, name = subresource.body or (kind.group, kind.version, kind.kind)
        body = _model_of(group, version, name) if subresource.body else _body(kind)
        methods = {
            _METHODS[verb]: _operation(
                "connect" if subresource.simulated else _METHODS[verb],
                {"group": group, "version": version, "kind": name},
                body if verb != "get" and not subresource.simulated else "",
                strategic=kind.strategic,
            )
            for verb in subresource.verbs
        }
        told[f"{one}/{subresource.name}"] = methods
        if subresource.below:
            told[f"{one}/{subresource.name}/{{path}}"] = methods
        if subresource.collection:
            told[f"{home}/{subresource.collection}"] = {"post": methods["post"]}
    return told


def _body(kind: Kind) -> str:
    """Return the struct that writes of a kind take."""
    return kind.schema if kind.published is None else customopenapi.name_of(kind)


def _add_bodies(kind: Kind, schemas: dict[str, Any]) -> None:
    """Add what is sent to a kind's subresources and is no struct of its own."""
    for subresource in kind.subresources:
        if subresource.body is not None and not subresource.simulated:
            openapischema.add(_model_of(*subresource.body), schemas)
            openapischema.note_kind(_model_of(*subresource.body), subresource.body, schemas)


def _model_of(group: str, version: str, kind: str) -> str:
    return f"{group.partition('.')[0] or 'core'}_{version}.{kind}"
