"""The document of an update or patch: what the server owns is kept, and what changed is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.log.operations import Operation, Patch
from controllers.log.store import Stored, Transaction, copy_object
from controllers.registry import additions, reading, spelling
from controllers.registry import metadata as metadata_rules
from controllers.registry.context import Context
from controllers.registry.found import Found
from controllers.registry.incoming.addressed import Preconditions, check_preconditions
from controllers.registry.incoming.current import Current
from controllers.registry.incoming.part import changed_part
from controllers.registry.incoming.shared import (
    Mutate,
    Own,
    arranged,
    as_sent,
    keep_metadata,
    listed,
    name_owners_once,
    refuse,
    sent_owners,
)
from controllers.registry.kind import Kind, Subresource
from scheduler_core.api.document import Document, child
from scheduler_core.api.errors import ApiError, bad_request


def changed_document(
    kind: Kind,
    stored: Stored,
    changed: Document,
    subresource: Subresource | None,
    context: Context,
    transaction: Transaction,
    mutate: Mutate,
    own: Own | None = None,
    *,
    operation: Operation,
) -> Document:
    """Return the complete document of an update or patch (`operation`), accepted but not yet put.

    Raises:
        ApiError: 400, 409 (another resourceVersion or uid) or 422.
    """
    old, patched = stored.object, isinstance(operation, Patch)
    if not isinstance(changed, dict):
        raise bad_request("the body is not an object")
    if patched:
        changed = reading.as_served(kind, changed)
    if not _is_read(changed.get("metadata")):
        reading.decoded(
            kind, {key: changed[key] for key in ("apiVersion", "kind", "metadata") if key in changed}, {}, context
        )
    try:
        strict = bool(context.field_manager)
        # In a patch another uid is one thing more that is wrong.
        looks = Preconditions(strict=strict, dry_run=context.dry_run, uid=not patched or not strict)
        check_preconditions(kind, stored, changed, transaction, looks)
    except ApiError as refusal:
        if context.field_manager:
            # Upstream reads the whole body before it looks whose it is, and what is stored.
            whole, _ = reading.decoded(kind, changed, {}, context)
            if not patched or refusal.code != 400:
                name_owners_once(child(whole, "metadata"), context, late=patched)
        raise
    if subresource is not None:
        document = changed_part(kind, stored, changed, subresource, context, patched=patched)
        if own is not None:
            _own(document, old, None, own, context)
        _keep_converted(kind, document, old)
        mutate(document, stored.name)
        kind.settle(document)
        return document
    with context.step("registry", "decode") as read:
        document, missing = reading.decoded(kind, changed, old, context)
    # What is equal is shared with the stored document, which others hold: never write into it.
    metadata = document["metadata"] = dict(child(document, "metadata"))
    fixed = metadata_rules.unchanged(metadata, old["metadata"])
    keep_metadata(metadata, old["metadata"])
    if not context.dry_run:
        # Storage keeps none; what is not stored is shown with the one that was sent.
        metadata.pop("selfLink", None)
    metadata_rules.drop_empty(metadata)
    name_owners_once(metadata, context, late=patched)
    asked: Document = {}
    for part in kind.subresources:
        if part.part:
            if not part.reset:
                asked[part.part] = document.get(part.part)
            _restore(document, old, part.part)
    labelled = any(metadata.get(key) != old["metadata"].get(key) for key in ("labels", "annotations"))
    changes = {key for key in document.keys() | old.keys() if not reading.is_same(document.get(key), old.get(key))} - {
        "metadata"
    }
    touched = bool(changes) or labelled or document.keys() != old.keys()
    if touched:
        for key, part in document.items():
            if part is old.get(key) and isinstance(part, (dict, list)):
                document[key] = copy_object({key: part})[key]
        kind.defaults(document)
    if own is not None:
        _own(document, old, sent_owners(changed), own, context, asked)
    metadata = document["metadata"]
    if read is not None:
        told = additions.changed(kind, old, document)
        additions.tell(read, told.own + told.systems)
    if changes or document.keys() != old.keys():
        mutate(document, stored.name)
    with context.step("registry", "strategy") as ruled:
        found = Found()
        sent_empty = {path: empty for path, empty in context.emptied.items() if path in kind.compares_empty}
        if touched or sent_empty:
            compared = reading.with_empty(document, sent_empty) if sent_empty else document
            current = Current(transaction, context.epoch_ms + transaction.now_ms, dry_run=context.dry_run)
            # Rules of changes are asked of what stays as it was, too; many look at annotations.
            found.whole = [] if kind.ratchets else as_sent(kind.validate, document, context)
            found.admitted = kind.admit_update(document, old, current)
            found.changes = as_sent(lambda document: kind.validate_update(document, old), compared, context)
        if kind.spelled:
            now = spelling.of_document(kind, document, operation, context.spelled)
            found.changes += spelling.unchanged(kind, document, old, stored.data, now)
        lacking = reading.still_missing(kind, missing, document)
        if fixed or metadata != old["metadata"]:
            found.metadata = metadata_rules.validate_change(
                metadata,
                old["metadata"],
                kind.names,
                kind.metadata_looks,
                any_finalizers=kind.any_finalizers,
                fixed=fixed,
            )
        causes = found.told(kind)
        refuse(kind, stored.name, causes, lacking)
        reading.tell_zeroes(kind, missing, document)
    # What defaults have filled is no longer empty.
    emptied = any(not reading.is_there(document, path) for path in context.emptied)
    unstored = (emptied and kind.generation_counts_empty) or (bool(context.off) and kind.generation_counts_off)
    _bump_generation(kind, document, old, more=unstored)
    if ruled is not None and metadata.get("generation") != old["metadata"].get("generation"):
        additions.tell(ruled, [f"~ metadata.generation: {metadata['generation']}"])
    _forget_times(metadata, document, old)
    return arranged(document)


def _own(
    document: Document,
    old: Document,
    sent: Any,
    own: Own,
    context: Context,
    asked: Mapping[str, Any] | None = None,
) -> None:
    """Write into a changed document who owns what of it now. Its metadata may be shared: it is made anew.

    `asked` has the parts as they were sent that the write leaves as they are, and that count all the same.
    """
    told = listed(metadata_rules.without_creator({**document, **asked} if asked else document), context)
    owned = own(metadata_rules.without_creator(old), told, sent)
    metadata = {key: value for key, value in document["metadata"].items() if key != "managedFields"}
    document["metadata"] = {**metadata, "managedFields": owned} if owned else metadata


def _keep_converted(kind: Kind, document: Document, old: Mapping[str, Any]) -> None:
    """Put back what upstream's decoding writes among the annotations: whoever sends another only comes to own it."""
    annotations, before = document["metadata"].get("annotations") or {}, old["metadata"].get("annotations") or {}
    fixed = {key: before[key] for key in kind.converted if key in before and before[key] != annotations.get(key)}
    if fixed:
        document["metadata"] = {**document["metadata"], "annotations": {**annotations, **fixed}}


def _forget_times(metadata: Document, document: Document, old: Document) -> None:
    """Leave the managed fields as they were where nothing but their times would change."""
    before, after = old["metadata"].get("managedFields"), metadata.get("managedFields")
    if before is after or not before or not after or len(before) != len(after):
        return
    for one, other in zip(before, after, strict=True):
        if {**one, "time": ""} != {**other, "time": ""}:
            return
    if {**document, "metadata": {**metadata, "managedFields": before}} == old:
        metadata["managedFields"] = before


_TOLD_BY: Final = ("name", "namespace", "resourceVersion", "uid")


def _is_read(metadata: Any) -> bool:
    """Return whether metadata is of the types by which an object and its version are told."""
    if not isinstance(metadata, dict):
        return metadata is None
    return not [key for key in _TOLD_BY if not isinstance(metadata.get(key) or "", str)]


def _restore(document: Document, old: Mapping[str, Any], key: str) -> None:
    if key in old:
        document[key] = old[key]
    else:
        document.pop(key, None)


def _bump_generation(kind: Kind, document: Document, old: Mapping[str, Any], *, more: bool) -> None:
    """Count a change; `more`: something else than what is stored was sent and counts, too."""
    if not kind.generation:
        return
    parts = (document.keys() | old.keys()) - {"metadata", *(one.part for one in kind.subresources)}
    counts = more or any(not reading.is_same(document.get(key), old.get(key)) for key in parts)
    if kind.generation_counts_annotations:
        counts = counts or document["metadata"].get("annotations") != old["metadata"].get("annotations")
    if kind.generation_counts_labels:
        counts = counts or document["metadata"].get("labels") != old["metadata"].get("labels")
    if counts:
        document["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
