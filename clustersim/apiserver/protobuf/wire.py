"""The wire form of protobuf: tags, whole numbers, lengths."""

from __future__ import annotations

from functools import cache
from typing import Final

VARINT, FIXED, DELIMITED = 0, 1, 2
"""How a value is written: as a whole number, as eight bytes, as bytes after their length."""

SHORT: Final = 128
"""Numbers below it take one byte."""


@cache
def tag(number: int, wire: int) -> bytes:
    """Return what a field begins with."""
    return varint(number << 3 | wire)


def number_field(number: int, value: int) -> bytes:
    """Return a field that is a whole number of 64 bits."""
    return tag(number, VARINT) + varint(value & (2**64 - 1))


def delimited(number: int, data: bytes) -> bytes:
    """Return a field that is a text, bytes or a message."""
    return b"".join((tag(number, DELIMITED), varint(len(data)), data))


def varint(value: int) -> bytes:
    """Return a whole number that is not negative."""
    if value < SHORT:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
