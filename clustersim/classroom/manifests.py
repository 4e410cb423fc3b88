"""The objects of files that people bring: YAML of several documents, JSON, `List` objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from clustersim import documents
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request
from scheduler_core.api.said import said

MANIFEST_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of one file; a larger one is refused with 413."""

OBJECTS_MAX: Final = 5_000
"""Objects of one file; more are refused with 413."""


def read(data: bytes) -> list[Document]:
    """Return the objects of a small file.

    Raises:
        ApiError: as `objects` says.
    """
    return list(objects(data))


def objects(data: bytes, *, bytes_max: int = MANIFEST_BYTES_MAX, objects_max: int = OBJECTS_MAX) -> Iterator[Document]:
    """Yield the objects of a file in order, `List` objects taken apart, one document of it after another.

    Raises:
        ApiError: 400 with line and column, or 413.
    """
    if len(data) > bytes_max:
        raise _too_large(
            said(
                "file.bytes",
                "the file has {data:,} bytes, at most {bytes_max:,} are read; split it",
                data=len(data),
                bytes_max=bytes_max,
            )
        )
    text = documents.text_of(data)
    found: Iterable[Any] | None = documents.json_values(text)
    if found is None:
        found = documents.yaml_values(text)
    count = 0
    for number, document in enumerate(found):
        for one in _objects(document, f"document {number + 1}"):
            count += 1
            if count > objects_max:
                raise _too_large(
                    said(
                        "file.objects",
                        "the file has more than {objects_max:,} objects; split it",
                        objects_max=objects_max,
                    )
                )
            yield one
    if not count:
        raise bad_request(said("file.empty", "the file holds no object; send YAML or JSON with apiVersion and kind"))


def _too_large(message: str) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", message)


def _objects(document: Any, place: str) -> Iterator[Document]:
    """Yield the objects of one document; a `List` gives its items."""
    if not isinstance(document, dict):
        raise bad_request(
            said("file.noObject", "{place} is not an object; start it with apiVersion and kind", place=place)
        )
    if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
        kind = str(document["kind"])[: -len("List")]
        for number, item in enumerate(document["items"]):
            if not isinstance(item, dict):
                raise bad_request(
                    said("file.item", "{place}: items[{number}] is not an object", place=place, number=number)
                )
            # The items of a PodList leave out what the list says for all of them.
            if kind:
                item = {"apiVersion": document.get("apiVersion"), "kind": kind, **item}
            yield item
    else:
        yield document
