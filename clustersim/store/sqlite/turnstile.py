"""A fair lock between the processes that write one SQLite file.

SQLite's busy handler sleeps and tries again, so a person's click can lose to a busy writer for seconds. Here a writer
first takes the gate, then the lock behind it, then leaves the gate. Whoever has just written must pass the gate again,
which the waiting writer holds: two busy writers alternate, and nobody waits for more than those already at the gate.
The kernel releases both when a process dies. A process that merely stands still holds what it has: so waiting is
bounded, and the supervisor ends the one that stands still (docs/deployment.md).
"""

from __future__ import annotations

import fcntl
import os
import threading
from typing import Final

from django.db import OperationalError

WAIT_SECONDS: Final = 4.0
"""How long a writer waits for its turn; past it the write fails, and a request is answered with 503."""


class Turnstile:
    """One connection's place at the pair of locks beside the database file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.held = False
        self._gate: int | None = None
        self._lock: int | None = None
        self._pid = 0

    def enter(self) -> None:
        """Wait for this writer's turn.

        Raises:
            OperationalError: it did not come within WAIT_SECONDS.
        """
        if self.held:
            return
        gate, lock = self._open()
        at_gate = _taken(gate)
        if at_gate and _taken(lock):
            fcntl.flock(gate, fcntl.LOCK_UN)
        elif not _Wait(gate, lock, at_gate).ended_in_time():
            # The files belong to the wait now, which lets go of them when its turn comes after all.
            self._gate = self._lock = None
            raise OperationalError(
                f"no turn to write within {WAIT_SECONDS:g} s: another process holds the database and stands still"
            )
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


def _taken(descriptor: int) -> bool:
    """Take a lock if nobody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _Wait:
    """Waiting behind others, in a thread: only a wait that blocks keeps its place in the kernel's queue, and a wait
    that blocks cannot be given up.
    """

    def __init__(self, gate: int, lock: int, at_gate: bool) -> None:
        self._gate = gate
        self._lock = lock
        self._at_gate = at_gate
        self._ended = threading.Event()
        self._settle = threading.Lock()
        self._given_up = False

    def ended_in_time(self) -> bool:
        """Return whether the lock is held, the gate free again; False: both files are the thread's to close."""
        threading.Thread(target=self._run, name="turnstile", daemon=True).start()
        self._ended.wait(WAIT_SECONDS)
        with self._settle:
            self._given_up = not self._ended.is_set()
        return not self._given_up

    def _run(self) -> None:
        if not self._at_gate:
            fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        with self._settle:
            self._ended.set()
            if self._given_up:
                os.close(self._gate)
                os.close(self._lock)
