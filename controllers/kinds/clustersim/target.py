"""Where a client's requests go, as it is written: `http://web:80/`."""

from __future__ import annotations

import re
from ipaddress import IPv4Address
from typing import Final, NamedTuple

_TARGET: Final = re.compile(
    r"(?:(?P<scheme>[a-z]+)://)?(?P<host>[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?\.?)(?::(?P<port>[0-9]{1,5}))?(?P<path>/.*)?"
)
_PORTS: Final = {"http": 80, "https": 443, "tcp": 0}
LENGTH_MAX: Final = 400
"""Characters of a client's target; a longer one is refused with 422."""


class Target(NamedTuple):
    """Where to: a name or an address in lower case, the port there, and what is asked for."""

    host: str
    port: int
    path: str

    @property
    def is_address(self) -> bool:
        """Return whether the host is an IPv4 address."""
        return is_address(self.host)


def is_address(text: str) -> bool:
    """Return whether a text is an IPv4 address, which no name is."""
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


class BadTarget(ValueError):
    """It cannot be read; the message says what to write."""


def read_target(text: str) -> Target:
    """Return what a text means.

    Raises:
        BadTarget: with what to write instead.
    """
    found = _TARGET.fullmatch(text) if len(text) <= LENGTH_MAX else None
    if found is None:
        raise BadTarget("write it as http://web:80/, with a name or an IPv4 address before the port")
    scheme = found["scheme"] or "http"
    if scheme not in _PORTS:
        raise BadTarget(f"{scheme} is not spoken here; use one of {', '.join(_PORTS)}")
    port = int(found["port"]) if found["port"] else _PORTS[scheme]
    if not 1 <= port <= 65535:
        raise BadTarget("give a port from 1 to 65535, as in tcp://db:5432")
    if len(found["host"]) > 253 or any(len(label) > 63 for label in found["host"].split(".")):
        raise BadTarget("a name has at most 253 characters, and 63 between dots")
    return Target(found["host"].lower(), port, found["path"] or "/")
