"""What of a kind's objects may be owned, and how a configuration that is applied enters one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.log.operations import Patch
from controllers.log.stamps import wire_time
from controllers.log.store import Stored, Transaction, copy_object
from controllers.registry import strategic
from controllers.registry.checking import check
from controllers.registry.context import Context
from controllers.registry.fieldowners import managers, scales
from controllers.registry.fieldowners.managers import Entry, Scope, applied, check_object, title_of
from controllers.registry.gotext import json_name
from controllers.registry.incoming import Own, check_place
from controllers.registry.kind import Kind, Subresource
from controllers.registry.metadata import without_creator
from controllers.registry.patch import unrestorable
from controllers.registry.schema import model
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request, conflict, not_found


class Application(NamedTuple):
    """What comes of applying a configuration, before it is checked."""

    document: Document
    owners: list[Entry] | None
    stored: Stored | None
    """The object as it is; None: it is created."""


def scope_of(kind: Kind, subresource: Subresource | None) -> Scope:
    """Return what one way of writing objects of a kind may own."""
    if subresource is None:
        parts = frozenset(one.part for one in kind.subresources if one.part and one.reset)
        return Scope(kind.schema, kind.api_version, parts=parts, owned=kind.owned)
    if subresource.body is not None:
        group, version, _ = subresource.body
        return Scope(subresource.schema, f"{group}/{version}", subresource.name)
    carried = tuple(subresource.carries) if subresource.owns_carried else ()
    return Scope(kind.schema, kind.api_version, subresource.name, subresource.part, carried, owned=kind.owned)


def with_owners(subresource: Subresource, document: Mapping[str, Any]) -> Document:
    """Return an object as a subresource in a form of its own shows it, with who owns what of that."""
    assert subresource.view is not None
    shown = subresource.view(document)
    owners = scales.of_scale(document["metadata"].get("managedFields"), subresource.replicas)
    return {**shown, "metadata": {**shown["metadata"], "managedFields": owners}} if owners else shown


def written(kind: Kind, subresource: Subresource | None, body: Any, name: str, time: str) -> Own:
    """Return what tells who owns the fields of an object that `name` writes.

    Args:
        kind: in the version in which it is written.
        subresource: through which it is written; None: the object itself.
        body: what was sent for a subresource that shows the whole object: who sent it owns all that it changes,
            though the object keeps most of it as it was.
        name: who writes.
        time: now, as it is told.
    """
    scope = scope_of(kind, subresource)
    if subresource is not None and subresource.body is not None:

        def of_scale(old: Mapping[str, Any] | None, new: Mapping[str, Any], sent: Any) -> Sequence[Document] | None:
            assert old is not None
            assert subresource.view is not None
            live = with_owners(subresource, old)
            told = managers.updated(scope, live, subresource.view(new), None, name, time)
            before = old["metadata"].get("managedFields")
            return scales.of_object(before, told, subresource.replicas, kind.api_version)

        return of_scale
    if subresource is not None and subresource.view is not None:

        def of_body(old: Mapping[str, Any] | None, new: Mapping[str, Any], sent: Any) -> Sequence[Document] | None:
            whole = without_creator(copy_object(dict(body)))
            check(whole, kind.schema)
            kind.defaults(whole)
            return managers.updated(scope, old, whole, None, name, time)

        return of_body
    if kind.stored_as is None:
        return lambda old, new, sent: managers.updated(scope, old, new, sent, name, time)

    def of_version(old: Mapping[str, Any] | None, new: Mapping[str, Any], sent: Any) -> Sequence[Document] | None:
        before = None if old is None else kind.outward(old)
        return managers.updated(scope, before, kind.outward(new), sent, name, time)

    return of_version


def application(
    kind: Kind, subresource: Subresource | None, operation: Patch, transaction: Transaction, context: Context
) -> Application:
    """Apply a configuration to what is stored.

    Raises:
        ApiError: 400, it is no such object; 404, it is of a part of what is not there; 409, others own what it sets;
            422, it is of another object of the name; 500, it does not fit the schema.
    """
    stored_as = kind.stored_as or kind
    stored = transaction.get(stored_as.stored_resource, operation.namespace, operation.name)
    if stored is None and subresource is not None and not (kind.made_by_put and subresource.part):
        raise not_found(kind.stored_resource, operation.name)
    config = _configuration(operation.patch)
    scope = scope_of(kind, subresource)
    time = wire_time(context.unix_ms)
    if stored is not None and subresource is not None and subresource.body is not None:
        check_object(config, scope.api_version, subresource.body[2])
        live = with_owners(subresource, stored.object)
        if kind.kept_in and not live["metadata"].get("managedFields"):
            raise _unconverted(f"create manager for existing fields: failed to convert live object {_NAMELESS_SCALE}")
        document, owners = applied(scope, live, config, context.field_manager, time, force=operation.force)
        if kind.kept_in:
            raise _unconverted(f"convert new object ({title_of(config)})")
        before = stored.object["metadata"].get("managedFields")
        owners = scales.of_object(before, owners, subresource.replicas, kind.api_version)
    else:
        check_object(config, scope.api_version, kind.kind)
        whole = None if stored is None else kind.outward(without_creator(stored.object))
        document, owners = applied(scope, whole, config, context.field_manager, time, force=operation.force)
    _check_identity(kind, stored, config, operation)
    if not kind.kept_in:
        schema = (subresource.schema if subresource is not None else "") or kind.schema
        document = strategic.cut(document, model(schema))
    return Application(document, owners, stored)


_NAMELESS_SCALE: Final = "(/; autoscaling/v1, Kind=Scale)"


def _unconverted(what: str) -> ApiError:
    """Return the refusal of who applies a scale to a custom resource: upstream finds no way from one to the other."""
    why = "request to convert CR to an invalid group/version: autoscaling/v1"
    return ApiError(500, "", f"failed to {what} to proper version: {why}")


def unreadable(kind: Kind, config: Any, document: Document, error: ApiError) -> ApiError:
    """Return the refusal of what came of applying a configuration, and is no object of its kind."""
    group_version = kind.api_version if "/" in kind.api_version else f"/{kind.api_version}"
    told = unrestorable(error.causes[0].message if error.causes else error.message, document, error, kind.schema)
    why = f"unable to convert unstructured object to {group_version}, Kind={kind.kind}: {told}"
    return ApiError(500, "", f"failed to convert new object ({title_of(config)}) to proper version: {why}")


def _configuration(patch: Any) -> Document:
    if isinstance(patch, dict):
        return patch
    if patch is None:
        return {}
    raise bad_request(
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        f"{json_name(patch)} into Go value of type map[string]interface {{}}"
    )


def _check_identity(kind: Kind, stored: Stored | None, config: Mapping[str, Any], operation: Patch) -> None:
    """Refuse what is meant for an object that is there no more, in another namespace or under another name."""
    metadata, name = config.get("metadata"), operation.name
    given = metadata if isinstance(metadata, dict) else {}
    uid = given.get("uid")
    if uid and stored is None:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(kind.stored_resource, name, why)
    check_place(kind, given, operation.namespace, name, needed=stored is None)
