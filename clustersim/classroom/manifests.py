"""Reading files that people bring: YAML of several documents, JSON, `List` objects. Nothing in them can run or explode.

YAML is read as kubectl reads it: no dates, no base-60 numbers, keys are texts. Aliases are allowed and counted by what
they expand to, so that a few lines cannot become gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import yaml

from scheduler_core.api.errors import ApiError, Cause, bad_request

MANIFEST_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of one file; a larger one is refused with 413."""

OBJECTS_MAX: Final = 5_000
"""Objects of one file; more are refused with 413."""

YAML_NODES_MAX: Final = 1_000_000
"""Values of one file, with every alias counted as what it stands for; more are refused with 400."""

DEPTH_MAX: Final = 64
"""Nesting of one file; deeper is refused with 400. The deepest field of a Pod lies 12 deep."""

Document = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """YAML 1.1 without the resolutions that turn `2024-01-01` into a date and `12:30` into 750."""


_Loader.yaml_implicit_resolvers = {
    letter: [
        (tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":int", ":float", ":value"))
    ]
    for letter, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(?:0|[1-9][0-9_]*|0[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"
    ),
    list("-+0123456789."),
)


def read(data: bytes) -> list[Document]:
    """Return the objects of a file in order, `List` objects taken apart.

    Raises:
        ApiError: 400 with line and column, or 413.
    """
    if len(data) > MANIFEST_BYTES_MAX:
        raise _too_large(f"the file has {len(data):,} bytes, at most {MANIFEST_BYTES_MAX:,} are read; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_request(f"the file is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    documents = _json(text) if text.lstrip()[:1] in ("{", "[") else None
    if documents is None:
        documents = list(_yaml(text))
    objects: list[Document] = []
    for number, document in enumerate(documents):
        objects += _objects(document, f"document {number + 1}")
        if len(objects) > OBJECTS_MAX:
            raise _too_large(f"the file has more than {OBJECTS_MAX:,} objects; split it")
    if not objects:
        raise bad_request("the file holds no object; send YAML or JSON with apiVersion and kind")
    return objects


def _too_large(message: str) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", message)


def _json(text: str) -> list[Any] | None:
    """Return the one JSON value; None when it is not JSON (YAML may begin with a brace too)."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, list) else [value]


def _yaml(text: str) -> Iterator[Any]:
    try:
        _measure(text)
        for document in yaml.load_all(text, Loader=_Loader):
            if document is not None:
                yield _plain(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise bad_request(
            f"the YAML cannot be read: {place}{error.problem or error.context}",
            [Cause(f"line {mark.line + 1}", str(error.problem))] if mark is not None else (),
        ) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise bad_request(f"the YAML cannot be read: {error}") from error


def _measure(text: str) -> None:
    """Refuse a file that would grow without bound, before anything is built from it.

    Raises:
        ApiError: 400.
    """
    total, depth = 0, 0
    weights: dict[str, int] = {}
    open_anchors: list[tuple[str, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            # An unknown anchor is the composer's to report, with its place.
            total += weights.get(event.anchor or "", 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            total += 1
            depth += 1
            open_anchors.append((event.anchor or "", total))
            # An alias to a collection that is still open would hold itself.
            if event.anchor:
                weights[event.anchor] = YAML_NODES_MAX
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            anchor, before = open_anchors.pop()
            if anchor:
                weights[anchor] = total - before + 1
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor:
                weights[event.anchor] = 1
        elif isinstance(event, yaml.DocumentStartEvent):
            weights.clear()
        if total > YAML_NODES_MAX or depth > DEPTH_MAX:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise bad_request(
                f"the YAML is too large when its aliases are expanded, or nested deeper than {DEPTH_MAX} (line {line})",
                [Cause(f"line {line}", "too many values or too deep")],
            )


def _plain(value: Any) -> Any:
    """Return the value with text keys, as JSON has them."""
    if isinstance(value, dict):
        return {_key(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise bad_request(f"the YAML holds a value of type {type(value).__name__}, which JSON has not; write it as text")


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, str | int):
        return str(key)
    raise bad_request(f"the YAML has a key that is not text: {key!r}")


def _objects(document: Any, place: str) -> Iterator[Document]:
    """Yield the objects of one document; a `List` gives its items."""
    if not isinstance(document, dict):
        raise bad_request(f"{place} is not an object; start it with apiVersion and kind")
    if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
        kind = str(document["kind"])[: -len("List")]
        for number, item in enumerate(document["items"]):
            if not isinstance(item, dict):
                raise bad_request(f"{place}: items[{number}] is not an object")
            # The items of a PodList leave out what the list says for all of them.
            if kind:
                item = {"apiVersion": document.get("apiVersion"), "kind": kind, **item}
            yield item
    else:
        yield document
