"""A disk that is full, a database that may not be written, one that is damaged: told as what it is, and got over."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clustersim.store import failures
from tests.tools.server import ROOT, Server, running, start, wait_for
from tests.tools.session import Session

BIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"x": "0123456789" * 80_000}}
"""More than what the deleted rows of a small file leave free."""


def _harmed(data: Path, harm: str) -> Server:
    return start(data, {"DJANGO_SETTINGS_MODULE": "tests.tools.harmed_settings", "HARM": harm})


def _readiness(server: Server) -> tuple[int, dict[str, str]]:
    try:
        status, answer = server.request("GET", "/readyz")
    except OSError:
        return 0, {}
    return status, answer


def _says(server: Server, told: str) -> bool:
    status, answer = _readiness(server)
    return status == 503 and answer["database"].startswith(told)


def _check_store(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CLUSTERSIM_DATA": str(data)}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, str(ROOT / "manage.py"), "check-store", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)


def _database(data: Path) -> Path:
    return data / "clustersim.sqlite3"


@pytest.mark.parametrize(("harm", "told"), [("full", failures.FULL), ("read-only", failures.READ_ONLY)])
def test_who_cannot_write_says_why_and_nothing_acknowledged_is_lost(tmp_path: Path, harm: str, told: str) -> None:
    with running(data=tmp_path) as server:
        session = Session(server)
        session.create_pod("before")
    # What the installation let go of at its end would be room.
    with closing(sqlite3.connect(_database(tmp_path))) as connection:
        connection.execute("VACUUM")
    harmed = _harmed(tmp_path, harm)
    try:
        wait_for(lambda: _says(harmed, told), what=f"/readyz says of the database: {told}")
        refused, answer = harmed.request("POST", f"/clusters/{session.code}/api/v1/namespaces/default/configmaps", BIG,
                                         session.token)  # fmt: skip
        assert (refused, answer["reason"], answer["message"]) == (503, "ServiceUnavailable", told), answer
        refused, answer = harmed.request("POST", "/api/sessions", {"title": "t", "template": "nodes-100"})
        assert (refused, answer["message"]) == (503, told), answer
        _, answer = _readiness(harmed)
        assert answer["worker"] in ("ok", "waits for the database"), "the worker is not blamed"
        read, _ = harmed.request("GET", f"/clusters/{session.code}/api/v1/namespaces/default/pods/before",
                                 token=session.token)  # fmt: skip
        assert read == 200, "what is there can still be read"
    finally:
        harmed.stop()
    assert _check_store(tmp_path).returncode == 0
    with running(data=tmp_path) as again:
        session.server = again
        assert "before" in {pod["metadata"]["name"] for pod in session.pods()}
        session.create("/api/v1/namespaces/default/configmaps", BIG)


def _damage(path: Path, table: str) -> None:
    """Write over the page at which a table begins."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()[0]
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def test_a_damaged_file_is_named_and_the_rest_of_it_saved(tmp_path: Path) -> None:
    with running(data=tmp_path) as server:
        session = Session(server)
        session.create_pod("before")
    _damage(_database(tmp_path), "store_worker")
    harmed = start(tmp_path)
    try:
        wait_for(lambda: _says(harmed, failures.DAMAGED), what="/readyz says that the file is damaged")
        refused, answer = harmed.request("POST", "/api/sessions", {"title": "t", "template": "empty"})
        assert refused in (201, 503), answer
    finally:
        harmed.stop()
    saved = tmp_path / "saved.sqlite3"
    told = _check_store(tmp_path, "--save", str(saved))
    assert told.returncode == 1, told
    assert session.opened["code"] in told.stdout
    saved.replace(_database(tmp_path))
    for left in ("-wal", "-shm"):
        Path(f"{_database(tmp_path)}{left}").unlink(missing_ok=True)
    with running(data=tmp_path) as again:
        session.server = again
        assert "before" in {pod["metadata"]["name"] for pod in session.pods()}
        session.create_pod("after")
