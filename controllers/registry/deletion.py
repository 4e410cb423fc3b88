"""Deletion: grace periods, finalizers, propagation, and the objects that may not go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.log.operations import Delete
from controllers.log.stamps import unix_ms_of, wire_time
from controllers.log.store import Stored
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause, conflict, forbidden

FOREGROUND_FINALIZER: Final = "foregroundDeletion"
ORPHAN_FINALIZER: Final = "orphan"


PROPAGATIONS: Final = ("Foreground", "Background", "Orphan", "nil")


def options_wrong(propagation: str | None, orphan: bool | None, dry_run: Sequence[str]) -> list[Cause]:
    """Return what is wrong with DeleteOptions (ValidateDeleteOptions); None is what nobody said."""
    causes: list[Cause] = []
    if orphan is not None and propagation is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(fields.bad("propagationPolicy", propagation, why))
    if propagation is not None and propagation not in PROPAGATIONS[:3]:
        causes.append(fields.unsupported("propagationPolicy", propagation, PROPAGATIONS, ordered=False))
    if any(word != "All" for word in dry_run):
        causes.append(fields.unsupported("dryRun", list(dry_run), ("All",)))
    return causes


def check_preconditions(kind: Kind, stored: Stored, operation: Delete) -> None:
    """Refuse a delete of another incarnation or version, and of objects that may not go.

    Raises:
        ApiError: 403, 409.
    """
    if stored.name in kind.lasting:
        raise forbidden(kind.resource, stored.name, kind.lasting_because)
    resource = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    if operation.uid is not None and operation.uid != stored.uid:
        if kind.holds_itself or kind.delete_finalizer:
            why = f"Precondition failed: UID in precondition: {operation.uid}, UID in object meta: {stored.uid}"
            raise conflict(kind.stored_resource, stored.name, why)
        why = (
            f"the UID in the precondition ({operation.uid}) does not match the UID in record ({stored.uid}). "
            "The object might have been deleted and then recreated"
        )
        raise conflict(resource, stored.name, why)
    if operation.resource_version is not None and operation.resource_version != str(stored.revision):
        why = (
            f"the ResourceVersion in the precondition ({operation.resource_version}) does not match the "
            f"ResourceVersion in record ({stored.revision}). The object might have been modified"
        )
        if kind.holds_itself or kind.delete_finalizer:
            wanted = f"ResourceVersion in precondition: {operation.resource_version}"
            why = f"Precondition failed: {wanted}, ResourceVersion in object meta: {stored.revision}"
            raise conflict(kind.stored_resource, stored.name, why)
        raise conflict(resource, stored.name, why)


def is_final(kind: Kind, document: Mapping[str, Any]) -> bool:
    """Return whether nothing holds this object back any more, so that a change to it removes it."""
    metadata = document["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return not kind.is_held(document) and not metadata.get("deletionGracePeriodSeconds")


def marked(kind: Kind, old: Mapping[str, Any], operation: Delete, now_unix_ms: int) -> dict[str, Any]:
    """Return the object as a delete marks it; `is_final` says whether it goes at once.

    Of a kind without grace periods only what stays is marked.
    """
    metadata = dict(old["metadata"])
    finalizers = metadata.get("finalizers", [])
    first = "deletionTimestamp" not in metadata
    # What upstream marks by hand is not asked; nor what ends gracefully already, unless it is to end sooner.
    keeps = kind.delete_finalizer if first else kind.holds_itself or _ends_already(kind, metadata, operation)
    if not keeps:
        finalizers = _finalizers(kind, finalizers, operation)
    grace = _grace(kind, old, operation)
    if kind.delete_finalizer and "deletionTimestamp" not in metadata and kind.delete_finalizer not in finalizers:
        finalizers = [*finalizers, kind.delete_finalizer]
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if "deletionTimestamp" not in metadata:
        metadata["deletionTimestamp"] = wire_time(now_unix_ms + grace * 1000)
        if kind.delete_finalizer:
            # Upstream marks such an object by hand: it counts as no change, and tells no grace.
            return kind.mark_deleted({**old, "metadata": metadata})
        metadata["deletionGracePeriodSeconds"] = grace
        if "generation" in metadata:
            metadata["generation"] += 1
    elif kind.delete_finalizer and "deletionGracePeriodSeconds" not in metadata:
        metadata["deletionGracePeriodSeconds"] = 0
    elif grace < metadata.get("deletionGracePeriodSeconds", 0):
        # A second delete may only hurry: the deadline moves forward by what the period shrank.
        earlier = metadata.get("deletionGracePeriodSeconds", 0) - grace
        metadata["deletionTimestamp"] = wire_time(unix_ms_of(metadata["deletionTimestamp"]) - earlier * 1000)
        metadata["deletionGracePeriodSeconds"] = grace
    return kind.mark_deleted({**old, "metadata": metadata})


def _ends_already(kind: Kind, metadata: Mapping[str, Any], operation: Delete) -> bool:
    """Return whether an object that is being deleted has a grace period that another delete does not shorten."""
    period, asked = metadata.get("deletionGracePeriodSeconds"), operation.grace_period_seconds
    return bool(kind.graceful and period and (asked is None or (asked if asked >= 0 else 1) >= period))


def _grace(kind: Kind, old: Mapping[str, Any], operation: Delete) -> int:
    asked = operation.grace_period_seconds
    # A period below zero is the shortest that there is.
    return kind.grace_seconds(old, 1 if asked is not None and asked < 0 else asked)


def _finalizers(kind: Kind, existing: list[str], operation: Delete) -> list[str]:
    """Return the finalizers that the wanted propagation leaves."""
    kept = [name for name in existing if name not in (FOREGROUND_FINALIZER, ORPHAN_FINALIZER)]
    asked = operation.propagation
    if not kind.collected:
        return kept
    if asked == "":
        if not kind.orphans or kept != existing:
            return existing
        asked = "Orphan"
    if asked == "Foreground":
        kept.append(FOREGROUND_FINALIZER)
    elif asked == "Orphan":
        kept.append(ORPHAN_FINALIZER)
    return kept
