"""A fair lock between the processes that write one SQLite file.

SQLite's busy handler sleeps and tries again, so a person's click can lose to a busy writer for seconds. Here a writer
first takes the gate, then the lock behind it, then leaves the gate. Whoever has just written must pass the gate again,
which the waiting writer holds: two busy writers alternate, and nobody waits for more than those already at the gate.
The kernel releases both when a process dies.
"""

from __future__ import annotations

import fcntl
import os


class Turnstile:
    """One connection's place at the pair of locks beside the database file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.held = False
        self._gate: int | None = None
        self._lock: int | None = None
        self._pid = 0

    def enter(self) -> None:
        """Wait for this writer's turn."""
        if self.held:
            return
        gate, lock = self._open()
        fcntl.flock(gate, fcntl.LOCK_EX)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        finally:
            fcntl.flock(gate, fcntl.LOCK_UN)
        self.held = True

    def leave(self) -> None:
        """Let the next writer through; without effect when not inside."""
        if self.held and self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
        self.held = False

    def close(self) -> None:
        """Give up both files."""
        self.held = False
        for descriptor in (self._gate, self._lock):
            if descriptor is not None:
                os.close(descriptor)
        self._gate = self._lock = None

    def __del__(self) -> None:
        # Django gives each request a thread, and drops the thread's connection without closing it.
        self.close()

    def _open(self) -> tuple[int, int]:
        # A forked child shares the parent's open file descriptions, and with them its locks: open its own.
        if self._gate is None or self._lock is None or self._pid != os.getpid():
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._gate = os.open(self._path + ".gate", flags, 0o600)
            self._lock = os.open(self._path + ".turn", flags, 0o600)
            self._pid = os.getpid()
        return self._gate, self._lock
