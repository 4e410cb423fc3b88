"""Heads of answers in HPACK without a table: every header in full, put together once.

A table would be looked through for each header of each answer, half a small answer's time in HTTP/2, would be kept for
each connection as large as its client says, and be filled by what no two answers have alike. Source: RFC 7541.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from hpack import Encoder

KNOWN_MAX: Final = 2_000
"""Headers of answers that are kept as HTTP/2 writes them; those that were not sent for longest are written anew."""

_NO_TABLE: Final = b"\x20"
"""Says that the sender's table has no room (6.3): due in the next head after its largest size has changed (4.2)."""

_SHORT: Final = 0x7F
"""Lengths from this one on take further bytes (5.1, 5.2)."""


def _string(text: bytes) -> bytes:
    length = len(text)
    if length < _SHORT:
        return bytes((length,)) + text
    said = bytearray((_SHORT,))
    rest = length - _SHORT
    while rest >= 0x80:
        said.append(rest & 0x7F | 0x80)
        rest >>= 7
    said.append(rest)
    return bytes(said) + text


@lru_cache(maxsize=KNOWN_MAX)
def _line(name: bytes, value: bytes) -> bytes:
    """Return a header as a literal that goes into no table (6.2.2)."""
    return b"\0" + _string(name) + _string(value)


class PlainEncoder(Encoder):
    """Takes the place of `H2Connection.encoder`."""

    def __init__(self) -> None:
        # The other one's table and code are not made: each connection would have them.
        self._told = False

    @property
    def header_table_size(self) -> int:
        """Return the largest size that the client allows its copy of the table."""
        return 0

    @header_table_size.setter
    def header_table_size(self, _: int) -> None:
        self._told = False

    def encode(self, headers: Any, huffman: bool = False) -> bytes:
        """Return a head, whose headers are pairs of bytes."""
        lines = b"".join(_line(*header) for header in headers)
        if self._told:
            return lines
        self._told = True
        return _NO_TABLE + lines
