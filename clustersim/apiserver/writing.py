"""Writes over HTTP: POST, PUT, PATCH and DELETE become operations, one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, cast

import msgspec

from clustersim.apiserver import protobuf
from clustersim.apiserver.listing import read_revision, too_large
from clustersim.apiserver.messages import (
    WARNINGS_MAX,
    Request,
    Response,
    decode_body,
    decode_json,
    json_response,
    repeated_fields,
    repeated_in_patch,
    spelled_members,
    warning,
)
from clustersim.apiserver.negotiation import Wanted, wanted
from clustersim.apiserver.patching import check_options, check_patch_options, decode_applied, manager_of
from clustersim.apiserver.routes import Target
from clustersim.apiserver.tables import Printed, age_by, partial, table
from clustersim.apiserver.virtual import ReadView
from clustersim.classroom.auth import Principal
from clustersim.classroom.writing import apply, context_for
from clustersim.store import SqlStore
from controllers.log.operations import Create, Patch, PatchType, Update
from controllers.log.store import Stored
from controllers.registry.context import Context
from controllers.registry.gojson import syntax_error
from controllers.registry.incoming import nameless, other_namespace
from controllers.registry.kind import Subresource
from controllers.registry.reading import Unreadable, check_body, check_type, checked
from scheduler_core.api.errors import ApiError, bad_request, method_not_allowed, not_found

PATCH_TYPES: Final[dict[str, PatchType]] = {
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/json-patch+json": "json",
    "application/apply-patch+yaml": "apply",
}


def create(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a POST to a collection, or to the binding or eviction of a pod."""
    namespace = _home(target)
    check_options(request, "CreateOptions")
    document = _body(request, target)
    context = context_of(store, request, principal)
    context.repeated = repeated_fields(request, document)
    context.spelled = spelled_members(request, target.kind, document)
    if target.name or target.subresource:
        subresource = target.kind.subresource(target.subresource)
        if subresource is None or subresource.post is None:
            raise _not_allowed()
        if subresource.body is not None:
            check_body(document, subresource.body, context, namespace if target.kind.namespaced else None)
        if target.name:
            _check_name(target, document, subresource, context)
        operation = Create(target.kind.resource, namespace, document, target.subresource)
        apply(store, operation, context)
        return with_warnings(
            json_response(
                {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201
            ),
            context,
        )
    stored = apply(store, Create(target.kind.resource, namespace, document), context, answerable(request, target))
    return object_of(store, request, target, stored, context, 201)


def _body(request: Request, target: Target) -> dict[str, Any]:
    """Return the document in the body of a request to a path."""
    subresource = target.kind.subresource(target.subresource)
    is_custom = target.kind.kept_in and (subresource is None or subresource.body is None)
    return decode_body(request, _sent_kind(target), target.kind.api_version if is_custom else "")


def _check_form(
    target: Target, document: dict[str, Any], of: tuple[str, str, str], context: Context, home: str
) -> None:
    """Refuse what is sent in a form of its own where it does not fit; of custom resources upstream cannot say what."""
    try:
        check_body(document, of, context, home if target.kind.namespaced else None)
    except Unreadable as error:
        if not target.kind.kept_in:
            raise
        scheme = "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:730"
        why = f'no kind is registered for the type {of[1]}.{of[2]} in scheme "{scheme}"'
        raise bad_request(why) from error


def _sent_kind(target: Target) -> str:
    """Return the kind of what is sent to a path."""
    subresource = target.kind.subresource(target.subresource)
    return target.kind.kind if subresource is None or subresource.body is None else subresource.body[2]


def _check_name(target: Target, document: Mapping[str, Any], subresource: Subresource, context: Context) -> None:
    """Refuse what is sent to another object than it names."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if name != target.name and subresource.body is not None:
        refusal = bad_request(f"name in URL does not match name in {subresource.body[2]} object")
        refusal.warnings = tuple(context.warnings)
        raise refusal


def update(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a PUT."""
    check_options(request, "UpdateOptions")
    document = _body(request, target)
    context = context_of(store, request, principal)
    context.repeated = repeated_fields(request, document)
    context.spelled = spelled_members(request, target.kind, document)
    home, name = _home(target), _named(target)
    metadata = document.get("metadata")
    subresource = target.kind.subresource(target.subresource)
    if subresource is not None and subresource.body is not None:
        _check_form(target, document, subresource.body, context, home)
    elif subresource is not None:
        check_type(target.kind.api_version, target.kind.kind, document)
    if not isinstance(metadata, dict) or not metadata.get("name"):
        if subresource is None or subresource.body is None:
            # Upstream reads the whole body before it looks at the name.
            checked(target.kind, document, context)
        elsewhere = isinstance(metadata, dict) and metadata.get("namespace") not in (None, "", home)
        refusal = other_namespace() if elsewhere and target.kind.namespaced else nameless(name)
        refusal.warnings = tuple(context.warnings)
        raise refusal
    operation: Update | Create = Update(target.kind.resource, home, name, document, target.subresource)
    status = 200
    makes = target.kind.made_by_put and target.subresource in ("", "status") and metadata["name"] == name
    if makes and ReadView(store).get(target.kind.resource, home, name) is None:
        # What is not there is made.
        operation, status = Create(target.kind.resource, home, document, replaces=True), 201
    stored = apply(store, operation, context, answerable(request, target))
    return object_of(store, request, target, stored, context, status)


def patch(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a PATCH of one of the four types."""
    patch_type = PATCH_TYPES.get(request.content_type_as_sent)
    if patch_type is None:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", extra={"details": {}})
    check_patch_options(request, applies=patch_type == "apply")
    body = decode_applied(request.body) if patch_type == "apply" else _json_patch(store, request, target, patch_type)
    context = context_of(store, request, principal)
    context.repeated = repeated_in_patch(request, patch_type, body)
    operation = Patch(
        target.kind.resource,
        _home(target),
        _named(target),
        body,
        patch_type,
        target.subresource,
        request.flag("force"),
    )
    stored = apply(store, operation, context, answerable(request, target))
    return object_of(store, request, target, stored, context, 201 if context.created else 200)


def _json_patch(store: SqlStore, request: Request, target: Target, patch_type: PatchType) -> Any:
    """Return the patch in a body.

    Raises:
        ApiError: 404, the object is looked up first; 400, it is no JSON.
    """
    try:
        return decode_json(request.body)
    except ApiError:
        why = syntax_error(request.body.decode("utf-8", "replace"))
        if not why:
            raise
        if ReadView(store).get(target.kind.resource, _home(target), _named(target)) is None:
            raise not_found(target.kind.resource, target.name) from None
        prefix = "" if patch_type == "strategic" else "error decoding patch: "
        raise bad_request(prefix + why) from None


def context_of(store: SqlStore, request: Request, principal: Principal, *, dry_run: bool | None = None) -> Context:
    """Return the registry's context of a request; `dry_run` where something else than the query says so."""
    validation = request.query.get("fieldValidation", "") or "Warn"
    asked = request.query.get("dryRun", "")
    return context_for(
        principal,
        store,
        field_validation=cast(Literal["Ignore", "Warn", "Strict"], validation),
        field_manager=manager_of(request),
        dry_run=asked == "All" if dry_run is None else dry_run,
        marks=request.marks,
    )


def _home(target: Target) -> str:
    if target.kind.namespaced and target.namespace is None:
        raise _not_allowed()
    return target.namespace or ""


def _named(target: Target) -> str:
    if not target.name:
        raise _not_allowed()
    return target.name


def _not_allowed() -> ApiError:
    return method_not_allowed()


def object_of(
    store: SqlStore, request: Request, target: Target, stored: Stored, context: Context, status: int
) -> Response:
    """Return an object that was written, in the form that the client accepts, with what it is warned of."""
    return with_warnings(rendered(ReadView(store), request, target, stored, status), context)


def answerable(request: Request, target: Target) -> Callable[[Stored], None]:
    """Return what refuses to keep an object that cannot be shown as the client accepts it: a refusal changes nothing.

    Upstream finds that out when it has written the object.
    """

    def check(stored: Stored) -> None:
        _wanted(request, _printed(target), stored.object)

    return check


def rendered(view: ReadView, request: Request, target: Target, stored: Stored, status: int = 200) -> Response:
    """Return one object in the form that the client accepts: as it is stored, it is JSON already."""
    return shown(view, request, _printed(target), stored.object, stored.data, status)


def _printed(target: Target) -> Printed:
    subresource = target.kind.subresource(target.subresource)
    return target.kind if subresource is None or subresource.view is None else subresource


def _wanted(request: Request, printed: Printed, document: Mapping[str, Any]) -> Wanted:
    """Return the form in which the client accepts one object.

    Raises:
        ApiError: 406.
    """
    version, kind = document.get("apiVersion", ""), document.get("kind", "")
    want = wanted(request, tables=bool(printed.columns), binary=protobuf.is_known(version, kind))
    want.check_include()
    want.check_shape(version, kind, listed=False)
    return want


def shown(
    view: ReadView, request: Request, printed: Printed, document: Mapping[str, Any], data: bytes, status: int
) -> Response:
    """Return a document in the form that the client accepts; `data` is it as JSON."""
    want = _wanted(request, printed, document)
    match want.form:
        case "table":
            version = document["metadata"].get("resourceVersion")
            metadata = {"resourceVersion": version} if version else {}
            age = age_by(view.unix_ms())
            return json_response(table(printed, [document], metadata, age, want), status)
        case "metadata":
            return json_response(partial(document, want.version, printed.converted), status)
        case _:
            return Response(status, data + b"\n")


def read(store: ReadView, request: Request, target: Target) -> Response:
    """Answer a GET of one object or of its status or scale.

    Raises:
        ApiError: 404; 504, a revision that is not there yet.
    """
    if request.flag("export"):
        raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    version = request.query.get("resourceVersion", "")
    if version not in ("", "0"):
        _check_revision(version, store.revision)
    stored = store.get(target.kind.resource, target.namespace or "", target.name)
    if stored is None:
        computed = target.kind.computed
        raise not_found((computed and computed.missing) or target.kind.resource, target.name)
    subresource = target.kind.subresource(target.subresource)
    if subresource is not None and "get" not in subresource.verbs:
        raise _not_allowed()
    if subresource is not None and subresource.view is not None:
        if subresource.check_shown is not None:
            subresource.check_shown(stored.object)
        document = subresource.view(stored.object)
        return shown(store, request, subresource, document, msgspec.json.encode(document), 200)
    return rendered(store, request, target, stored)


def _check_revision(text: str, current: int) -> None:
    wanted = read_revision(text, lambda why: ApiError(500, "", why))
    if wanted > current:
        raise too_large(wanted, current)


def with_warnings(response: Response, context: Context) -> Response:
    """Return the answer with what the registry warns of."""
    response.headers += map(warning, context.warnings[:WARNINGS_MAX])
    return response
