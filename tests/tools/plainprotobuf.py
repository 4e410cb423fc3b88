"""Kubernetes' protobuf written the plain way: field by field as its tables say, nothing remembered, nothing shared."""

from __future__ import annotations

import json
import struct
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from clustersim.apiserver.protobuf.fields import Field, fields_of, message_of
from tests.tools.messages import body, encoded, varint

SCHEMA = "apiextensions_v1.JSONSchemaProps"


def plain_list(api_version: str, kind: str, metadata: Mapping[str, Any], items: Sequence[bytes]) -> bytes:
    """Return a list of objects that are given as JSON; `kind` is that of one of them."""
    of = message_of(api_version, f"{kind}List")
    document = {"metadata": metadata, "items": [json.loads(item) for item in items]}
    return body(api_version, f"{kind}List", message(of, document))


def message(name: str, document: Mapping[str, Any]) -> bytes:
    """Return a message."""
    return b"".join(part for field in fields_of(name) for part in _field(field, document))


def _field(field: Field, document: Mapping[str, Any]) -> Iterator[bytes]:
    if not field.name:
        yield _written(field.number, message(field.form, document))
        return
    value = document.get(field.name)
    if value is None:
        if not (field.pointer or field.container or field.form in ("y", "L")):
            yield _written(field.number, _nothing(field.form))
    elif field.container == "[]":
        yield from (_written(field.number, _one(field.form, item)) for item in value)
    elif field.container == "{}":
        for key in sorted(value):
            entry = _written(1, key.encode()) + _written(2, _one(field.form, value[key]))
            yield _written(field.number, entry)
    else:
        yield _written(field.number, _one(field.form, value))


def _nothing(form: str) -> int | bytes | float:
    if form in ("i", "b"):
        return 0
    if form == "d":
        return 0.0
    if form in ("s", "t", "m", "j"):
        return b""
    return {"q": encoded(f1="0"), "o": encoded(f1=0, f2=0, f3=""), "D": encoded(f1=0)}.get(form) or message(form, {})


def _written(number: int, value: int | bytes | float) -> bytes:
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(int(value) % 2**64)
    return varint(number << 3 | 2) + varint(len(value)) + value


def _one(form: str, value: Any) -> int | bytes | float:
    match form:
        case "i" | "b":
            return int(value)
        case "d":
            return float(value)
        case "s":
            return str(value).encode()
        case "y":
            return b64decode(value)
        case "t" | "m":
            return _time(value, micro=form == "m")
        case "D":
            raise AssertionError("no recorded object has a duration")
        case "q":
            return encoded(f1=str(value))
        case "o":
            return encoded(f1=1, f2=0, f3=value) if isinstance(value, str) else encoded(f1=0, f2=value % 2**64, f3="")
        case "j":
            return encoded(f1=msgspec.json.encode(value))
        case "L":
            return b"".join(encoded(f1=text) for text in value)
        case "A" | "B" | "S":
            return _either(form, value)
        case _:
            return message(form, value)


def _time(text: str, *, micro: bool) -> bytes:
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    seconds = since.days * 86_400 + since.seconds
    zero = moment == datetime(1, 1, 1, tzinfo=UTC)
    return b"" if zero else encoded(f1=seconds % 2**64, f2=since.microseconds * 1_000 if micro else 0)


def _either(form: str, value: Any) -> bytes:
    if isinstance(value, dict):
        schema = message(SCHEMA, value)
        return encoded(f1=1, f2=schema) if form == "B" else encoded(f1=schema)
    if form == "B":
        return encoded(f1=int(value))
    return b"".join(encoded(f2=one if form == "S" else message(SCHEMA, one)) for one in value)
