"""A damaged SQLite file: what is whole is told and saved, and a saved session goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from clustersim.classroom.opening import open_session
from clustersim.classroom.writing import refuse_first, write
from clustersim.store import checking, open_store, sessions
from controllers.log.operations import Create
from tests.tools import databases

ROOT = Path(__file__).parent.parent.parent
PAGE_BYTES = 8192


def _configmap(name: str, size: int) -> Create:
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"x": name * size},
    }
    return Create("configmaps", "default", document)


def _fill(path: Path) -> None:
    """Make two sessions; leave everything in the one file."""
    for number in (1, 2):
        session = open_session(f"Class {number}", "three-nodes", number, "Teacher").session
        refuse_first(write(open_store(session.id), [_configmap(f"big-{number}-{index}x", 150) for index in range(40)]))
    connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _damage(path: Path, text: bytes) -> None:
    """Overwrite the one page of the file that holds this text."""
    data = path.read_bytes()
    at = data.index(text)
    with path.open("r+b") as file:
        file.seek(at // PAGE_BYTES * PAGE_BYTES)
        file.write(b"\xa5" * PAGE_BYTES)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_sound_file_is_whole_and_its_copy_too(database, tmp_path):
    path = Path(database.removeprefix("sqlite:///"))
    _fill(path)
    report = checking.check(path, tmp_path / "saved.sqlite3")
    assert report.is_whole
    assert [session.title for session in report.sessions] == ["Class 1", "Class 2"]
    again = checking.check(tmp_path / "saved.sqlite3", tmp_path / "again.sqlite3")
    assert again == report


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_not_damaged_is_saved_and_goes_on(database, tmp_path):
    path = Path(database.removeprefix("sqlite:///"))
    _fill(path)
    _damage(path, b"big-1-20xbig-1-20x")
    saved = tmp_path / "saved.sqlite3"
    report = checking.check(path, saved)
    assert not report.is_whole
    assert report.skipped > 0
    first, second = report.sessions
    assert 0 < first.lost <= 8, "one page holds a few documents"
    assert first.history_from > 0
    assert second.is_whole, "the other session lost nothing"
    with databases.using(f"sqlite:///{saved}", tmp_path, empty=False):
        rows = {row.title: row for row in sessions.every()}
        store = open_store(rows["Class 1"].id, owner=True)
        names = {stored.name for stored in store.list("configmaps", "default")[0]}
        assert len(names) >= 32
        assert "big-1-20x" not in names
        write(open_store(rows["Class 1"].id), [_configmap("after", 1)])
        assert store.get("configmaps", "default", "after") is not None
        assert store.events(store.compacted), "the log goes on after its gap"
        connection.close()


def test_the_command_tells_and_saves(tmp_path):
    environment = {**os.environ, "CLUSTERSIM_DATA": str(tmp_path / "data")}
    environment.pop("DATABASE_URL", None)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)

    assert "There is no database" in run("check-store").stderr
    assert run("migrate", "--verbosity", "0").returncode == 0
    sound = run("check-store", "--save", str(tmp_path / "copy.sqlite3"))
    assert (sound.returncode, "is whole" in sound.stdout) == (0, True), sound
    assert (tmp_path / "copy.sqlite3").stat().st_mode & 0o777 == 0o600
    assert "is there already" in run("check-store", "--save", str(tmp_path / "copy.sqlite3")).stderr
    path = tmp_path / "data" / "clustersim.sqlite3"
    path.write_bytes(b"no database at all" * 1000)
    broken = run("check-store")
    assert broken.returncode == 1
    assert "can be read" in broken.stderr
