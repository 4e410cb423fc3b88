"""Whether a body is meant for the object that its path names, and the refusals where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from controllers.flags.apiserver import ETCD_PREFIX
from controllers.flags.held import flags_of
from controllers.log.operations import Update
from controllers.log.store import Stored, Transaction
from controllers.log.transaction import OBJECT_BYTES_MAX
from controllers.registry import reading
from controllers.registry.context import Context
from controllers.registry.kind import Kind
from controllers.registry.subresources import check_version
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request, conflict, invalid


def check_sent(kind: Kind, operation: Update, context: Context) -> None:
    """Refuse a body that is no change of the object that its path names: upstream looks before it looks for that.

    Raises:
        ApiError: 400.
    """
    reading.decoded(kind, operation.object, {}, context)
    metadata = operation.object.get("metadata")
    if isinstance(metadata, dict):
        check_place(kind, metadata, operation.namespace, operation.name)


def check_place(kind: Kind, metadata: Mapping[str, Any], namespace: str, name: str, *, needed: bool = False) -> None:
    """Refuse metadata of an object that lies elsewhere than a path leads; `needed`: it has to tell its name.

    Raises:
        ApiError: 400.
    """
    if kind.namespaced and metadata.get("namespace") not in (None, "", namespace):
        raise other_namespace()
    sent = metadata.get("name")
    if sent not in (None, "", name):
        raise bad_request(f"the name of the object ({sent}) does not match the name on the URL ({name})")
    if needed and not sent:
        raise nameless(name)


def other_namespace() -> ApiError:
    """Return the 400 of an object of another namespace than a path leads to."""
    return bad_request("the namespace of the provided object does not match the namespace sent on the request")


def nameless(name: str) -> ApiError:
    """Return the 400 of an object that does not tell its name."""
    return bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")


class Preconditions(NamedTuple):
    """What of preconditions is looked at, and how it is told."""

    strict: bool
    """Whether a change that names no version is refused where upstream asks for one."""
    dry_run: bool
    """Upstream names the key as it is before it gets its prefix."""
    uid: bool
    """Whether another uid is a conflict."""


def check_preconditions(
    kind: Kind, stored: Stored, changed: Document, transaction: Transaction, looks: Preconditions
) -> None:
    """Refuse a change of another object or version."""
    metadata = changed.get("metadata")
    if metadata is None:
        return
    check_place(kind, metadata, stored.namespace, stored.name)
    uid = metadata.get("uid")
    if looks.uid and uid not in (None, "", stored.uid):
        raise other_uid(kind, (stored.namespace, stored.name), uid, stored.uid, transaction, dry_run=looks.dry_run)
    version = metadata.get("resourceVersion")
    if version in (None, "", "0"):
        if looks.strict and not kind.unconditional:
            why = "Invalid value: 0: must be specified for an update"
            cause = Cause("metadata.resourceVersion", why, "FieldValueInvalid")
            raise invalid(kind.plural, kind.group, stored.name, [cause])
    elif version != str(stored.revision):
        check_version(version)
        raise conflict(kind.stored_resource, stored.name)


def other_uid(
    kind: Kind, place: tuple[str, str], asked: Any, uid: str, transaction: Transaction, *, dry_run: bool
) -> ApiError:
    """Return the 409 of a change that is meant for another object than lies at a place; `uid` empty: none does."""
    why = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {uid}"
    key = kind.key_of("" if dry_run else flags_of(transaction)[ETCD_PREFIX], *place)
    failed = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    return conflict(kind.stored_resource, place[1], failed)


def other_object(kind: Kind, stored: Stored, uid: Any) -> ApiError:
    """Return the 422 of a patch that makes an object another one."""
    # Upstream looks once for every kind, and in the kind's own rules.
    cause = Cause("metadata.uid", f'Invalid value: "{uid}": field is immutable', "FieldValueInvalid")
    return invalid(kind.kind, kind.group, stored.name, [cause] * (1 + kind.metadata_looks.count("c")))


def too_large(kind: Kind, name: str, size: int) -> ApiError:
    """Return the 413 of a document larger than one may be stored."""
    return ApiError(
        413,
        "RequestEntityTooLarge",
        f'{kind.plural} "{name}" has {size} bytes, at most {OBJECT_BYTES_MAX} can be stored; make it smaller',
        kind=kind.plural,
        group=kind.group,
        name=name,
    )
