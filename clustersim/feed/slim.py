"""What the page gets of each object: its metadata, what the kind's mask takes, what follows from it (docs/protocol.md).

Values are shared with the document, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controllers.kinds.table import find_resource
from controllers.registry.kind import Mask

OBJECT_BYTES_MAX: Final = 384 * 1024
"""Bytes of one object on its way to a page: with CHUNK_BYTES a frame stays below the websocket's MiB. Past it long
texts, lists and mappings are cut, and the object says `"cut": true`; the whole one is a GET away."""

CUT_LENGTHS: Final = (1_024, 128, 8)
"""Characters of a text, and members of a list or mapping, that are left where an object is too large; tried in turn."""

_IDENTITY: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")

_encode: Final = msgspec.json.Encoder().encode

OWN_ANNOTATIONS: Final = "clustersim.io/"
"""Annotations under this prefix travel, and those that the kind names: others can hold whole manifests."""

_METADATA: Final = {
    "name": True,
    "namespace": True,
    "uid": True,
    "resourceVersion": True,
    "generation": True,
    "creationTimestamp": True,
    "deletionTimestamp": True,
    "deletionGracePeriodSeconds": True,
    "labels": True,
    "ownerReferences": {"kind": True, "name": True, "uid": True, "controller": True},
}


def cut(value: Any, mask: Mask) -> Any:
    """Return the part of a JSON value that the mask takes; null members count as absent."""
    if isinstance(value, list):
        return [cut(element, mask) for element in value]
    if not isinstance(value, dict):
        return value
    taken: dict[str, Any] = {}
    for field in value if "*" in mask else mask:
        member, inner = value.get(field), mask.get(field, True)
        if member is not None and inner is not False:
            taken[field] = member if inner is True else cut(member, inner)
    return taken


def slim(resource: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object as the page reads it."""
    metadata = document["metadata"]
    short = cut(metadata, _METADATA)
    kind = find_resource(resource)
    annotations = metadata.get("annotations")
    if annotations:
        told = () if kind is None else kind.page_annotations
        own = {name: text for name, text in annotations.items() if name.startswith(OWN_ANNOTATIONS) or name in told}
        if own:
            short["annotations"] = own
    taken: dict[str, Any] = {"resource": resource, "metadata": short}
    if kind is not None:
        taken.update(cut(document, kind.page))
        taken.update(kind.page_worked_out(document))
    return taken


def fitted(shown: Mapping[str, Any]) -> bytes:
    """Return what the page is shown of an object as JSON of at most OBJECT_BYTES_MAX, whatever is in it."""
    data = _encode(shown)
    for length in CUT_LENGTHS:
        if len(data) <= OBJECT_BYTES_MAX:
            return data
        clipped = _clipped(shown, length)
        clipped["metadata"].update(_identity(shown["metadata"]))
        data = _encode({**clipped, "resource": shown["resource"], "cut": True})
    if len(data) > OBJECT_BYTES_MAX:
        data = _encode({"resource": shown["resource"], "metadata": _identity(shown["metadata"]), "cut": True})
    return data


def _identity(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {field: metadata[field] for field in _IDENTITY if field in metadata}


def _clipped(value: Any, length: int) -> Any:
    """Return a JSON value whose texts, lists and mappings are no longer than `length`."""
    if isinstance(value, str):
        return value if len(value) <= length else value[:length] + "…"
    if isinstance(value, list):
        return [_clipped(member, length) for member in value[:length]]
    if isinstance(value, Mapping):
        return {key: _clipped(value[key], length) for key in list(value)[:length]}
    return value
