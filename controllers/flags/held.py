"""The flags in force, read from the object that holds them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

import msgspec

from controllers.flags.flag import Flags
from controllers.flags.table import NAME, RESOURCE, read_flags

_DEFAULTS: Final = Flags()


class Held(Protocol):
    """An object as it is stored."""

    data: bytes


class Reader(Protocol):
    """A store, or a transaction: what it sees holds."""

    def get(self, resource: str, namespace: str, name: str, /) -> Held | None:
        """Return the current object."""


def flags_of(reader: Reader) -> Flags:
    """Return the flags in force; where nobody has set any, the defaults."""
    held = reader.get(RESOURCE, "", NAME)
    return _DEFAULTS if held is None else _read(held.data)


@lru_cache(maxsize=256)
def _read(data: bytes) -> Flags:
    return read_flags(msgspec.json.decode(data).get("spec"))
