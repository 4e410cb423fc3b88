"""The protocols of websockets that are spoken below `/clusters/`, as clients name them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

OLDEST: Final = "channel.k8s.io"
COMMANDS: Final = ("v5.channel.k8s.io", "v4.channel.k8s.io", OLDEST)
"""Those of commands in containers, the newest first."""

BINARY: Final = "binary.k8s.io"
"""That of a log, which is sent as it is."""

TUNNEL: Final = "SPDY/3.1+portforward.k8s.io"
"""That of forwarded ports as kubectl asks for it from 1.31 on: the frames of SPDY, as if it were a socket."""

FORWARDS: Final = (TUNNEL, "v4.channel.k8s.io")
"""Those of forwarded ports, the preferred first."""

_SPOKEN: Final = frozenset((*COMMANDS, BINARY, *FORWARDS))


def spoken(offered: Iterable[str]) -> tuple[str, ...]:
    """Return those of a client's protocols that are spoken here at all."""
    return tuple(one for one in offered if one in _SPOKEN)


def chosen(own: Iterable[str], offered: Iterable[str]) -> str:
    """Return the first of these that a client speaks; empty: none."""
    return next((one for one in own if one in offered), "")
