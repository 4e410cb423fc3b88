"""DELETE: options from the body or the query, one object or a collection, and what is answered of what went.

Source: apiserver's endpoints/handlers/delete.go and registry/generic/registry/store.go, v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from clustersim.apiserver.listing import check_shown, page_of, rendered_page, selected
from clustersim.apiserver.messages import Request, Response, decoded, json_response, unnamed
from clustersim.apiserver.routes import Target
from clustersim.apiserver.virtual import ReadView
from clustersim.apiserver.writing import answerable, context_of, object_of, with_warnings
from clustersim.classroom.auth import Principal
from clustersim.classroom.writing import writes
from clustersim.store import SqlStore
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Delete, Propagation
from controllers.log.store import Stored, Transaction
from controllers.registry.context import Context
from controllers.registry.decoding import fits, mismatch
from controllers.registry.deletion import options_wrong
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid, method_not_allowed

DELETE_BATCH_MAX: Final = 100
"""Objects of a collection deleted in one transaction, about 5 ms: others write in between."""

_SCHEME: Final = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
_GRACE_MAX: Final = 2**40


@dataclass(frozen=True, slots=True)
class Options:
    """DeleteOptions. None is what nobody said."""

    grace_period_seconds: int | None = None
    propagation: str | None = None
    orphan: bool | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: tuple[str, ...] = ()

    def causes(self) -> list[Cause]:
        """Return what is wrong with them."""
        return options_wrong(self.propagation, self.orphan, self.dry_run)

    def operation(self, target: Target, namespace: str, name: str) -> Delete:
        """Return the delete of one object."""
        propagation = self.propagation or ""
        if self.orphan is not None:
            # What empties itself takes this for a wish to wait for its dependents (core/namespace/storage, v1.34).
            propagation = "Orphan" if self.orphan else "Foreground" if target.kind.holds_itself else "Background"
        return Delete(
            target.kind.resource,
            namespace,
            name,
            uid=self.uid,
            resource_version=self.resource_version,
            grace_period_seconds=self.grace_period_seconds,
            propagation=cast(Propagation, propagation),
        )


def delete(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a DELETE of one object."""
    if target.subresource or (target.kind.namespaced and target.namespace is None):
        raise method_not_allowed()
    options = _options(request)
    context = context_of(store, request, principal, dry_run=bool(options.dry_run))
    _warn_of_orphans(target, options, context)
    operation = options.operation(target, target.namespace or "", target.name)
    always_shown = target.kind.returned_when_deleted
    check = answerable(request, target)
    last, gone = _remove(store, target.kind.stored_resource, operation, context, check, always=always_shown)
    if not gone or always_shown:
        # Whoever says that dependents go with it is told that this takes a while.
        status = 202 if not gone and options.orphan is False else 200
        return object_of(store, request, target, last, context, status)
    details = {"name": target.name, "kind": target.kind.plural, "uid": last.uid}
    if target.kind.group:
        details["group"] = target.kind.group
    status_document = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return with_warnings(json_response(status_document), context)


def delete_collection(store: SqlStore, request: Request, target: Target, principal: Principal) -> Response:
    """Answer a DELETE of a collection with what was there: what the selectors select, some at a time."""
    if target.kind.namespaced and target.namespace is None:
        raise method_not_allowed()
    check_shown(request, target)
    # What is selected is judged before how it is to go.
    selected(request, target)
    options = _options(request)
    context = context_of(store, request, principal, dry_run=bool(options.dry_run))
    _warn_of_orphans(target, options, context)
    page = page_of(ReadView(store), request, target, in_pages=True)
    for start in range(0, len(page.items), DELETE_BATCH_MAX):
        _remove_some(store, target, page.items[start : start + DELETE_BATCH_MAX], options, context)
    return with_warnings(rendered_page(ReadView(store), request, target, page), context)


def _warn_of_orphans(target: Target, options: Options, context: Context) -> None:
    """Warn whoever says nothing of the dependents of a kind that leaves them, whatever becomes of the request."""
    if target.kind.orphans_warning and options.propagation is None and options.orphan is None:
        context.warnings.append(target.kind.orphans_warning)


def _remove_some(store: SqlStore, target: Target, found: Sequence[Stored], options: Options, context: Context) -> None:
    """Delete some objects of a collection; one that is gone or was replaced meanwhile is no fault."""
    refused: ApiError | None = None
    with writes(store, context.actor) as transaction:
        for stored in found:
            operation = options.operation(target, stored.namespace, stored.name)
            try:
                if operation.uid is None:
                    operation = replace(operation, uid=stored.uid)
                REGISTRY.apply(transaction, operation, context)
            except ApiError as error:
                if error.code not in (404, 409):
                    raise
                asked = options.uid is not None or options.resource_version is not None
                refused = refused or (error if asked and error.code == 409 else None)
    if refused is not None:
        raise refused


def _remove(
    store: SqlStore,
    resource: str,
    operation: Delete,
    context: Context,
    check: Callable[[Stored], None],
    *,
    always: bool,
) -> tuple[Stored, bool]:
    """Return (the object as it was last, whether it is gone); one that is not, or `always`, is checked."""
    with writes(store, context.actor) as transaction:
        try:
            last = REGISTRY.apply(transaction, operation, context)
            gone = _would_be_gone(last) if context.dry_run else _is_gone(transaction, resource, operation)
            if always or not gone:
                check(last)
        except ApiError as refusal:
            refusal.warnings = tuple(context.warnings)
            raise
    return last, gone


def _is_gone(transaction: Transaction, resource: str, operation: Delete) -> bool:
    return transaction.get(resource, operation.namespace, operation.name) is None


def _would_be_gone(last: Stored) -> bool:
    return "deletionTimestamp" not in last.object["metadata"]


def _options(request: Request) -> Options:
    """Return DeleteOptions from the body or, where it is empty, from the query.

    Raises:
        ApiError: 400, 415, 500 (a body that is no document, as upstream has it), 422.
    """
    options = _from_body(_body(request)) if request.body else _from_query(request)
    causes = options.causes()
    if causes:
        raise invalid("DeleteOptions", "meta.k8s.io", "", causes)
    return options


_UNVERSIONED: Final = ("Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList")
_ALSO_READ: Final[Mapping[str, Sequence[str]]] = {
    "v1": _UNVERSIONED,
    "meta.k8s.io/v1": (
        *("PartialObjectMetadata", "PartialObjectMetadataList", "Table", "TableOptions", "WatchEvent"),
        *("ListOptions", "GetOptions", "CreateOptions", "UpdateOptions", "PatchOptions"),
    ),
}
"""What upstream's reader of options knows beside DeleteOptions."""


def _body(request: Request) -> dict[str, Any]:
    try:
        body = decoded(request)
    except ApiError as error:
        if error.code != 400:
            raise
        raise ApiError(500, "", str(error.message)) from error
    if why := unnamed(body):
        raise ApiError(500, "", why)
    kind = body.get("kind")
    if str(body.get("apiVersion") or "").count("/") > 1:
        raise ApiError(500, "", f"unexpected GroupVersion string: {body['apiVersion']}")
    if kind in _ALSO_READ.get(str(body.get("apiVersion")), ()):
        raise ApiError(500, "", f"converting (v1.{kind}) to (v1.DeleteOptions): unknown conversion")
    if isinstance(kind, str) and kind not in ("", "DeleteOptions"):
        version = body.get("apiVersion") or "meta.k8s.io/v1"
        raise ApiError(500, "", f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"')
    return body


def _from_query(request: Request) -> Options:
    grace = request.query.get("gracePeriodSeconds")
    if grace is not None and not re.fullmatch(r"[+-]?\d{1,18}", grace):
        raise bad_request(f'strconv.ParseInt: parsing "{grace[:80]}": invalid syntax')
    orphan = request.query.get("orphanDependents")
    dry_run = request.query.get("dryRun")
    return Options(
        grace_period_seconds=None if grace is None else int(grace),
        propagation=request.query.get("propagationPolicy"),
        orphan=None if orphan is None else orphan.lower() not in ("false", "0"),
        uid=request.query.get("uid") or None,
        resource_version=request.query.get("resourceVersion") or None,
        dry_run=() if dry_run is None else (dry_run,),
    )


def _from_body(body: dict[str, Any]) -> Options:
    preconditions = _typed(body, "preconditions", dict, "v1.Preconditions") or {}
    dry_run = _typed(body, "dryRun", list, "[]string") or []
    for item in dry_run:
        _typed({"dryRun": item}, "dryRun", str, "string")
    grace = _typed(body, "gracePeriodSeconds", int, "int64")
    if grace is not None and not fits(grace, "int64"):
        raise ApiError(500, "", mismatch(grace, "DeleteOptions", "gracePeriodSeconds", "int64"))
    if grace is not None and abs(grace) > _GRACE_MAX:
        raise bad_request("gracePeriodSeconds is not a number of seconds")
    return Options(
        grace_period_seconds=grace,
        propagation=_typed(body, "propagationPolicy", str, "v1.DeletionPropagation"),
        orphan=_typed(body, "orphanDependents", bool, "bool"),
        uid=_typed(preconditions, "uid", str, "types.UID", "Preconditions"),
        resource_version=_typed(preconditions, "resourceVersion", str, "string", "Preconditions"),
        dry_run=tuple(dry_run),
    )


def _typed(body: dict[str, Any], key: str, of: type, go_type: str, owner: str = "") -> Any:
    """Return a member of DeleteOptions.

    Raises:
        ApiError: 500, it is of another type; so upstream answers.
    """
    value = body.get(key)
    if value is None or (isinstance(value, of) and (of is bool or not isinstance(value, bool))):
        return value
    place = f"{owner.lower()}.{key}" if owner else key
    raise ApiError(500, "", mismatch(value, owner or "DeleteOptions", place, go_type))
