"""Protobuf bodies as documents. A field that is in no table is refused with 415, never dropped."""

from __future__ import annotations

import struct
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

import msgspec

from clustersim.apiserver.protobuf.fields import MAGIC, Field, fields_of, message_of
from controllers.log.stamps import written
from scheduler_core.api.errors import ApiError, bad_request

_MAX_DEPTH: Final = 24
_SCHEMA: Final = "apiextensions_v1.JSONSchemaProps"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_TIME: Final = -62_135_596_800
"""Unix seconds of Go's zero time, the first day of the year 1."""
_YEAR_10000: Final = 253_402_300_800
"""From here on the wire form cannot hold a time."""


@cache
def _table(message: str) -> dict[int, Field]:
    return {field.number: field for field in fields_of(message)}


def decode(body: bytes) -> dict[str, Any]:
    """Return the document of a protobuf body (the envelope `runtime.Unknown` with one object in it).

    Raises:
        ApiError: 400 malformed; 415 a kind or field that is not in the tables.
    """
    if not body.startswith(MAGIC):
        raise bad_request("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    api_version = kind = ""
    raw = b""
    for number, value in _fields(body[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            envelope = {field: _text(text) for field, text in _fields(value)}
            api_version, kind = envelope.get(1, ""), envelope.get(2, "")
        elif number == 2 and isinstance(value, bytes):
            raw = value
    message = message_of(api_version, kind)
    if not message:
        raise _unsupported(f"{kind[:80] or 'a body without a kind'}")
    return {"apiVersion": api_version, "kind": kind, **_message(raw, message, 0)}


def _unsupported(what: str) -> ApiError:
    message = f"{what} is not read as protobuf here; send it as JSON or YAML (kubectl apply -f does)"
    return ApiError(415, "UnsupportedMediaType", message)


def _message(data: bytes, message: str, depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise bad_request("the protobuf body is nested too deeply")
    table = _table(message)
    document: dict[str, Any] = {}
    for number, value in _fields(data):
        field = table.get(number)
        if field is None:
            raise _unsupported(f"field {number} of {message.partition('.')[2]}")
        if not field.name:
            document.update(_message(_bytes(value), field.form, depth + 1))
        elif field.container == "[]":
            document.setdefault(field.name, []).append(_value(value, field.form, depth))
        elif field.container == "{}":
            pair = dict(_fields(_bytes(value)))
            item = _value(pair.get(2, b""), field.form, depth)
            document.setdefault(field.name, {})[_text(pair.get(1, b""))] = item
        else:
            decoded = _value(value, field.form, depth)
            if decoded is not None and (field.pointer or field.told or decoded not in ("", 0, False)):
                document[field.name] = decoded
    return document


def _value(value: int | bytes, form: str, depth: int) -> Any:
    match form:
        case "s":
            return _text(value)
        case "i":
            number = _integer(value)
            return number - 2**64 if number >= 2**63 else number
        case "b":
            return bool(_integer(value))
        case "d":
            return _double(_bytes(value))
        case "y":
            return b64encode(_bytes(value)).decode()
        case "t" | "m":
            return _time(dict(_fields(_bytes(value))), micro=form == "m")
        case "D":
            nanoseconds = _value(dict(_fields(_bytes(value))).get(1, 0), "i", depth)
            return f"{nanoseconds / 1e9:g}s"
        case "q":
            return _text(dict(_fields(_bytes(value))).get(1, b"0"))
        case "o":
            parts = dict(_fields(_bytes(value)))
            if _integer(parts.get(1, 0)):
                return _text(parts.get(3, b""))
            return _value(parts.get(2, 0), "i", depth)
        case "L":
            return [_text(item) for _, item in _fields(_bytes(value))]
        case "j":
            raw = dict(_fields(_bytes(value))).get(1)
            return None if raw is None else _json(_bytes(raw))
        case "A" | "B" | "S":
            return _either(_fields(_bytes(value)), form, depth)
        case _:
            return _message(_bytes(value), form, depth + 1)


def _either(parts: list[tuple[int, int | bytes]], form: str, depth: int) -> Any:
    """Return what is a schema or something else."""
    schema = {"A": 1, "B": 2, "S": 1}[form]
    found = dict(parts)
    if schema in found:
        return _message(_bytes(found[schema]), _SCHEMA, depth + 1)
    if form == "B":
        return bool(_integer(found.get(1, 0)))
    others = [value for number, value in parts if number == 2]
    return [_text(one) if form == "S" else _message(_bytes(one), _SCHEMA, depth + 1) for one in others]


def _time(parts: dict[int, int | bytes], *, micro: bool) -> str | None:
    """Return a time as JSON writes it; None: an empty message, Go's zero time, or out of the years 1 to 9999."""
    seconds, nanos = _value(parts.get(1, 0), "i", 0), _integer(parts.get(2, 0))
    if not _ZERO_TIME < seconds < _YEAR_10000 or not parts or nanos >= 1_000_000_000:
        return None
    return written(_EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000), micro=micro)


def _double(data: bytes) -> float:
    if len(data) != 8:
        raise bad_request("the protobuf body has a number of a wrong size")
    number: float = struct.unpack("<d", data)[0]
    return number


def _json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise bad_request("the protobuf body has a part that is not JSON") from error


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise bad_request("the protobuf body has a number where bytes belong")
    return value


def _integer(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise bad_request("the protobuf body has bytes where a number belongs")
    return value


def _text(value: int | bytes) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request("the protobuf body has text that is not UTF-8") from error


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Return the fields of one message: varints as numbers, length-delimited ones and doubles as bytes."""
    found: list[tuple[int, int | bytes]] = []
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        value: int | bytes
        match tag & 7:
            case 0:
                value, position = _varint(data, position)
            case 1:
                value = data[position : position + 8]
                position += 8
                if len(value) != 8:
                    raise bad_request("the protobuf body ends early")
            case 2:
                length, position = _varint(data, position)
                value = data[position : position + length]
                position += length
                if len(value) != length:
                    raise bad_request("the protobuf body ends early")
            case _:
                raise bad_request("the protobuf body has a field of a form that Kubernetes does not use")
        found.append((tag >> 3, value))
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise bad_request("the protobuf body ends early")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return number & (2**64 - 1), position
        shift += 7
