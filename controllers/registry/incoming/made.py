"""The document of a create: named, dated, with its defaults, and accepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from controllers.log.operations import Create
from controllers.log.stamps import wire_time
from controllers.log.store import Transaction, copy_object
from controllers.registry import additions, reading
from controllers.registry import metadata as metadata_rules
from controllers.registry.checking import fill
from controllers.registry.context import Context
from controllers.registry.incoming.addressed import other_namespace, other_uid
from controllers.registry.incoming.current import Current
from controllers.registry.incoming.shared import (
    Mutate,
    Own,
    arranged,
    as_sent,
    listed,
    name_owners_once,
    refuse,
    sent_owners,
)
from controllers.registry.kind import Kind
from controllers.registry.repeats import Run
from controllers.registry.schema import model
from controllers.registry.subresources import check_version
from scheduler_core.api.document import Document, child

GENERATE_NAME_MAX: Final = 58
"""Letters kept of generateName, so that five more fit a 63 letter label."""

GENERATE_ATTEMPTS: Final = 8
"""Suffixes tried before a generated name is given up; 27^5 suffixes make even the second one rare."""


def new_document(
    kind: Kind,
    operation: Create,
    context: Context,
    transaction: Transaction,
    mutate: Mutate,
    own: Own | None = None,
) -> Document:
    """Return the complete document of a create, accepted but not yet put.

    Raises:
        ApiError: 400, 403, 404 or 422, with the fields that are wrong.
    """
    with context.step("registry", "decode") as read:
        document, missing = reading.decoded(kind, operation.object, {}, context)
        metadata = child(document, "metadata")
        version = metadata.pop("resourceVersion", "")
        if operation.replaces:
            uid, name = metadata.get("uid"), str(metadata.get("name") or "")
            if uid:
                home = operation.namespace if kind.namespaced else ""
                raise other_uid(kind, (home, name), uid, "", transaction, dry_run=context.dry_run)
            check_version(version or "0")
        _check_namespace(kind, metadata, operation.namespace)
    # A name that will be made is not known yet to what mutates.
    title = str(metadata.get("name") or metadata.get("generateName") or "Unknown")
    _name_it(kind, metadata, operation.namespace, context, transaction)
    unix_ms = context.epoch_ms + transaction.now_ms
    name_owners_once(metadata, context, late=False)
    metadata["uid"] = context.new_uid()
    metadata["creationTimestamp"] = wire_time(unix_ms)
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"):
        metadata.pop(key, None)
    if kind.generation and kind.first_generation:
        metadata["generation"] = kind.first_generation
    elif not metadata.get("generation", 1):
        del metadata["generation"]
    metadata_rules.drop_empty(metadata)
    owned = None if own is None else _owned_at_first(kind, document, operation.object, own, context)
    if context.creator:
        metadata["annotations"] = {**metadata.get("annotations", {}), **context.creator}
    kind.prepare(document)
    kind.defaults(document)
    if context.field_manager and not kind.kept_in and isinstance(document.get("status"), dict):
        # What the engine writes is whole.
        fill(document["status"], model(kind.schema).fields["status"].model)
    filled = None if read is None else additions.added(kind, operation.object, document)
    if filled is not None:
        additions.tell(read, filled.own)
    if owned:
        metadata["managedFields"] = owned
    mutate(document, title)
    with context.step("registry", "strategy") as ruled:
        causes = kind.admit(
            document, Current(transaction, unix_ms, context.looked_up, dry_run=context.dry_run, user=context.user)
        )
        own_rules = as_sent(lambda document: kind.validate(document) + kind.validate_new(document), document, context)
        if kind.metadata_looks or not (causes or own_rules):
            # Where the kind's own rules do not look at metadata, they are looked at once the rest is good.
            causes += metadata_rules.validate(metadata, kind.names, any_finalizers=kind.any_finalizers)
        causes += own_rules
        refuse(kind, metadata["name"], causes, reading.still_missing(kind, missing, document))
        reading.tell_zeroes(kind, missing, document)
        kind.settle(document)
    if filled is not None:
        additions.tell(ruled, filled.systems)
    if version and (context.dry_run or not operation.replaces):
        # What is not stored is shown with the one that was sent; where it would be stored, the store looks at it.
        metadata["resourceVersion"] = version
    return arranged(document)


def _owned_at_first(
    kind: Kind, document: Document, given: Document, own: Own, context: Context
) -> Sequence[Document] | None:
    """Return the managed fields of a new object: what was sent and its defaults, not what is put to it here."""
    plain = copy_object(document)
    kind.defaults(plain)
    return own(None, listed(plain, context), sent_owners(given))


def repeated_document(
    run: Run,
    kind: Kind,
    operation: Create,
    transaction: Transaction,
    new_uid: Callable[[], str],
    new_suffix: Callable[[], str],
) -> Document | None:
    """Return the document of a create that repeats those before it; None where it has to go its own way."""
    home = operation.namespace if kind.namespaced else ""
    if operation.form is None:
        name = _free_name(kind, operation.object["metadata"]["generateName"], home, new_suffix, transaction)
    else:
        name = operation.form.values[0]
        if transaction.get(kind.stored_resource, home, name) is not None:
            return None
    return run.next(name, new_uid(), operation.form, new_suffix)


def _check_namespace(kind: Kind, metadata: Document, namespace: str) -> None:
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace") not in (None, "", namespace):
        raise other_namespace()
    metadata["namespace"] = namespace


def _name_it(kind: Kind, metadata: Document, namespace: str, context: Context, transaction: Transaction) -> None:
    prefix = metadata.get("generateName")
    if metadata.get("name"):
        return
    if not prefix:
        # Told with whatever else is wrong.
        metadata["name"] = context.new_uid() if kind.names_itself else ""
        return
    home = namespace if kind.namespaced else ""
    metadata["name"] = _free_name(kind, prefix, home, context.new_suffix, transaction)


def _free_name(kind: Kind, prefix: str, home: str, new_suffix: Callable[[], str], transaction: Transaction) -> str:
    name = ""
    for _ in range(GENERATE_ATTEMPTS):
        name = prefix[:GENERATE_NAME_MAX] + new_suffix()
        if transaction.get(kind.stored_resource, home, name) is None:
            break
    return name
