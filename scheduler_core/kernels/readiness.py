"""What the library of typed views works out at a type's first use, worked out before there are threads.

msgspec (0.22) shows a struct to other threads before it has read all of its fields: a second thread that converts to
it in that moment meets a field whose type is not there yet, and the process dies (SIGSEGV). A struct's fields are read
once, so a process with threads has all of them read while it has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

_READY: Final[set[type[msgspec.Struct]]] = set()
"""Those that have; a process that is forked has them of the one before it."""


def make_ready() -> int:
    """Have every struct that is known by now and has not read its fields yet do so; return how many these are."""
    kinds = set(_below(msgspec.Struct)) - _READY
    for kind in kinds:
        msgspec.json.Decoder(kind)
    _READY.update(kinds)
    return len(kinds)


def _below(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _below(sub)
