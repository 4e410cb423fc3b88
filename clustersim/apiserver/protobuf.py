"""Kubernetes' protobuf, decoded by field tables: typed clients send it and do not fall back to JSON.

What a field holds is told by the schema, which number it has by `protobuf_fields.txt`. A field that is in no table is
refused with 415, never dropped.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controllers.registry.schema import model
from scheduler_core.api.errors import ApiError, bad_request

MAGIC: Final = b"k8s\x00"

_MAX_DEPTH: Final = 24

_FIELDS: Final = Path(__file__).with_name("protobuf_fields.txt")


class _Field(NamedTuple):
    """One field.

    `form` is a scalar of the schema or a message's name, `meant` that zero is told, `inline` that its parts stand in
    the parent.
    """

    name: str
    form: str
    container: str
    meant: bool
    inline: bool


@cache
def messages() -> dict[str, str]:
    """Return the fields of each message that is read, as the file has them, by `core_v1.PodSpec`."""
    lines = _FIELDS.read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


@cache
def _table(message: str, owner: str) -> dict[int, _Field]:
    """Return a message's fields by number; `owner` is the struct of the schema that says what they hold."""
    fields = model(owner).fields
    table: dict[int, _Field] = {}
    for entry in messages()[message].split(", "):
        number, _, name = entry.partition(" ")
        if name.startswith("+"):
            table[int(number)] = _Field("", name[1:], "", False, True)
            continue
        name, _, value = name.partition("%")
        known = fields[name.removesuffix("?")]
        form = value or known.scalar or known.model
        container = "map" if value else known.container
        table[int(number)] = _Field(known.name, form, container, name.endswith("?") or known.required, False)
    return table


def decode(body: bytes) -> dict[str, Any]:
    """Return the document of a protobuf body (the envelope `runtime.Unknown` with one object in it).

    Raises:
        ApiError: 400 malformed; 415 a kind or field that is not in the tables.
    """
    if not body.startswith(MAGIC):
        raise bad_request("the body is not Kubernetes protobuf: the first four bytes are wrong")
    api_version = kind = ""
    raw = b""
    for number, value in _fields(body[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            envelope = {field: _text(text) for field, text in _fields(value)}
            api_version, kind = envelope.get(1, ""), envelope.get(2, "")
        elif number == 2 and isinstance(value, bytes):
            raw = value
    message = _message_of(api_version, kind)
    if message not in messages():
        raise _unsupported(f"{kind[:80] or 'a body without a kind'}")
    return {"apiVersion": api_version, "kind": kind, **_message(raw, message, message, 0)}


def _message_of(api_version: str, kind: str) -> str:
    """Return a message's name; the options of requests are sent in the version of what they are about."""
    group, _, version = api_version.rpartition("/")
    message = f"{group.partition('.')[0] or 'core'}_{version}.{kind}"
    return message if message in messages() else f"meta_v1.{kind}"


def _unsupported(what: str) -> ApiError:
    message = f"{what} is not read as protobuf here; send it as JSON or YAML (kubectl apply -f does)"
    return ApiError(415, "UnsupportedMediaType", message)


def _message(data: bytes, message: str, owner: str, depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise bad_request("the protobuf body is nested too deeply")
    table = _table(message, owner)
    document: dict[str, Any] = {}
    for number, value in _fields(data):
        field = table.get(number)
        if field is None:
            raise _unsupported(f"field {number} of {message.partition('.')[2]}")
        if field.inline:
            document.update(_message(_bytes(value), field.form, owner, depth + 1))
        elif field.container == "list":
            document.setdefault(field.name, []).append(_value(value, field.form, depth))
        elif field.container == "map":
            pair = dict(_fields(_bytes(value)))
            item = _value(pair.get(2, b""), field.form, depth)
            document.setdefault(field.name, {})[_text(pair.get(1, b""))] = item
        else:
            decoded = _value(value, field.form, depth)
            if field.meant or decoded not in ("", 0, False, None):
                document[field.name] = decoded
    return document


def _value(value: int | bytes, form: str, depth: int) -> Any:
    match form:
        case "string":
            return _text(value)
        case "integer":
            number = _integer(value)
            return number - 2**64 if number >= 2**63 else number
        case "boolean":
            return bool(_integer(value))
        case "bytes":
            return b64encode(_bytes(value)).decode()
        case "time" | "micro-time":
            return _time(dict(_fields(_bytes(value))), micro=form == "micro-time")
        case "quantity":
            return _text(dict(_fields(_bytes(value))).get(1, b"0"))
        case "int-or-string":
            parts = dict(_fields(_bytes(value)))
            if _integer(parts.get(1, 0)):
                return _text(parts.get(3, b""))
            return _value(parts.get(2, 0), "integer", depth)
        case "list":
            return [_text(item) for _, item in _fields(_bytes(value))]
        case "any":
            return _json(_bytes(dict(_fields(_bytes(value))).get(1, b"null")))
        case _:
            return _message(_bytes(value), form, form, depth + 1)


def _time(parts: dict[int, int | bytes], *, micro: bool) -> str | None:
    seconds, nanos = _integer(parts.get(1, 0)), _integer(parts.get(2, 0))
    # From the year 10000 on the wire form cannot hold it.
    if not 0 < seconds < 253_402_300_800 or nanos >= 1_000_000_000:
        return None
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{nanos // 1000:06}Z" if micro else f"{text}Z"


def _json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
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
    """Return the fields of one message: varints as numbers, length-delimited ones as bytes."""
    found: list[tuple[int, int | bytes]] = []
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        value: int | bytes
        match tag & 7:
            case 0:
                value, position = _varint(data, position)
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
