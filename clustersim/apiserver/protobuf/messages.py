"""What writes each message of Kubernetes' protobuf, byte for byte as Go's generated code does.

Fields come in the order of their numbers and maps in that of their keys; what is no pointer in Go is written even where
it is zero. Each message gets a function of its own once, since a list has thousands of them.
"""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from clustersim.apiserver.protobuf.fields import Field, fields_of
from clustersim.apiserver.protobuf.wire import DELIMITED, FIXED, SHORT, delimited, number_field, tag, varint
from controllers.log.stamps import unix_us_of

Payload = Callable[[Any], bytes]
"""From a value to the bytes of its field, without number and length."""

_SCHEMA: Final = "apiextensions_v1.JSONSchemaProps"
_ZERO_TIME: Final = -62_135_596_800
"""Go's zero time, the first day of the year 1."""

_NO_NANOSECONDS: Final = number_field(2, 0)

_json = msgspec.json.Encoder().encode

SMALL_BYTES: Final = 600
"""Bytes of JSON up to which a part is looked for among those that were written before."""

PARTS_MAX: Final = 8_192
"""Parts remembered as written, by message and JSON: those of many pods are alike. Past it all are forgotten."""

_WRITTEN: dict[tuple[str, bytes], bytes] = {}


def _part(message: str, value: Any) -> bytes:
    data = _json(value)
    if len(data) > SMALL_BYTES:
        return writer_of(message)(value)
    written = _WRITTEN.get((message, data))
    if written is None:
        written = writer_of(message)(value)
        if len(_WRITTEN) >= PARTS_MAX:
            _WRITTEN.clear()
        _WRITTEN[message, data] = written
    return written


@cache
def writer_of(message: str) -> Payload:
    """Return the function that writes a message; it is made when it is first used, since messages hold themselves."""
    fields = fields_of(message)
    # No two objects have the same metadata; their specs are seldom small.
    whole = bool(fields) and fields[0].name == "metadata"
    missing = [missing_field(field) for field in fields]
    places = {field.name: (place, field_writer(field, whole=whole)) for place, field in enumerate(fields) if field.name}
    inner = [(place, field_writer(field)) for place, field in enumerate(fields) if not field.name]

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


def missing_field(field: Field) -> bytes:
    """Return what is written of a field that a document does not have."""
    if field.pointer or field.container or field.form in ("y", "L") or not field.name:
        return b""
    match field.form:
        case "i" | "b":
            return number_field(field.number, 0)
        case "d":
            return tag(field.number, FIXED) + bytes(8)
        case "s" | "t" | "m" | "j":
            return delimited(field.number, b"")
        case "q":
            return delimited(field.number, _quantity("0"))
        case "o":
            return delimited(field.number, _int_or_string(0))
        case "D":
            return delimited(field.number, number_field(1, 0))
        case _:
            return delimited(field.number, writer_of(field.form)({}))


@cache
def field_writer(field: Field, *, whole: bool = False) -> Callable[[Any], bytes]:
    """Return what writes a field's value, number and length included; `whole`: it is not looked for among others."""
    number, form = field.number, field.form
    if whole and field.is_message and not field.container:
        return _delimiting(number, lambda value: writer_of(form)(value))
    if field.container == "{}":
        return _map(number, form)
    one = single_writer(number, form)
    if field.container == "[]":
        return lambda values: b"".join(map(one, values))
    return one


@cache
def single_writer(number: int, form: str) -> Callable[[Any], bytes]:
    """Return what writes one value as a field, number and length included."""
    if form in ("i", "b"):
        zero, one = number_field(number, 0), number_field(number, 1)
        return lambda value: one if value is True else zero if value is False else number_field(number, value)
    if form == "d":
        head = tag(number, FIXED)
        return lambda value: head + struct.pack("<d", value)
    if form == "s":
        return _text(number)
    return _delimiting(number, _payload_of(form))


def _text(number: int) -> Callable[[Any], bytes]:
    """Return what writes a text: as `_delimiting`, with a call less for what there is most of."""
    start = tag(number, DELIMITED)
    heads = [start + bytes([length]) for length in range(SHORT)]

    def text(value: str) -> bytes:
        data = value.encode()
        length = len(data)
        return heads[length] + data if length < SHORT else start + varint(length) + data

    return text


def _delimiting(number: int, payload: Payload) -> Callable[[Any], bytes]:
    start = tag(number, DELIMITED)
    heads = [start + bytes([length]) for length in range(SHORT)]

    def delimiting(value: Any) -> bytes:
        data = payload(value)
        length = len(data)
        return heads[length] + data if length < SHORT else start + varint(length) + data

    return delimiting


def _payload_of(form: str) -> Payload:
    if form in OF_TEXTS:
        return OF_TEXTS[form]
    match form:
        case "j":
            return lambda value: delimited(1, _json(value))
        case "L":
            return lambda values: b"".join(delimited(1, value.encode()) for value in values)
        case "A" | "B" | "S":
            return lambda value: _either(value, form)
        case _:
            return lambda value: _part(form, value)


def _map(number: int, form: str) -> Callable[[Any], bytes]:
    key, value = single_writer(1, "s"), single_writer(2, form)
    start = tag(number, DELIMITED)

    def entry(data: bytes) -> bytes:
        return start + varint(len(data)) + data

    return lambda pairs: b"".join(entry(key(name) + value(pairs[name])) for name in sorted(pairs))


@lru_cache(4096)
def _time(text: str) -> bytes:
    seconds = unix_us_of(text) // 1_000_000
    return b"" if seconds == _ZERO_TIME else number_field(1, seconds) + _NO_NANOSECONDS


@lru_cache(4096)
def _micro_time(text: str) -> bytes:
    seconds, micros = divmod(unix_us_of(text), 1_000_000)
    return b"" if seconds == _ZERO_TIME else number_field(1, seconds) + number_field(2, micros * 1_000)


_UNITS: Final = {"h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_DURATION: Final = re.compile(r"([0-9.]+)(h|ms|m|us|ns|s)")


def _duration(text: str) -> bytes:
    return number_field(1, round(sum(float(count) * _UNITS[unit] for count, unit in _DURATION.findall(text))))


@lru_cache(4096)
def _quantity(text: str) -> bytes:
    return delimited(1, str(text).encode())


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return number_field(1, 1) + number_field(2, 0) + delimited(3, value.encode())
    return number_field(1, 0) + number_field(2, value) + delimited(3, b"")


OF_TEXTS: Final[Mapping[str, Payload]] = {
    "s": str.encode,
    "y": b64decode,
    "t": _time,
    "m": _micro_time,
    "D": _duration,
    "q": _quantity,
    "o": _int_or_string,
}
"""What writes values that are texts in JSON, by form, without number and length."""


def _either(value: Any, form: str) -> bytes:
    """Return what is a schema or something else: a list of schemas, a truth value, a list of texts."""
    if isinstance(value, dict):
        schema = writer_of(_SCHEMA)(value)
        return number_field(1, 1) + delimited(2, schema) if form == "B" else delimited(1, schema)
    if form == "B":
        return number_field(1, int(value))
    return b"".join(delimited(2, one.encode() if form == "S" else writer_of(_SCHEMA)(one)) for one in value)
