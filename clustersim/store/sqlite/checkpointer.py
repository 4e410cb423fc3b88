"""Work the write-ahead log into the database file beside the writers, not in their commits.

SQLite itself does it in whichever commit finds the log long: that one takes a hundred times as long as others, and with
it whoever waits for a turn. A checkpoint of the kind PASSIVE waits for nobody and lets everybody write and read
meanwhile, so a thread may have begun it before a commit must: that one finds little left to do.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from pathlib import Path
from typing import Final

ROWS_BETWEEN: Final = 1_500
"""Rows that a connection writes before it asks for a checkpoint: some 4 MB of a session's log, where SQLite begins its
own at 16 MB."""

logger = logging.getLogger(__name__)


class Checkpointer:
    """The thread of one database file; it starts when it is first asked and ends with the process."""

    def __init__(self, path: str) -> None:
        self._address = f"{Path(path).absolute().as_uri()}?mode=rw"
        self._asked = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Have the log worked in soon; several that ask meanwhile are one."""
        self._asked.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="checkpointer", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            self.work()

    def work(self) -> None:
        """Work in what can be worked in now; what cannot (a full disk, a file that is gone) waits for SQLite's own."""
        try:
            with contextlib.closing(sqlite3.connect(self._address, uri=True, isolation_level=None)) as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            logger.debug("no checkpoint: %s", error)


_LOCK = threading.Lock()
_OF: dict[str, Checkpointer] = {}


def checkpointer_of(path: str) -> Checkpointer:
    """Return the one of a database file in this process."""
    with _LOCK:
        return _OF.setdefault(path, Checkpointer(path))
