"""Writes over HTTP: POST, PUT, PATCH and DELETE become operations, one transaction each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal, cast

from clustersim.apiserver.messages import (
    Request,
    Response,
    decode_body,
    decode_json,
    decode_yaml,
    json_response,
    warning,
)
from clustersim.apiserver.negotiation import wanted
from clustersim.apiserver.routes import Target
from clustersim.apiserver.selection import selection_of
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.apiserver.tables import age_by, table
from clustersim.apiserver.virtual import ReadView
from clustersim.classroom.auth import Principal
from clustersim.classroom.writing import apply, context_for, writes
from clustersim.store import SqlStore
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Create, Delete, Patch, PatchType, Propagation, Update
from controllers.log.store import Stored, Transaction
from controllers.registry.context import Context
from scheduler_core.api.errors import ApiError, bad_request, method_not_allowed, not_found

PATCH_TYPES: Final[dict[str, PatchType]] = {
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/json-patch+json": "json",
    "application/apply-patch+yaml": "apply",
}

DELETE_BATCH_MAX: Final = 100
"""Objects of a collection deleted in one transaction, about 5 ms: others write in between."""

_PROPAGATIONS: Final = ("", "Background", "Foreground", "Orphan")


def create(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a POST to a collection, or to the binding or eviction of a pod."""
    if target.simulated:
        raise _simulated(target)
    document = decode_body(request)
    namespace = _home(target)
    context = _context(store, request, principal)
    if target.name or target.subresource:
        subresource = target.kind.subresource(target.subresource)
        if subresource is None or subresource.post is None:
            raise _not_allowed()
        if target.name:
            metadata = document.get("metadata")
            document["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "name": target.name}
        operation = Create(target.kind.resource, namespace, document, target.subresource)
        apply(store, operation, context)
        return _with_warnings(
            json_response(
                {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201
            ),
            context,
        )
    stored = apply(store, Create(target.kind.resource, namespace, document), context)
    return _object(store, request, target, stored, context, 201)


def update(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a PUT."""
    document = decode_body(request)
    context = _context(store, request, principal)
    operation = Update(target.kind.resource, _home(target), _named(target), document, target.subresource)
    return _object(store, request, target, apply(store, operation, context), context, 200)


def patch(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a PATCH of one of the three types; server-side apply gets 415."""
    patch_type = PATCH_TYPES.get(request.content_type)
    if patch_type is None:
        accepted = ", ".join(list(PATCH_TYPES)[:3])
        message = "the body of the request was in an unknown format - accepted media types include: " + accepted
        raise ApiError(415, "UnsupportedMediaType", message)
    body = decode_yaml(request.body) if patch_type == "apply" else decode_json(request.body)
    context = _context(store, request, principal)
    operation = Patch(
        target.kind.resource,
        _home(target),
        _named(target),
        body,
        patch_type,
        target.subresource,
        request.flag("force"),
    )
    return _object(store, request, target, apply(store, operation, context), context, 200)


def delete(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a DELETE of one object."""
    if target.subresource:
        raise _not_allowed()
    options = _delete_options(request)
    context = _context(store, request, principal, options)
    operation = _delete_of(target, _home(target), _named(target), options)
    last, gone = _remove(store, operation, context)
    if not gone:
        return _object(store, request, target, last, context, 200)
    details = {"name": target.name, "kind": target.kind.plural, "uid": last["metadata"]["uid"]}
    if target.kind.group:
        details["group"] = target.kind.group
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return _with_warnings(json_response(status), context)


def delete_collection(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a DELETE of a collection: what the selectors select, some at a time."""
    if target.kind.namespaced and target.namespace is None:
        raise _not_allowed()
    options = _delete_options(request)
    context = _context(store, request, principal, options)
    selection = selection_of(request, target)
    objects, revision = store.list(target.kind.resource, target.namespace)
    found = [stored for stored in objects if selection.matches(stored)]
    deleted: list[dict[str, Any]] = []
    for start in range(0, len(found), DELETE_BATCH_MAX):
        with writes(store, context.actor) as transaction:
            for stored in found[start : start + DELETE_BATCH_MAX]:
                deleted += _delete_one(transaction, target, stored, options, context)
            revision = transaction.revision
    return json_response(
        {
            "kind": f"{target.kind.kind}List",
            "apiVersion": target.kind.api_version,
            "metadata": {"resourceVersion": str(revision)},
            "items": deleted,
        }
    )


def _delete_one(
    transaction: Transaction, target: Target, stored: Stored, options: dict[str, Any], context: Context
) -> list[dict[str, Any]]:
    """Delete one object of a collection; one that is gone or was replaced meanwhile is no fault."""
    operation = replace(_delete_of(target, stored.namespace, stored.name, options), uid=stored.uid)
    try:
        return [REGISTRY.apply(transaction, operation, context)]
    except ApiError as error:
        if error.code in (404, 409):
            return []
        raise


def _remove(store: SqlStore, operation: Delete, context: Context) -> tuple[dict[str, Any], bool]:
    with writes(store, context.actor) as transaction:
        last = REGISTRY.apply(transaction, operation, context)
        gone = context.dry_run or transaction.get(operation.resource, operation.namespace, operation.name) is None
    return last, gone


def _context(store: SqlStore, request: Request, principal: Principal, options: dict[str, Any] | None = None) -> Context:
    validation = request.query.get("fieldValidation", "") or "Warn"
    if validation not in ("Ignore", "Warn", "Strict"):
        raise bad_request(f'fieldValidation: Unsupported value: {validation[:80]!r}: use "Ignore", "Strict" or "Warn"')
    dry_run = request.query.get("dryRun", "") or "".join((options or {}).get("dryRun") or [])
    if dry_run not in ("", "All"):
        raise bad_request(f'dryRun: Unsupported value: {dry_run[:80]!r}: supported values: "All"')
    return context_for(
        principal,
        store,
        field_validation=cast(Literal["Ignore", "Warn", "Strict"], validation),
        field_manager=request.query.get("fieldManager", "")[:128],
        dry_run=dry_run == "All",
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


def _delete_options(request: Request) -> dict[str, Any]:
    """Return DeleteOptions from the body or, where it is empty, from the query."""
    options: dict[str, Any] = {}
    if request.body.strip():
        options = decode_body(request)
    if "gracePeriodSeconds" not in options and request.query.get("gracePeriodSeconds"):
        options["gracePeriodSeconds"] = request.number("gracePeriodSeconds")
    options.setdefault("propagationPolicy", request.query.get("propagationPolicy", ""))
    grace = options.get("gracePeriodSeconds")
    if grace is not None and (isinstance(grace, bool) or not isinstance(grace, int) or abs(grace) > 2**40):
        raise bad_request("gracePeriodSeconds is not a number of seconds")
    if (options.get("propagationPolicy") or "") not in _PROPAGATIONS:
        raise bad_request('propagationPolicy: supported values: "Background", "Foreground", "Orphan"')
    preconditions = options.get("preconditions") or {}
    if not isinstance(preconditions, dict) or not all(
        isinstance(preconditions.get(key) or "", str) for key in ("uid", "resourceVersion")
    ):
        raise bad_request("preconditions must be an object with uid and resourceVersion")
    dry_run = options.get("dryRun") or []
    if not isinstance(dry_run, list) or not all(isinstance(item, str) for item in dry_run):
        raise bad_request("dryRun must be a list of strings")
    return options


def _delete_of(target: Target, namespace: str, name: str, options: dict[str, Any]) -> Delete:
    preconditions = options.get("preconditions") or {}
    propagation = options.get("propagationPolicy") or ""
    if not propagation and options.get("orphanDependents") is not None:
        propagation = "Orphan" if options["orphanDependents"] else "Background"
    return Delete(
        target.kind.resource,
        namespace,
        name,
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        grace_period_seconds=options.get("gracePeriodSeconds"),
        propagation=cast(Propagation, propagation),
    )


def _object(
    store: SqlStore, request: Request, target: Target, document: dict[str, Any], context: Context, status: int
) -> Response:
    return _with_warnings(rendered(store, request, target, document, status), context)


def rendered(
    store: SqlStore, request: Request, target: Target, document: dict[str, Any], status: int = 200
) -> Response:
    """Return one object in the form that the client accepts."""
    want = wanted(request)
    if want.form == "table" and document.get("kind") == target.kind.kind:
        metadata = {"resourceVersion": document["metadata"].get("resourceVersion", "")}
        age = age_by(session_unix_ms(store))
        return json_response(table(target.kind, [document], metadata, age, want.include), status)
    return json_response(document, status)


def read(store: ReadView, request: Request, target: Target) -> Response:
    """Answer a GET of one object or of its status or scale.

    Raises:
        ApiError: 404; 501 for what a simulated pod cannot do.
    """
    stored = store.get(target.kind.resource, target.namespace or "", target.name)
    if stored is None:
        raise not_found(target.kind.resource, target.name)
    if target.simulated:
        raise _simulated(target)
    subresource = target.kind.subresource(target.subresource)
    if subresource is not None and "get" not in subresource.verbs:
        raise _not_allowed()
    if subresource is not None and subresource.view is not None:
        return json_response(subresource.view(stored.object))
    return rendered(store.store, request, target, stored.object)


def _simulated(target: Target) -> ApiError:
    """Return the 501 of what only a running process could answer."""
    message = (
        f"{target.subresource}: the containers of this cluster are simulated, they run no process and write no log"
    )
    return ApiError(501, "NotImplemented", message, kind="pods", name=target.name)


def _with_warnings(response: Response, context: Context) -> Response:
    response.headers += map(warning, context.warnings[:20])
    return response
