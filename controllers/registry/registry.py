"""The registry: the only place that turns operations into writes. REST, import and the engine's loop all use it.

A document's way in: copy → schema (types, unknown fields) → metadata → defaults → admission → validation → guard → put.
Every refusal is raised before anything is put, so one operation's refusal leaves its transaction usable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from controllers.kinds.core.pod import eviction
from controllers.log.operations import Bind, Create, Delete, Operation, Patch, Result, Update
from controllers.log.stamps import wire_time
from controllers.log.store import RevisionConflict, Store, Stored, Transaction
from controllers.registry import deletion, incoming, subresources
from controllers.registry.incoming import Document
from controllers.registry.patch import json_patch, merge
from controllers.registry.schema import too_deep
from controllers.registry.strategic import strategic_merge
from scheduler_core.api.errors import ApiError, already_exists, bad_request, conflict, not_found
from scheduler_core.api.kinds import Kind, find_resource

Guard = Callable[[Operation, Mapping[str, Any] | None, Mapping[str, Any] | None], None]
"""Roles: gets the operation, the object before and the object as it would be stored; raises ApiError 403."""


@dataclass(slots=True)
class Context:
    """Who writes, and how names and uids are made. `warnings` is filled by the registry."""

    actor: str
    epoch_ms: int
    new_uid: Callable[[], str]
    new_suffix: Callable[[], str]
    now_ms: int = 0
    field_validation: Literal["Ignore", "Warn", "Strict"] = "Warn"
    field_manager: str = ""
    dry_run: bool = False
    creator: Mapping[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    guard: Guard | None = None


class Registry:
    """Applies operations. Stateless: everything it knows is in the transaction and the tables of kinds."""

    def apply(self, transaction: Transaction, operation: Operation, context: Context) -> Document:
        """Write one operation and return the stored document (for `scale` the Scale, for a delete the last state).

        Raises:
            ApiError: refused; nothing was put.
        """
        context.now_ms = transaction.now_ms
        transaction.actor = context.actor
        match operation:
            case Create():
                return self._create(transaction, operation, context)
            case Update():
                return self._update(transaction, operation, context)
            case Patch():
                return self._patch(transaction, operation, context)
            case Delete():
                return self._delete(transaction, operation, context)
            case Bind():
                return self._bind(transaction, operation, context)
            case _:
                assert_never(operation)

    def _create(self, transaction: Transaction, operation: Create, context: Context) -> Document:
        kind = _kind(operation.resource)
        if operation.subresource == "eviction":
            return self._evict(transaction, operation, context)
        if operation.subresource:
            return self.apply(transaction, subresources.operation_of(operation), context)
        document = incoming.new_document(kind, operation, context, transaction)
        name = document["metadata"]["name"]
        if transaction.get(kind.resource, operation.namespace, name) is not None:
            raise already_exists(kind.resource, name)
        _guarded(context, operation, None, document)
        return self._put(transaction, kind, document, context, expected=0)

    def _evict(self, transaction: Transaction, operation: Create, context: Context) -> Document:
        """Delete a pod if the budget that is about it allows, and count it there."""
        deletion_of = subresources.operation_of(operation)
        assert isinstance(deletion_of, Delete), "an eviction is a deletion"
        pod = _existing(transaction, _kind("pods"), deletion_of.namespace, deletion_of.name)
        now = wire_time(context.epoch_ms + context.now_ms)
        spent = eviction.budget_spent(transaction, pod.object, now)
        document = self._delete(transaction, deletion_of, context)
        if spent is not None:
            budget, changed = spent
            self._put(transaction, _kind(eviction.BUDGETS), changed, context, expected=budget.revision)
        return document

    def _update(self, transaction: Transaction, operation: Update, context: Context) -> Document:
        kind = _kind(operation.resource)
        stored = _existing(transaction, kind, operation.namespace, operation.name)
        if operation.subresource == "scale":
            replicas = subresources.scale_replicas(operation.object)
            changed: Document = {**stored.object, "spec": {**stored.object["spec"], "replicas": replicas}}
            subresources.check_scale_precondition(kind, stored, operation.object)
            document = self._replace(transaction, kind, stored, changed, operation, context, "")
            return subresources.scale_of(kind, document)
        return self._replace(transaction, kind, stored, operation.object, operation, context, operation.subresource)

    def _patch(self, transaction: Transaction, operation: Patch, context: Context) -> Document:
        kind = _kind(operation.resource)
        if too_deep(operation.patch):
            raise bad_request("the patch is nested too deeply")
        if operation.patch_type == "apply":
            raise ApiError(
                415, "UnsupportedMediaType", "server-side apply is not served here; use kubectl apply without it"
            )
        stored = _existing(transaction, kind, operation.namespace, operation.name)
        if operation.subresource == "scale":
            target = subresources.scale_of(kind, stored.object)
            schema = "autoscaling_v1.Scale"
        else:
            target, schema = stored.object, kind.schema
        changed = _patched(target, operation, schema)
        update = Update(kind.resource, operation.namespace, operation.name, changed, operation.subresource)
        if operation.subresource == "scale":
            return self._update(transaction, update, context)
        document = self._replace(transaction, kind, stored, changed, operation, context, operation.subresource)
        return document

    def _replace(
        self,
        transaction: Transaction,
        kind: Kind,
        stored: Stored,
        changed: Document,
        operation: Operation,
        context: Context,
        subresource: str,
    ) -> Document:
        """Put `changed` in the place of `stored`, unless that changes nothing."""
        document = incoming.changed_document(kind, stored, changed, subresource, context, transaction)
        _guarded(context, operation, stored.object, document)
        if deletion.is_final(kind, document):
            return self._remove(transaction, kind, stored, document, context)
        if incoming.same(document, stored.object):
            return stored.object
        return self._put(transaction, kind, document, context, expected=stored.revision)

    def _delete(self, transaction: Transaction, operation: Delete, context: Context) -> Document:
        kind = _kind(operation.resource)
        stored = _existing(transaction, kind, operation.namespace, operation.name)
        deletion.check_preconditions(kind, stored, operation)
        document = deletion.marked(kind, stored.object, operation, context.epoch_ms + context.now_ms)
        _guarded(context, operation, stored.object, None if document is None else document)
        if document is None:
            return self._remove(transaction, kind, stored, None, context)
        if incoming.same(document, stored.object):
            return stored.object
        return self._put(transaction, kind, document, context, expected=stored.revision)

    def _bind(self, transaction: Transaction, operation: Bind, context: Context) -> Document:
        kind = _kind("pods")
        stored = _existing(transaction, kind, operation.namespace, operation.name)
        document = subresources.bound(stored.object, operation, context.epoch_ms + context.now_ms)
        _guarded(context, operation, stored.object, document)
        return self._put(transaction, kind, document, context, expected=stored.revision)

    def _put(
        self, transaction: Transaction, kind: Kind, document: Document, context: Context, *, expected: int
    ) -> Document:
        incoming.check_size(kind, document)
        if context.dry_run:
            return document
        metadata = document["metadata"]
        try:
            stored = transaction.put(
                kind.resource, metadata.get("namespace", ""), metadata["name"], document, expected=expected
            )
        except RevisionConflict as error:
            raise conflict(kind.resource, metadata["name"]) from error
        return stored.object

    def _remove(
        self, transaction: Transaction, kind: Kind, stored: Stored, document: Document | None, context: Context
    ) -> Document:
        if context.dry_run:
            return document or stored.object
        try:
            removed = transaction.delete(
                kind.resource, stored.namespace, stored.name, expected=stored.revision, document=document
            )
        except RevisionConflict as error:
            raise conflict(kind.resource, stored.name) from error
        return removed.object


def apply_all(
    store: Store,
    operations: Iterable[Operation],
    context_of: Callable[[Operation], Context],
    *,
    now_ms: int | None = None,
    fence: int | None = None,
    actor: str = "session",
) -> list[Result]:
    """Apply operations in one transaction, each with its own result; a refusal of one does not touch the others.

    Raises:
        Fenced: the epoch is over; nothing was written.
    """
    results: list[Result] = []
    registry = Registry()
    with store.transaction(actor, now_ms=now_ms, fence=fence) as transaction:
        for operation in operations:
            results.append(attempt(registry, transaction, operation, context_of(operation)))
    return results


def attempt(registry: Registry, transaction: Transaction, operation: Operation, context: Context) -> Result:
    """Apply one operation and return its result, the refusal included."""
    try:
        document = registry.apply(transaction, operation, context)
    except ApiError as error:
        return Result(operation, None, error, transaction.revision)
    return Result(operation, document, None, transaction.revision)


def _kind(resource: str) -> Kind:
    kind = find_resource(resource)
    if kind is None:
        raise ApiError(404, "NotFound", f"the server doesn't have a resource type {resource!r}")
    return kind


def _existing(transaction: Transaction, kind: Kind, namespace: str, name: str) -> Stored:
    stored = transaction.get(kind.resource, namespace, name)
    if stored is None:
        raise not_found(kind.resource, name)
    return stored


def _guarded(
    context: Context, operation: Operation, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> None:
    if context.guard is not None:
        context.guard(operation, old, new)


def _patched(target: Mapping[str, Any], operation: Patch, schema: str) -> Document:
    if operation.patch_type == "json":
        return json_patch(dict(target), operation.patch)
    if not isinstance(operation.patch, dict):
        raise bad_request("a merge patch is an object")
    if operation.patch_type == "strategic":
        return strategic_merge(dict(target), operation.patch, schema)
    merged: Document = merge(dict(target), operation.patch)
    return merged
