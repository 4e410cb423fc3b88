"""Merge patches (RFC 7396) and JSON patches (RFC 6902). Strategic merge is in `strategic.py`."""

from __future__ import annotations

from typing import Any, Final

from controllers.log.store import copy_object
from scheduler_core.api.errors import ApiError, bad_request

MAX_OPERATIONS: Final = 10_000
"""Operations of one JSON patch, as upstream limits them; each may copy a part of the document."""

MAX_COPIED: Final = 100_000
"""JSON values that the copy operations of one patch may make; doubling copies would else grow without bound."""


def merge(target: Any, patch: Any) -> Any:
    """Return `target` with a merge patch applied; null removes a key. Shares what it does not change."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def json_patch(document: dict[str, Any], operations: Any) -> dict[str, Any]:
    """Return a changed copy of the document.

    Raises:
        ApiError: 400 when the patch is malformed, 422 when it does not fit the document (a failed `test` too).
    """
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    if len(operations) > MAX_OPERATIONS:
        raise ApiError(
            413,
            "RequestEntityTooLarge",
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}",
        )
    holder: dict[str, Any] = {"": copy_object(document)}
    budget = MAX_COPIED
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise bad_request(f"operation {index} of the JSON patch needs an op and a path")
        try:
            budget -= _apply(holder, operation)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ApiError(
                422,
                "Invalid",
                f"the server rejected our request due to an error in our request: operation {index} "
                f"({operation.get('op')} {operation['path']}) does not fit the object: {error}",
            ) from error
        if budget < 0:
            raise bad_request("the JSON patch copies too much")
    result = holder.get("")
    if not isinstance(result, dict):
        raise bad_request("the JSON patch left no object")
    return result


def _apply(holder: dict[str, Any], operation: dict[str, Any]) -> int:
    """Apply one operation to the holder (the document lies under the empty key); return how many values were copied."""
    path = _pointer(operation["path"])
    match operation.get("op"):
        case "add":
            _add(holder, path, operation["value"])
        case "remove":
            _remove(holder, path)
        case "replace":
            _find(holder, path)
            if isinstance(_find(holder, path[:-1]), list):
                _find(holder, path[:-1])[int(path[-1])] = operation["value"]
            else:
                _find(holder, path[:-1])[path[-1]] = operation["value"]
        case "move":
            source = _pointer(operation["from"])
            if path[: len(source)] == source and path != source:
                raise ValueError("a value cannot move into itself")
            value = _find(holder, source)
            _remove(holder, source)
            _add(holder, path, value)
        case "copy":
            value = _find(holder, _pointer(operation["from"]))
            copied: Any = copy_object({"value": value})["value"]
            _add(holder, path, copied)
            return _count(copied)
        case "test":
            if not _equal(_find(holder, path), operation.get("value")):
                raise ValueError("testing value failed")
        case other:
            raise ValueError(f"unknown operation {other!r}")
    return 0


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise ValueError(f"{text!r} is not a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")]


def _index(part: str, length: int) -> int:
    if not part.isascii() or not part.isdigit() or (len(part) > 1 and part[0] == "0") or len(part) > 9:
        raise ValueError(f"{part!r} is not a list index")
    index = int(part)
    if index >= length:
        raise IndexError(f"index {index} is past the end")
    return index


def _find(holder: Any, path: list[str]) -> Any:
    value = holder
    for part in path:
        value = value[_index(part, len(value))] if isinstance(value, list) else _member(value, part)
    return value


def _member(value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"nothing lies under {key!r}")
    if key not in value:
        raise KeyError(key)
    return value[key]


def _add(holder: Any, path: list[str], value: Any) -> None:
    parent = _find(holder, path[:-1])
    key = path[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if key == "-" else _index(key, len(parent) + 1), value)
    elif isinstance(parent, dict):
        parent[key] = value
    else:
        raise TypeError(f"nothing can be added under {key!r}")


def _remove(holder: Any, path: list[str]) -> None:
    parent = _find(holder, path[:-1])
    if isinstance(parent, list):
        del parent[_index(path[-1], len(parent))]
    else:
        _member(parent, path[-1])
        del parent[path[-1]]


def _equal(left: Any, right: Any) -> bool:
    """Compare JSON values; true and 1 differ, as they do in JSON."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_count, value))
    return 1
