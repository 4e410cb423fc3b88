"""The document of a change through a subresource that writes a part of it."""

from __future__ import annotations

from controllers.log.stamps import wire_time
from controllers.log.store import Stored, copy_object
from controllers.registry import metadata as metadata_rules
from controllers.registry import reading
from controllers.registry.checking import fill
from controllers.registry.context import Context
from controllers.registry.incoming.shared import as_sent, keep_metadata, name_owners_once, refuse
from controllers.registry.kind import Kind, Subresource
from controllers.registry.schema import model
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause


def changed_part(
    kind: Kind, stored: Stored, changed: Document, subresource: Subresource, context: Context, *, patched: bool
) -> Document:
    """Return the object with the part that a subresource writes, and the metadata that it takes along."""
    key, old = subresource.part, stored.object
    part = changed.get(key)
    if part is None and not kind.kept_in:
        part = {}
    written = {key: part} if part is not None else {}
    if context.field_manager:
        # Upstream reads the whole body, whatever of it counts; what the engine writes is well formed.
        written = {**changed, **written}
        if changed.get("metadata") is None:
            written.pop("metadata", None)
    decoded, _ = reading.decoded(kind, written, {}, context)
    context.emptied = {path: empty for path, empty in context.emptied.items() if path.startswith((key, "metadata"))}
    context.off = {path: value for path, value in context.off.items() if path.startswith(key)}
    if context.field_manager and not kind.kept_in:
        # What the engine writes is whole.
        fill(decoded[key], model(kind.schema).fields[key].model)
    sent = decoded if "metadata" in written else changed
    if context.field_manager and subresource.carries and isinstance(sent.get("spec"), dict) and not kind.kept_in:
        # Defaults come with the reading of what is sent; some are of the metadata.
        sent = copy_object(sent)
        kind.defaults(sent)
    metadata = {**old["metadata"], **_carried(subresource, sent, context)}
    name_owners_once(metadata, context, late=patched)
    for name in [name for name in subresource.carries if metadata.get(name) is None]:
        metadata.pop(name, None)
    if context.dry_run and subresource.carries and (link := (sent.get("metadata") or {}).get("selfLink")):
        # Storage keeps none; what is not stored is shown with the one that was sent.
        metadata["selfLink"] = link
    document = {**old, "metadata": metadata}
    if key in decoded:
        document[key] = subresource.merged(old.get(key, {}), decoded[key])
    else:
        document.pop(key, None)
    subresource.complete(document, old, wire_time(context.unix_ms))
    causes: list[Cause] = []
    fixed: list[Cause] = []
    if context.field_manager and subresource.carries and isinstance(sent.get("metadata"), dict):
        fixed = metadata_rules.unchanged(sent["metadata"], old["metadata"])
    if fixed or any(metadata.get(name) != old["metadata"].get(name) for name in subresource.carries):
        keep_metadata(metadata, old["metadata"])
        metadata_rules.drop_empty(metadata)
        looks = subresource.metadata_looks
        if looks is None:
            looks = "c" * kind.metadata_looks.count("c")
        found = metadata_rules.validate_change(metadata, old["metadata"], kind.names, looks, fixed=fixed)
        causes = [cause for look in found for cause in look]
    causes += as_sent(lambda document: subresource.part_rules(document, old), document, context)
    refuse(kind, stored.name, causes)
    return document


def _carried(subresource: Subresource, changed: Document, context: Context) -> Document:
    """Return what a write of a part takes along of the metadata sent with it: all of it, as upstream.

    What the engine sends is a part of the metadata, which leaves the rest as it is.
    """
    sent = changed.get("metadata") or {}
    if context.field_manager:
        return {name: sent.get(name) for name in subresource.carries}
    texts = ("labels", "annotations")
    return {
        name: dict(sent[name]) for name in texts if name in subresource.carries and isinstance(sent.get(name), dict)
    }
