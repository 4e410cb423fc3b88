"""The supervisor's pipe, in which nothing is ever sent: when the supervisor is gone, its children see the end of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection


def line() -> Connection:
    """Return the end for children; the other one stays open in this process alone, for as long as it lives."""
    ours, mine = multiprocessing.Pipe(duplex=False)
    # Kept by what is called in each child, which must not hold it open.
    os.register_at_fork(after_in_child=mine.close)
    return ours


def watch(line: Connection) -> None:
    """End this process (SIGTERM to itself) when the supervisor is gone."""

    def wait() -> None:
        try:
            line.recv_bytes()
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
