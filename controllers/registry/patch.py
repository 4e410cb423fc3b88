"""Merge patches (RFC 7396) and JSON patches (RFC 6902). Strategic merge is in `strategic.py`."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from controllers.log.operations import Patch
from controllers.log.store import copy_object
from controllers.registry import goorder
from controllers.registry.decoding import from_unstructured, named_texts
from controllers.registry.gotext import json_name, printed, quoted
from controllers.registry.schema import model
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request

MAX_OPERATIONS: Final = 10_000
"""Operations of one JSON patch, as upstream limits them; each may copy a part of the document."""

_INDEX: Final = re.compile(r"[-+]?[0-9]{1,9}", re.ASCII)

NO_OBJECT: Final = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct "
    '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
"""What upstream says of a list where an object should be."""

MAX_COPIED: Final = 100_000
"""JSON values that the copy operations of one patch may make; doubling copies would else grow without bound."""


def merge(target: Any, patch: Any) -> Any:
    """Return `target` with a merge patch applied; null removes a key. Shares what it does not change."""
    if not isinstance(patch, dict):
        return _without_nulls(patch) if isinstance(patch, list) else patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def _without_nulls(value: Any) -> Any:
    """Return a list of a merge patch without the members of objects that are null; those of lists stay."""
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def json_patch(document: dict[str, Any], operations: Any) -> dict[str, Any]:
    """Return a changed copy of the document.

    Raises:
        ApiError: 400 when the patch is malformed, 422 when it does not fit the document (a failed `test` too).
    """
    holder: dict[str, Any] = {"": copy_object(document)}
    budget = MAX_COPIED
    for operation in _checked(operations):
        if budget < 0:
            raise bad_request("the JSON patch copies too much")
        try:
            budget -= _apply(holder, operation)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise _refused() from error
    if budget < 0:
        raise bad_request("the JSON patch copies too much")
    result = holder[""]
    if isinstance(result, list):
        raise _unfit(msgspec.json.encode(result).decode(), NO_OBJECT)
    changed: dict[str, Any] = result
    return changed


def _checked(operations: Any) -> list[dict[str, Any]]:
    """Return the operations of a patch; null has none.

    Raises:
        ApiError: 400, it is no list of operations; 413, it has too many.
    """
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise undecodable(operations, "Go value of type []handlers.jsonPatchOp")
    if len(operations) > MAX_OPERATIONS:
        raise ApiError(
            413,
            "RequestEntityTooLarge",
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(operations)}",
        )
    for operation in operations:
        if operation is not None and not isinstance(operation, dict):
            raise undecodable(operation, "Go value of type handlers.jsonPatchOp")
        for name in ("op", "path", "from"):
            value = (operation or {}).get(name)
            if value is not None and not isinstance(value, str):
                raise undecodable(value, f"Go struct field jsonPatchOp.{name} of type string")
    return [operation or {} for operation in operations]


def unknown_members(operations: Any) -> list[str]:
    """Return the paths of what the operations of a JSON patch say that no operation has."""
    told = enumerate(operations if isinstance(operations, list) else ())
    known = ("op", "path", "from", "value")
    return [f"[{at}].{name}" for at, one in told if isinstance(one, dict) for name in one if name not in known]


def undecodable(value: Any, wanted: str) -> ApiError:
    """Return the 400 of a patch that is not of the form of its type."""
    return bad_request(f"error decoding patch: json: cannot unmarshal {json_name(value)} into {wanted}")


def _refused() -> ApiError:
    """Return the 422 of a patch that does not fit the object; upstream does not say why."""
    why = "the server rejected our request due to an error in our request"
    return ApiError(422, "Invalid", why, extra={"details": {}})


def _apply(holder: dict[str, Any], operation: dict[str, Any]) -> int:
    """Apply one operation to the holder (the document lies under the empty key); return how many values were copied.

    As upstream's library has it (evanphx/json-patch v4): what a map lacks may be replaced, and is null when copied;
    what precedes a path's first slash is nothing; and a document is replaced whole by an object or a list alone.
    """
    path = _pointer(operation.get("path"))
    match operation.get("op"):
        case "add":
            _add(holder, _below(path), operation.get("value"))
        case "remove":
            _remove(holder, _below(path))
        case "replace":
            value = operation.get("value")
            if operation.get("path"):
                _replace(holder, _below(path), value)
            elif isinstance(value, (dict, list)):
                holder[""] = value
        case "move":
            source = _below(_pointer(operation.get("from")))
            value = _find(holder, source)
            _remove(holder, source)
            _add(holder, _below(path), value)
        case "copy":
            value = _got(holder, _below(_pointer(operation.get("from"))))
            copied: Any = copy_object({"value": value})["value"]
            _add(holder, _below(path), copied)
            return _count(copied)
        case "test":
            if not _equal(_got(holder, _below(path) if operation.get("path") else path), operation.get("value")):
                raise ValueError("testing value failed")
        case other:
            raise ValueError(f"unknown operation {other!r}")
    return 0


def _below(path: list[str]) -> list[str]:
    """Return a path below the document's root, which only `replace` and `test` are of."""
    if len(path) < 2:
        raise ValueError("the document itself")
    return path


def _replace(holder: dict[str, Any], path: list[str], value: Any) -> None:
    parent = _find(holder, path[:-1])
    if isinstance(parent, list):
        parent[_index(path[-1], len(parent))] = value
    elif isinstance(parent, dict):
        parent[path[-1]] = value
    else:
        raise TypeError(f"nothing lies under {path[-1]!r}")


def _got(holder: Any, path: list[str]) -> Any:
    """Return the value at a path; None where the last map lacks it."""
    parent = _find(holder, path[:-1])
    return parent.get(path[-1]) if isinstance(parent, dict) else _find(holder, path)


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a JSON pointer")
    return ["", *(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])]


def _index(part: str, length: int) -> int:
    """Return an index of a list; a negative one counts from its end."""
    if not _INDEX.fullmatch(part):
        raise ValueError(f"{part!r} is not a list index")
    index = int(part)
    if not -length <= index < length:
        raise IndexError(f"index {index} is past the end")
    return index + length if index < 0 else index


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
    """Compare JSON values as they are written: true and 1 differ, and so do 1 and 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) != isinstance(right, float):
        return False
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


_UNMARSHALS: Final = re.compile(r"cannot unmarshal (\w+) ?(\S*) into Go struct field (?=(\S*)).* of type (\S+)$")
_PARTS: Final = re.compile(r"[^.\[\]]+")
_KINDS: Final = {"object": "map", "array": "slice", "number": "int64"}


NO_KIND: Final = "Object 'Kind' is missing"
"""What is wrong with a custom object of no kind; the object follows."""


def in_order(operation: Patch, changed: Document, schema: str) -> Document:
    """Return what a patch made in the order of its text: what is wrong first in it is told.

    What a strategic merge patch makes has no text.
    """
    if operation.patch_type == "strategic":
        return changed
    ordered: Document = msgspec.json.decode(_text(operation, changed, schema))
    return ordered


def _text(operation: Patch, changed: Document, schema: str) -> str:
    by_operations = operation.patch_type == "json"
    patch = operation.patch or ()
    touched = goorder.touched_by_operations(patch, schema) if by_operations else goorder.touched_by_merge(patch)
    return goorder.text(changed, schema, touched)


def unreadable(operation: Patch, changed: Any, error: ApiError, schema: str) -> ApiError:
    """Return the 422 of a patch that makes an object which does not fit its kind's `schema`."""
    why = error.message.partition(" cannot be handled as a ")[2].partition(": ")[2] or error.message
    if operation.patch_type == "strategic":
        told, why = printed(operation.patch), unrestorable(why, changed, error, schema)
    else:
        told = _text(operation, changed, schema)
    if why == NO_KIND:
        why = f"{NO_KIND} in '{told}'"
    return _unfit(told, why)


def _unfit(told: str, why: str) -> ApiError:
    text = f"Invalid value: {quoted(told)}: {why}"
    return ApiError(422, "Invalid", f' "" is invalid: patch: {text}', [Cause("patch", text, "FieldValueInvalid")])


def _place(changed: Any, schema: str, path: str) -> tuple[Any, str | None]:
    """Return the value at a path as causes tell it, and which scalar it should be."""
    value, scalar, struct = changed, None, schema
    for part in _PARTS.findall(path):
        if isinstance(value, list):
            value = value[int(part)]
            continue
        value = value.get(part) if isinstance(value, dict) else None
        entry = model(struct).fields.get(part) if struct else None
        scalar, struct = (entry.scalar, entry.model) if entry is not None else (scalar, struct)
    return value, scalar


_OWN_READERS: Final = {"time": "string", "micro-time": "string", "int-or-string": "int32"}
"""Scalars that read their JSON themselves, and what they read it into."""


def unrestorable(why: str, changed: Any, error: ApiError, schema: str) -> str:
    """Return how upstream says that a value does not fit which it does not read out of JSON (FromUnstructured)."""
    found = _UNMARSHALS.search(why)
    if found is None:
        return from_unstructured(why)
    place = error.causes[0].field if error.causes else found[3].removeprefix(".")
    value, scalar = _place(changed, schema, place)
    if scalar in _OWN_READERS:
        number = f" {value}" if isinstance(value, (int, float)) and not isinstance(value, bool) else ""
        shown = f"{found[1]}{number if _OWN_READERS[scalar] == 'int32' else ''}"
        return f"json: cannot unmarshal {shown} into Go value of type {_OWN_READERS[scalar]}"
    given, wanted = "float64" if isinstance(value, float) else _KINDS.get(found[1], found[1]), found[4]
    if wanted.startswith("[]"):
        return f"cannot restore slice from {given}"
    if wanted.startswith("map[") or wanted == "v1.ResourceList":
        return f"cannot restore map from {given}"
    if "." in wanted and wanted not in named_texts():
        return f"cannot restore struct from: {given}"
    text = wanted == "string" or wanted in named_texts()
    # Go turns a whole number into a text of one letter, which upstream stops; anything else it cannot turn at all.
    if (given == "int64" and text) or (given == "float64" and wanted in ("int32", "int64")):
        return f"cannot convert {given} to {wanted}"
    return f"unrecognized type: {'string' if text else wanted}"
