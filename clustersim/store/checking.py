"""What is whole of a SQLite file that may be damaged, and saving it into a new one.

Every row that can be read is copied, around what cannot; then each session's objects are set right from its log, which
holds every current document once. Works on the file alone: nothing else may have it open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

READ_ROWS_MAX: Final = 500
"""Rows read at once where nothing is damaged; around damage they are read one by one."""

TRIES_MAX: Final = 20_000
"""Places behind unreadable rows that are tried before the rest of a table is given up."""


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What is left of one session."""

    code: str
    title: str
    objects: int
    """Objects that are there."""
    lost: int
    """Objects of which no state is left."""
    older: int
    """Objects of which the last state is lost, and an earlier one stands."""
    history_from: int
    """The revision from which on the log is without a gap; 0 where it always was."""

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is missing."""
        return not (self.lost or self.older or self.history_from)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found: SQLite's own complaints (none where the file is sound), and each session."""

    complaints: tuple[str, ...]
    skipped: int
    """Places in tables at which rows could not be read."""
    sessions: tuple[SessionReport, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is missing."""
        return not (self.complaints or self.skipped) and all(session.is_whole for session in self.sessions)


def check(path: Path, target: Path) -> Report:
    """Copy what can be read into a new file, set it right, and say what is left.

    Raises:
        sqlite3.DatabaseError: not even the list of tables can be read, or the target cannot be written.
        FileExistsError: the target is there already.
    """
    target.touch(mode=0o600, exist_ok=False)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source, closing(sqlite3.connect(target)) as made:
        complaints = _complaints(source)
        skipped = _copy(source, made)
        reports = tuple(
            _mend(made, row) for row in made.execute("SELECT id, code, title FROM store_session ORDER BY id")
        )
        made.commit()
        return Report(complaints, skipped, reports)


def _complaints(source: sqlite3.Connection) -> tuple[str, ...]:
    try:
        told = [str(row[0]) for row in source.execute("PRAGMA integrity_check(10)")]
    except sqlite3.DatabaseError as error:
        return (str(error),)
    return tuple(text for text in told if text != "ok")


def _copy(source: sqlite3.Connection, made: sqlite3.Connection) -> int:
    """Copy every table's readable rows; return at how many places rows could not be read."""
    schema = source.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    skipped = 0
    for kind, name, sql in schema:
        if kind != "table" or name.startswith("sqlite_"):
            continue
        made.execute(sql)
        for part in _rows(source, name):
            if part is None:
                skipped += 1
            else:
                marks = ", ".join("?" * (len(part[0]) - 1))
                made.executemany(f'INSERT OR IGNORE INTO "{name}" VALUES ({marks})', [row[1:] for row in part])
    for kind, _, sql in schema:
        if kind == "index":
            made.execute(sql)
    return skipped


def _rows(source: sqlite3.Connection, table: str) -> Iterator[list[tuple[Any, ...]] | None]:
    """Yield runs of (rowid, columns …); None for each place at which nothing could be read."""
    position, count, step, tries = 0, READ_ROWS_MAX, 1, 0
    statement = f'SELECT rowid, * FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT ?'
    while tries < TRIES_MAX:
        try:
            part = source.execute(statement, [position, count]).fetchall()
        except sqlite3.DatabaseError:
            if count > 1:
                count = 1
                continue
            tries += 1
            position += step
            step += 1
            yield None
            continue
        if not part:
            return
        yield part
        position, step = part[-1][0], 1
        count = min(READ_ROWS_MAX, count * 2)


def _mend(made: sqlite3.Connection, session: tuple[int, str, str]) -> SessionReport:
    """Point each object to the newest row that is left of it, and let history begin after its last gap."""
    session_id, code, title = session
    newest = {
        key: (revision, verb)
        for *key_parts, revision, verb in made.execute(
            "SELECT resource, namespace, name, MAX(revision), verb FROM store_revision WHERE session_id = ? "
            "GROUP BY resource, namespace, name",
            [session_id],
        )
        for key in [tuple(key_parts)]
    }
    pointed = {
        (resource, namespace, name): revision
        for resource, namespace, name, revision in made.execute(
            "SELECT resource, namespace, name, revision FROM store_object WHERE session_id = ?", [session_id]
        )
    }
    lost = sum(1 for key in pointed if key not in newest)
    older = sum(1 for key, revision in pointed.items() if key in newest and newest[key][0] < revision)
    current = [(session_id, *key, revision) for key, (revision, verb) in newest.items() if verb != _DELETED]
    made.execute("DELETE FROM store_object WHERE session_id = ?", [session_id])
    made.executemany(
        "INSERT INTO store_object (session_id, resource, namespace, name, revision) VALUES (?, ?, ?, ?, ?)", current
    )
    history_from = _mend_history(made, session_id)
    return SessionReport(code, title, len(current), lost, older, history_from)


_DELETED: Final = 3


def _mend_history(made: sqlite3.Connection, session_id: int) -> int:
    """Move the log's beginning behind its last gap; return where it begins then, 0 where there was none."""
    revision, compacted = made.execute(
        "SELECT revision, compacted FROM store_session WHERE id = ?", [session_id]
    ).fetchone()
    kept = {
        row[0]
        for row in made.execute(
            "SELECT revision FROM store_revision WHERE session_id = ? AND revision > ?", [session_id, compacted]
        )
    }
    last = max([revision, *kept])
    gap = next((number for number in range(last, compacted, -1) if number not in kept), 0)
    made.execute(
        "UPDATE store_session SET revision = ?, compacted = ? WHERE id = ?", [last, max(compacted, gap), session_id]
    )
    return gap
