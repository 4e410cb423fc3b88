"""SQLite's write-ahead log is worked into the file before a commit has to do it."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.db import connection, transaction

from clustersim.store import sessions
from clustersim.store.sqlite.checkpointer import ROWS_BETWEEN, Checkpointer
from tests.tools.patience import PATIENCE_SECONDS

WORKED_IN_AT = 96
"""Where the log's index has the number of frames that are worked in (walformat: nBackfill)."""


def worked_in(path: Path) -> int:
    """Return how many frames of the log are worked into the file."""
    (frames,) = struct.unpack_from("=I", path.with_name(f"{path.name}-shm").read_bytes(), WORKED_IN_AT)
    return int(frames)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_who_has_written_much_has_the_log_worked_in_without_a_word(database: Any) -> None:
    path = Path(str(connection.settings_dict["NAME"]))
    sessions.create("t", "empty")
    assert worked_in(path) == 0
    rows = [(str(number), 0, "a", 1, b"", b"") for number in range(ROWS_BETWEEN)]
    columns = "uid, attempt, data, session_id, envelope, revision"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO store_trace ({columns}) VALUES (%s, %s, %s, %s, %s, %s)", rows)
    log = path.with_name(f"{path.name}-wal")
    ends = monotonic() + PATIENCE_SECONDS
    while not worked_in(path):
        assert monotonic() < ends
    # Far from where SQLite begins by itself.
    assert log.stat().st_size < 4_000_000


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    Checkpointer(str(tmp_path / "gone.sqlite3")).work()
    assert list(tmp_path.iterdir()) == []


def test_a_writer_in_the_middle_of_a_transaction_holds_nothing_up(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite3"
    with sqlite3.connect(path, isolation_level=None) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("CREATE TABLE t (x)")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO t VALUES (1)")
        Checkpointer(str(path)).work()
        assert worked_in(path) > 0
        writer.execute("COMMIT")
        assert writer.execute("SELECT count(*) FROM t").fetchone() == (1,)
    writer.close()
