"""A live session, run again from its log in memory, gives the same log."""

from __future__ import annotations

import contextlib
import sqlite3

from clustersim.plugins import installed
from controllers.log.store import Event
from controllers.rerun import first_difference, rerun
from tests.tools.server import running, wait_for
from tests.tools.session import Session

VERBS = ("ADDED", "MODIFIED", "DELETED")


def read_log(path, code: str) -> tuple[list[Event], int, int, int]:
    """Return (the whole log, seed, epoch_ms, fencing epoch) of a session."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        session, seed, epoch_ms, fence = connection.execute(
            "SELECT id, seed, epoch_ms, epoch FROM store_session WHERE code = ?", [code]
        ).fetchone()
        rows = connection.execute(
            "SELECT resource, namespace, name, uid, revision, data, verb, now_ms, actor, previous_revision, "
            "read_revision FROM store_revision WHERE session_id = ? ORDER BY revision",
            [session],
        ).fetchall()
    log = [
        Event(*row[:6], verb=VERBS[row[6] - 1], now_ms=row[7], actor=row[8], previous_revision=row[9], read=row[10])
        for row in rows
    ]
    return log, seed, epoch_ms, fence


def test_a_live_session_run_again_from_its_log_gives_the_same_log():
    with running({"WORKERS": "1"}) as server:
        session = Session(server, seed=11)
        session.clock(rate=5, pace=20)
        for number in range(15):
            session.create_pod(f"p{number}", cpu="300m")
            if number == 7:
                session.clock(paused=True)
                session.step("event", 3)
                session.clock(paused=False, rate=20)
        session.call("DELETE", f"/clusters/{session.code}/api/v1/namespaces/default/pods/p3")
        wait_for(lambda: len(session.bound()) >= 14, what="bound")
        revision = session.clock(paused=True)["revision"]
        database = server.data / "clustersim.sqlite3"
        log, seed, epoch_ms, fence = read_log(database, session.code)
    assert len(log) >= revision > 100
    assert {row.actor for row in log} >= {"user:teacher", "kube-scheduler-0", "session"}
    engine = [row for row in log if row.read]
    assert len(engine) > 100
    again = rerun(log, seed=seed, epoch_ms=epoch_ms, fence=fence, plugins=installed().registry)
    assert first_difference(log, again.events(0, len(log) + 100)) == ""
