"""Protobuf by hand: messages put together and taken apart, without the project's own tables."""

from __future__ import annotations

from typing import Any


def varint(value: int) -> bytes:
    """Return a whole number as it is written."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def encoded(**fields: Any) -> bytes:
    """Return a message; members are named f<number> and hold text, numbers or messages."""
    out = b""
    for name, value in fields.items():
        number = int(name[1:])
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def body(api_version: str, kind: str, message: bytes) -> bytes:
    """Return what client-go's protobuf serializer writes: a magic number and a runtime.Unknown."""
    return b"k8s\x00" + encoded(f1=encoded(f1=api_version, f2=kind), f2=message, f3="", f4="")


def parts_of(message: bytes) -> list[tuple[int, Any]]:
    """Return (number, bytes or whole number) of each field of a message."""
    found: list[tuple[int, Any]] = []
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            found.append((tag >> 3, number()))
        else:
            length = 8 if tag & 7 == 1 else number()
            found.append((tag >> 3, message[at : at + length]))
            at += length
    return found
