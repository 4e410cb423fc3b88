"""What every typed view shares: the struct base, object metadata, conversion from documents.

Views decode only what the simulation reads; unknown members are skipped. Python names are snake_case, the wire is
camelCase; this package is the only place that renames. Views are frozen and may be shared freely.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import bad_request

"""A whole API object as JSON."""


class View(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of all views."""


class OwnerReference(View, frozen=True):
    """metav1.OwnerReference, what the scheduler reads of it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(View, frozen=True):
    """metav1.ObjectMeta."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerReference, ...] = ()


def without_nulls(value: Any) -> Any:
    """Return the JSON value without members that are null: upstream reads null as absent."""
    if isinstance(value, Mapping):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(member) for member in value if member is not None]
    return value


_View = TypeVar("_View", bound=View)


def view(document: FrozenDocument, of: type[_View]) -> _View:
    """Return the typed view of a document.

    Raises:
        ApiError: 400, the document has another shape; the message holds the path.
    """
    try:
        return msgspec.convert(document, of)
    except msgspec.ValidationError:
        try:
            return msgspec.convert(without_nulls(document), of)
        except msgspec.ValidationError as error:
            raise bad_request(f"{of.__name__} cannot be read: {error}; correct the field and send it again") from error


def parsed(data: bytes, of: type[_View]) -> _View:
    """Return the typed view of a document's JSON: what the view leaves out is skipped, and no dict is made.

    Raises:
        ApiError: 400, the document has another shape.
    """
    try:
        return msgspec.json.decode(data, type=of)
    except msgspec.ValidationError:
        return view(msgspec.json.decode(data), of)
