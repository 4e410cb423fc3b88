"""Revisions of a workload's template, kept as ControllerRevisions: what a StatefulSet or DaemonSet was before.

A revision's data is the patch that would bring its template back. Its hash is of the bytes that upstream's encoder
makes of it, so they are made here field by field as that encoder does.

Source: k8s.io/kubernetes/pkg/controller/history, and `getPatch` of pkg/controller/statefulset and of /daemon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from controllers.kit.gotypes import MAPS, structs, zero
from controllers.kit.pods import owner_reference
from scheduler_core.api.document import Document

RESOURCE: Final = "controllerrevisions.apps"
POD_HASH: Final = "controller-revision-hash"
"""The label of pods, and of a DaemonSet's revisions."""

NAME_LETTERS: Final = 223
"""Letters of the owner's name that a revision's name keeps."""

SNAPSHOTS_MAX: Final = 256
"""Templates of which the data of a revision is remembered, as every look at a workload asks for it; the one used
longest ago goes first."""

_HTML: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""What Go's encoder escapes beside the quotes and the control letters."""


def snapshot(owner: Mapping[str, Any]) -> Document:
    """Return the data of a revision of `owner`: the patch that replaces its template by the present one.

    Its keys are sorted, as those of the map that upstream encodes: whoever compares revisions compares their bytes.
    It is shared: read it, never change it.
    """
    return _snapshot(msgspec.json.encode(owner["spec"].get("template") or {}))


@lru_cache(maxsize=SNAPSHOTS_MAX)
def _snapshot(given: bytes) -> Document:
    template = _struct("v1.PodTemplateSpec", msgspec.json.decode(given))
    data: Document = {"spec": {"template": {**template, "$patch": "replace"}}}
    return msgspec.to_builtins(data, order="sorted")  # type: ignore[no-any-return]


def encoded(data: Mapping[str, Any]) -> bytes:
    """Return the bytes that upstream hashes: JSON with sorted keys, escaped for HTML."""
    text = msgspec.json.encode(data, order="sorted").decode()
    return text.translate(_HTML).encode()


def template_of(revision: Mapping[str, Any]) -> Document:
    """Return the template that a revision brings back."""
    template = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


def with_template(owner: Document, revision: Mapping[str, Any]) -> Document:
    """Return the owner as it was at a revision."""
    return {**owner, "spec": {**owner["spec"], "template": template_of(revision)}}


def new_revision(owner: Document, name_hash: str, label: str, number: int, data: Document) -> Document:
    """Return a ControllerRevision of `owner`.

    Args:
        owner: the controlling object.
        name_hash: ends its name, and is the value of `label`.
        label: which label carries the hash.
        number: its revision.
        data: of `snapshot`.
    """
    metadata = owner["metadata"]
    labels = ((owner["spec"].get("template") or {}).get("metadata") or {}).get("labels") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{metadata['name'][:NAME_LETTERS]}-{name_hash}",
            "namespace": metadata["namespace"],
            "labels": {**labels, label: name_hash},
            "annotations": dict(metadata.get("annotations") or {}),
            "ownerReferences": [owner_reference(owner)],
        },
        "data": data,
        "revision": number,
    }


def by_revision(revisions: Sequence[Document]) -> list[Document]:
    """Return the oldest revision first."""
    return sorted(
        revisions, key=lambda one: (one["revision"], one["metadata"]["creationTimestamp"], one["metadata"]["name"])
    )


def _struct(of: str, value: Mapping[str, Any]) -> Document:
    """Return a struct as Go encodes it: what is empty is left out, unless JSON has it always."""
    found: Document = {}
    for field in structs()[of]:
        if not field.json:
            found |= _struct(field.type, value)
            continue
        inner = _value(field.type, value.get(field.json))
        if field.always or not _is_empty(field.type, inner):
            found[field.json] = inner
    return found


def _value(of: str, value: Any) -> Any:
    if of.startswith("*"):
        return None if value is None else _value(of[1:], value)
    if of.startswith("[]"):
        return [_value(of[2:], item) for item in value] if value else None
    of_map = MAPS.get(of, of)
    if of_map.startswith("map["):
        return dict(value) if value else None
    if of in structs():
        return _struct(of, value or {})
    if value is not None or of == "v1.Time":
        return value
    return {"": "", "0": 0, "false": False}[zero(of)]


def _is_empty(of: str, value: Any) -> bool:
    """Return whether Go's `omitempty` leaves the value out: a struct never, a pointer only where it points nowhere."""
    if of.startswith("*") or of in structs():
        return value is None
    return value is None or value in ("", 0, False)
