"""Documents as protobuf, byte for byte as Go's generated code writes them.

Fields come in the order of their numbers and maps in that of their keys; what is no pointer in Go is written even where
it is zero. Each message gets a function of its own once, since a list has thousands of them.
"""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from clustersim.apiserver.protobuf.fields import MAGIC, Field, fields_of, message_of
from controllers.log.stamps import unix_us_of

Payload = Callable[[Any], bytes]
"""From a value to the bytes of its field, without number and length."""

_SCHEMA: Final = "apiextensions_v1.JSONSchemaProps"
_VARINT, _FIXED, _DELIMITED = 0, 1, 2
_SHORT: Final = 128
_ZERO_TIME: Final = -62_135_596_800
"""Go's zero time, the first day of the year 1."""

_json = msgspec.json.Encoder().encode
_value = msgspec.json.Decoder().decode


def encode(document: Mapping[str, Any]) -> bytes | None:
    """Return an object, list or Status as a protobuf body; None: its kind has no protobuf."""
    api_version, kind = document.get("apiVersion", "v1"), document.get("kind", "")
    message = message_of(api_version, kind)
    return _envelope(document.get("apiVersion", ""), kind, _message(message)(document)) if message else None


def encode_json(data: bytes) -> bytes | None:
    """Return an object that is given as JSON as a protobuf body; None: its kind has no protobuf."""
    document = msgspec.json.decode(data)
    return encode(document) if isinstance(document, dict) else None


def encode_list(api_version: str, kind: str, metadata: Mapping[str, Any], items: Iterable[bytes]) -> bytes:
    """Return a list of objects that are given as JSON; `kind` is that of one of them."""
    head = fields_of(message_of(api_version, f"{kind}List"))
    item = _message(head[1].form)
    parts = [_delimited(1, _message(head[0].form)(metadata))]
    parts += [_delimited(2, item(_value(data))) for data in items]
    return _envelope(api_version, f"{kind}List", b"".join(parts))


def watch_frame(verb: str, document: Mapping[str, Any]) -> bytes:
    """Return one event of a watch: its length in four bytes, and a WatchEvent with the object's body in it.

    Source: apimachinery's runtime/serializer/protobuf (LengthDelimitedFramer), apis/meta/v1/watch.go.
    """
    body = encode(document)
    assert body is not None, "a watch in protobuf is of a kind that has it"
    event = _delimited(1, verb.encode()) + _delimited(2, _delimited(1, body))
    return len(event).to_bytes(4, "big") + event


def _envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    head = _delimited(1, _delimited(1, api_version.encode()) + _delimited(2, kind.encode()))
    return b"".join((MAGIC, head, _delimited(2, raw), _delimited(3, b""), _delimited(4, b"")))


SMALL_BYTES: Final = 600
"""Bytes of JSON up to which a part is looked for among those that were written before."""

PARTS_MAX: Final = 8_192
"""Parts remembered as written, by message and JSON: those of many pods are alike. Past it all are forgotten."""

_WRITTEN: dict[tuple[str, bytes], bytes] = {}


def _part(message: str, value: Any) -> bytes:
    data = _json(value)
    if len(data) > SMALL_BYTES:
        return _message(message)(value)
    written = _WRITTEN.get((message, data))
    if written is None:
        written = _message(message)(value)
        if len(_WRITTEN) >= PARTS_MAX:
            _WRITTEN.clear()
        _WRITTEN[message, data] = written
    return written


@cache
def _message(message: str) -> Payload:
    """Return the function that writes a message; it is made when it is first used, since messages hold themselves."""
    fields = fields_of(message)
    # No two objects have the same metadata; their specs are seldom small.
    whole = bool(fields) and fields[0].name == "metadata"
    missing = [_missing(field) for field in fields]
    places = {field.name: (place, _writer(field, whole=whole)) for place, field in enumerate(fields) if field.name}
    inner = [(place, _writer(field)) for place, field in enumerate(fields) if not field.name]

    def write(document: Any) -> bytes:
        parts = missing.copy()
        for name, value in document.items():
            if value is not None and name in places:
                place, writer = places[name]
                parts[place] = writer(value)
        for place, writer in inner:
            parts[place] = writer(document)
        return b"".join(parts)

    return write


def _missing(field: Field) -> bytes:
    """Return what is written of a field that a document does not have."""
    if field.pointer or field.container or field.form in ("y", "L") or not field.name:
        return b""
    match field.form:
        case "i" | "b":
            return _number(field.number, 0)
        case "d":
            return _tag(field.number, _FIXED) + bytes(8)
        case "s" | "t" | "m" | "j":
            return _delimited(field.number, b"")
        case "q":
            return _delimited(field.number, _quantity("0"))
        case "o":
            return _delimited(field.number, _int_or_string(0))
        case "D":
            return _delimited(field.number, _number(1, 0))
        case _:
            return _delimited(field.number, _message(field.form)({}))


def _writer(field: Field, *, whole: bool = False) -> Callable[[Any], bytes]:
    """Return what writes a field's value, number and length included; `whole`: it is not looked for among others."""
    number, form = field.number, field.form
    if whole and field.is_message and not field.container:
        return _delimiting(number, lambda value: _message(form)(value))
    if field.container == "{}":
        return _map(number, form)
    one = _one(number, form)
    if field.container == "[]":
        return lambda values: b"".join(map(one, values))
    return one


def _one(number: int, form: str) -> Callable[[Any], bytes]:
    if form in ("i", "b"):
        zero, one = _number(number, 0), _number(number, 1)
        return lambda value: one if value is True else zero if value is False else _number(number, value)
    if form == "d":
        head = _tag(number, _FIXED)
        return lambda value: head + struct.pack("<d", value)
    tag = _tag(number, _DELIMITED)
    heads = [tag + bytes([length]) for length in range(_SHORT)]
    if form == "s":

        def text(value: str) -> bytes:
            data = value.encode()
            length = len(data)
            return heads[length] + data if length < _SHORT else tag + _varint(length) + data

        return text
    return _delimiting(number, _payload(form))


def _delimiting(number: int, payload: Payload) -> Callable[[Any], bytes]:
    tag = _tag(number, _DELIMITED)
    heads = [tag + bytes([length]) for length in range(_SHORT)]

    def delimited(value: Any) -> bytes:
        data = payload(value)
        length = len(data)
        return heads[length] + data if length < _SHORT else tag + _varint(length) + data

    return delimited


def _payload(form: str) -> Payload:
    match form:
        case "y":
            return b64decode
        case "t":
            return _time
        case "m":
            return _micro_time
        case "D":
            return _duration
        case "q":
            return _quantity
        case "o":
            return _int_or_string
        case "j":
            return lambda value: _delimited(1, _json(value))
        case "L":
            return lambda values: b"".join(_delimited(1, value.encode()) for value in values)
        case "A" | "B" | "S":
            return lambda value: _either(value, form)
        case _:
            return lambda value: _part(form, value)


def _map(number: int, form: str) -> Callable[[Any], bytes]:
    key, value = _one(1, "s"), _one(2, form)
    entry = _payload_of(number)
    return lambda pairs: b"".join(entry(key(name) + value(pairs[name])) for name in sorted(pairs))


def _payload_of(number: int) -> Callable[[bytes], bytes]:
    tag = _tag(number, _DELIMITED)
    return lambda data: tag + _varint(len(data)) + data


@lru_cache(4096)
def _time(text: str) -> bytes:
    seconds = unix_us_of(text) // 1_000_000
    return b"" if seconds == _ZERO_TIME else _number(1, seconds) + _number(2, 0)


@lru_cache(4096)
def _micro_time(text: str) -> bytes:
    seconds, micros = divmod(unix_us_of(text), 1_000_000)
    return b"" if seconds == _ZERO_TIME else _number(1, seconds) + _number(2, micros * 1_000)


_UNITS: Final = {"h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_DURATION: Final = re.compile(r"([0-9.]+)(h|ms|m|us|ns|s)")


def _duration(text: str) -> bytes:
    return _number(1, round(sum(float(count) * _UNITS[unit] for count, unit in _DURATION.findall(text))))


@lru_cache(4096)
def _quantity(text: str) -> bytes:
    return _delimited(1, str(text).encode())


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return _number(1, 1) + _number(2, 0) + _delimited(3, value.encode())
    return _number(1, 0) + _number(2, value) + _delimited(3, b"")


def _either(value: Any, form: str) -> bytes:
    """Return what is a schema or something else: a list of schemas, a truth value, a list of texts."""
    if isinstance(value, dict):
        schema = _message(_SCHEMA)(value)
        return _number(1, 1) + _delimited(2, schema) if form == "B" else _delimited(1, schema)
    if form == "B":
        return _number(1, int(value))
    return b"".join(_delimited(2, one.encode() if form == "S" else _message(_SCHEMA)(one)) for one in value)


@cache
def _tag(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _number(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _varint(value & (2**64 - 1))


def _delimited(number: int, data: bytes) -> bytes:
    return b"".join((_tag(number, _DELIMITED), _varint(len(data)), data))


def _varint(value: int) -> bytes:
    if value < _SHORT:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
