"""Rules of metadata, common to all kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from controllers.registry import addresses, fields
from scheduler_core.api.errors import Cause

ANNOTATIONS_BYTES_MAX: Final = 262_144
"""Bytes of all annotations together, as upstream; every watcher carries them."""

FINALIZERS_MAX: Final = 64
"""Finalizers of one object: each keeps it alive, so a handful is the use."""

OWNERS_MAX: Final = 64
"""Owner references of one object: the garbage collector looks up each."""

CREATED_BY: Final = "clustersim.io/created-by"
"""Annotation with the participant who made the object; nobody can claim another's."""

_NAMES: Final = {
    "subdomain": fields.subdomain,
    "label": fields.label_name,
    "service": fields.service_name,
    "path": fields.path_segment,
    "address": addresses.strict,
}


def drop_empty(metadata: dict[str, Any]) -> None:
    """Remove empty maps and lists, which upstream does not store either."""
    for key in ("labels", "annotations", "finalizers", "ownerReferences", "generateName"):
        if not metadata.get(key, True):
            del metadata[key]


def without_creator(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the annotation that the server puts to it, which nobody owns."""
    annotations = document["metadata"].get("annotations")
    if not annotations or CREATED_BY not in annotations:
        return document
    left = {key: text for key, text in annotations.items() if key != CREATED_BY}
    metadata = {key: value for key, value in document["metadata"].items() if key != "annotations"}
    return {**document, "metadata": {**metadata, "annotations": left} if left else metadata}


def validate(
    metadata: Mapping[str, Any], names: Literal["subdomain", "label", "service", "path", "address"]
) -> list[Cause]:
    """Check name, labels, annotations, finalizers and owners."""
    causes = _NAMES[names]("metadata.name", metadata["name"])
    causes += fields.labels("metadata.labels", metadata.get("labels"))
    annotations = metadata.get("annotations") or {}
    for key in annotations:
        # Only annotations may have capitals in the prefix; upstream lowers the key before it looks.
        causes += fields.qualified_name("metadata.annotations", key.lower())
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > ANNOTATIONS_BYTES_MAX:
        causes.append(
            Cause(
                "metadata.annotations",
                f"Too long: may not be more than {ANNOTATIONS_BYTES_MAX} bytes",
                "FieldValueTooLong",
            )
        )
    finalizers = metadata.get("finalizers") or []
    if len(finalizers) > FINALIZERS_MAX:
        causes.append(fields.not_allowed("metadata.finalizers", f"must have at most {FINALIZERS_MAX} items"))
    for index, name in enumerate(finalizers):
        causes += fields.qualified_name(f"metadata.finalizers[{index}]", name)
    return causes + _owners(metadata.get("ownerReferences") or [])


def _owners(owners: list[dict[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    if len(owners) > OWNERS_MAX:
        causes.append(fields.not_allowed("metadata.ownerReferences", f"must have at most {OWNERS_MAX} items"))
    controller = ""
    for index, owner in enumerate(owners):
        where = f"metadata.ownerReferences[{index}]"
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                causes.append(fields.bad(f"{where}.{key}", "", "must not be empty"))
        if owner.get("controller"):
            if controller:
                why = f"Only one reference can have Controller set to true. Found {controller} and {owner.get('name')}"
                causes.append(fields.bad("metadata.ownerReferences", owner.get("name"), why))
            controller = controller or str(owner.get("name"))
    return causes


def validate_update(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse new finalizers on an object that is going away: it would never go."""
    if "deletionTimestamp" not in old:
        return []
    added = [name for name in metadata.get("finalizers", []) if name not in old.get("finalizers", [])]
    if not added:
        return []
    why = (
        "no new finalizers can be added if the object is being deleted, found new finalizers "
        f"[]string{{{', '.join(fields.shown(name) for name in added)}}}"
    )
    return [fields.not_allowed("metadata.finalizers", why)]
