"""Simulated time against the wall clock, as the worker drives it."""

from __future__ import annotations

import contextlib
import sqlite3

from tests.tools.server import wait_for
from tests.tools.session import Session


def test_time_passes_at_the_rate_that_is_asked_and_stands_when_paused(live_server_up):
    session = Session(live_server_up, "empty")
    fast = session.clock(rate=100)
    assert (fast["rate"], fast["paused"]) == (100, False)
    wait_for(lambda: session.clock()["simTime"] > fast["simTime"] + 100, what="100 simulated seconds")
    stopped = session.clock(paused=True)
    assert stopped["paused"]
    again = session.clock()
    assert again["simTime"] == stopped["simTime"]
    stepped = session.step("seconds", 5)
    assert stepped["simTime"] == stopped["simTime"] + 5
    going = session.clock(paused=False, rate=1)
    assert not going["paused"]
    later = wait_for(
        lambda: (clock := session.clock())["simTime"] > going["simTime"] + 1 and clock, what="another second"
    )
    assert later["simTime"] < going["simTime"] + 60, "the pause must not be made up for"


def test_the_log_never_runs_ahead_of_the_clock_nor_back(live_server_up):
    session = Session(live_server_up)
    session.clock(rate=20, pace=0)
    for number in range(12):
        session.create_pod(f"p{number}")
    wait_for(lambda: len(session.bound()) >= 12, what="bound")
    with contextlib.closing(sqlite3.connect(live_server_up.data / "clustersim.sqlite3")) as connection:
        rows = connection.execute(
            "SELECT r.revision, r.now_ms, r.actor FROM store_revision r JOIN store_session s ON s.id = r.session_id "
            "WHERE s.code = ? ORDER BY r.revision",
            [session.code],
        ).fetchall()
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    stamps = [row[1] for row in rows]
    assert stamps == sorted(stamps)
    assert {"user:teacher", "kube-scheduler-0"} <= {row[2] for row in rows}
    assert stamps[-1] / 1000 <= session.clock()["simTime"]


def test_a_busy_session_does_not_hold_up_another(server_tool):
    with server_tool.running({"WORKERS": "1"}) as server:
        busy, quiet = Session(server, "nodes-100"), Session(server)
        for session in (busy, quiet):
            session.wait_for_leader()
            session.clock(pace=0)
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1m"}}}
        labels = {"app": "many"}
        busy.create(
            "/apis/apps/v1/namespaces/default/deployments",
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "many"},
                "spec": {
                    "replicas": 2000,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
                },
            },
        )
        served = 0
        while len(busy.bound()) < 1500:
            quiet.create_pod(f"p{served}")
            wait_for(lambda name=f"p{served}": name in quiet.bound(), what="the quiet session's pod")
            assert quiet.clock(rate=1 + served % 2)["rate"] == 1 + served % 2
            served += 1
        assert served >= 2


def test_a_session_that_nobody_uses_hibernates_and_wakes_where_it_was(server_tool):
    with server_tool.running({"WORKERS": "1"}) as server:
        session = Session(server)
        session.wait_for_leader()
        database = server.data / "clustersim.sqlite3"

        def ask(sql: str):
            with contextlib.closing(sqlite3.connect(database, timeout=20)) as connection, connection:
                return connection.execute(sql).fetchone()

        ask("UPDATE store_session SET touched_ms = touched_ms - 3600000")
        wait_for(lambda: ask("SELECT hibernated, owner FROM store_session") == (1, ""), what="hibernation")
        horizon_ms, revision = ask("SELECT horizon_ms, revision FROM store_session")
        assert wait_for(lambda: "hibernates" in server.tail(), what="the log line")
        assert ask("SELECT horizon_ms, revision FROM store_session") == (horizon_ms, revision)
        woken = session.clock()
        assert woken["simTime"] < horizon_ms / 1000 + 2, "no time passed while it slept"
        wait_for(lambda: session.clock()["simTime"] > horizon_ms / 1000 + 1, what="time passes again")
        session.clock(pace=0)
        session.create_pod("awake")
        wait_for(lambda: "awake" in session.bound(), what="bound")
