"""What the library of typed views works out at a type's first use, worked out before there are threads.

msgspec (0.22) shows a struct to other threads before it has read all of its fields: a second thread that converts to
it in that moment meets a field whose type is not there yet, and the process dies (SIGSEGV). A struct's fields are read
once, so a process with threads has all of them read while it has one.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


def make_ready() -> int:
    """Have every struct that is known by now read its fields; return how many there are."""
    kinds = set(_below(msgspec.Struct))
    for kind in kinds:
        msgspec.json.Decoder(kind)
    return len(kinds)


def _below(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _below(sub)
