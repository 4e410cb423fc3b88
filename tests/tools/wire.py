"""A wire between a browser and a server that can be cut, and that can fall silent without being cut.

with wire_to(server.port) as wire:
    page.goto(f"http://127.0.0.1:{wire.port}/…")
    wire.cut()
    wire.mend()
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Final

_BYTES: Final = 65_536


class Wire:
    """Carries TCP connections to a port of this machine, as long as it is whole."""

    def __init__(self, target: int) -> None:
        """Listen on a free port."""
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._whole = threading.Event()
        self._whole.set()
        self._flows = threading.Event()
        self._flows.set()
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, and each new one."""
        self._whole.clear()
        self._break()

    def silence(self) -> None:
        """Carry nothing from now on: connections stand, and nobody answers."""
        self._flows.clear()

    def mend(self) -> None:
        """Carry everything again; what came while it was silent, too."""
        self._whole.set()
        self._flows.set()

    def lead_to(self, target: int) -> None:
        """Carry new connections to another port: the server was started again."""
        self._target = target

    def close(self) -> None:
        """Let go of everything."""
        self._flows.set()
        self._listener.close()
        self._break()

    def _break(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._whole.is_set():
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # The server is gone.
                near.close()
                continue
            with self._lock:
                self._ends |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_BYTES):
                self._flows.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def wire_to(target: int) -> Iterator[Wire]:
    """Yield a wire to a port."""
    wire = Wire(target)
    try:
        yield wire
    finally:
        wire.close()
