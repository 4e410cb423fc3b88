"""What of a kind's objects may be owned, and how a configuration that is applied enters one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from controllers.log.operations import Patch
from controllers.log.stamps import wire_time
from controllers.log.store import Stored, Transaction
from controllers.registry.context import Context
from controllers.registry.fieldowners import merge
from controllers.registry.fieldowners.managers import Entry, Scope, applied, check_object, title_of
from controllers.registry.fieldowners.types import type_of
from controllers.registry.gotext import json_name
from controllers.registry.incoming import other_object
from controllers.registry.kind import Kind, Subresource
from controllers.registry.metadata import without_creator
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
    carried = tuple(subresource.carries)
    return Scope(kind.schema, kind.api_version, subresource.name, subresource.part, carried, owned=kind.owned)


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
    if stored is None and subresource is not None:
        raise not_found(kind.stored_resource, operation.name)
    config = _configuration(operation.patch)
    scope = scope_of(kind, subresource)
    if subresource is not None and subresource.body is not None:
        config = _of_parent(kind, subresource, config)
    check_object(config, scope.api_version, kind.kind)
    live = None if stored is None else kind.outward(without_creator(stored.object))
    time = wire_time(context.unix_ms)
    document, owners = applied(scope, live, config, context.field_manager, time, force=operation.force)
    _check_identity(kind, stored, config, operation.name)
    if stored is None:
        metadata = document.get("metadata")
        document["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "name": operation.name}
    return Application(document, owners, stored)


def _configuration(patch: Any) -> Document:
    if isinstance(patch, dict):
        return patch
    if patch is None:
        return {}
    raise bad_request(
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        f"{json_name(patch)} into Go value of type map[string]interface {{}}"
    )


def _of_parent(kind: Kind, subresource: Subresource, config: Document) -> Document:
    """Return what a subresource in a form of its own asks of the object: a Scale's replicas."""
    assert subresource.body is not None
    group, version, name = subresource.body
    check_object(config, f"{group}/{version}", name)
    try:
        merge.validate(config, type_of(subresource.schema))
    except merge.Untyped as error:
        raise ApiError(500, "", f"failed to create typed patch object ({title_of(config)}): {error}") from error
    kept = {key: value for key, value in config.items() if key not in ("status", "apiVersion", "kind")}
    return {"apiVersion": kind.api_version, "kind": kind.kind, **kept}


def _check_identity(kind: Kind, stored: Stored | None, config: Mapping[str, Any], name: str) -> None:
    """Refuse what is meant for an object that is there no more, or under another name."""
    metadata = config.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    if given.get("name") not in (None, "", name):
        raise bad_request(f"the name of the object ({given['name']}) does not match the name on the URL ({name})")
    uid = given.get("uid")
    if not uid:
        return
    if stored is None:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(kind.stored_resource, name, why)
    if uid != stored.uid:
        raise other_object(kind, stored, uid)
