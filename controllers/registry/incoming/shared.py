"""What creates and changes have in common on their way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from controllers.registry import metadata as metadata_rules
from controllers.registry import reading
from controllers.registry.context import Context
from controllers.registry.kind import Kind
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause, invalid

Mutate = Callable[[Document, str], None]
"""Lets admission change a document; the text is how refusals call it."""

Own = Callable[[Mapping[str, Any] | None, Mapping[str, Any], Any], Sequence[Document] | None]
"""(object before, object as it is asked for, managed fields that were sent) → the managed fields to store."""

_KEPT: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
"""Metadata that the server owns: a change never touches it."""


def name_owners_once(metadata: Document, context: Context, *, late: bool) -> None:
    """Leave owners out that are named twice, and warn of it; `late`: in a patch."""
    warning = metadata_rules.without_repeated_owners(metadata, late=late)
    if warning:
        context.warnings.append(warning)


def listed(document: Document, context: Context) -> Document:
    """Return a document with what was sent, is owned by who sent it, and is stored as null or not at all.

    That are empty lists where null is stored, and fields of features that are off.
    """
    there = {path: empty for path, empty in context.emptied.items() if reading.is_there(document, path)}
    there.update(context.off)
    return reading.with_empty(document, there) if there else document


def sent_owners(given: Mapping[str, Any]) -> Any:
    """Return the managed fields in a body, as they were sent: empty ones mean something."""
    metadata = given.get("metadata")
    return metadata.get("managedFields") if isinstance(metadata, Mapping) else None


def keep_metadata(metadata: Document, old: Mapping[str, Any]) -> None:
    """Put the metadata that the server owns in its place."""
    for key in _KEPT:
        if key in old:
            metadata[key] = old[key]
        else:
            metadata.pop(key, None)
    if "managedFields" in old:
        metadata["managedFields"] = old["managedFields"]
    else:
        metadata.pop("managedFields", None)
    author = old.get("annotations", {}).get(metadata_rules.CREATED_BY)
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(metadata_rules.CREATED_BY, None)
    if author is not None:
        annotations[metadata_rules.CREATED_BY] = author
    metadata["annotations"] = annotations


def as_sent(rules: Callable[[Document], list[Cause]], document: Document, context: Context) -> list[Cause]:
    """Return what rules find wrong, their sentences with the empty lists and maps that were sent.

    They are as good as none (rules compare documents), and shown where the same is wrong either way.
    """
    causes = rules(document)
    if not causes or not context.emptied:
        return causes
    shown = rules(reading.with_empty(document, context.emptied))
    return shown if [_place(one) for one in shown] == [_place(one) for one in causes] else causes


def _place(cause: Cause) -> tuple[str, str]:
    return cause.field, cause.reason


def refuse(kind: Kind, name: str, causes: Sequence[Cause], missing: Sequence[Cause] = ()) -> None:
    """Refuse what is wrong; what is missing is told only where the kind's own rules did not say so."""
    told = {cause.field for cause in causes}
    wrong = [*causes, *(cause for cause in missing if cause.field not in told)]
    if wrong:
        raise invalid(kind.kind, kind.group, name, wrong)


def arranged(document: Document) -> Document:
    """Return the document with its envelope first, as people read it."""
    first = {key: document[key] for key in ("apiVersion", "kind", "metadata")}
    return {**first, **document}
