"""Two installations on one PostgreSQL: one goes, the other takes its sessions over; nothing is lost or done twice."""

from __future__ import annotations

import contextlib
import os
import signal

import psycopg

from tests.tools.server import child_pids, running, wait_for
from tests.tools.session import Session

PODS = 20


def test_the_other_installation_takes_the_sessions_over(postgresql_url):
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE two")
    environment = {"DATABASE_URL": postgresql_url.replace("/clustersim?", "/two?"), "WORKERS": "1"}
    with running(environment) as first:
        session = Session(first)
        session.wait_for_leader()
        session.clock(pace=0)
        assert session.owner_pid() in first.pids("worker")
        for number in range(PODS // 2):
            session.create_pod(f"p{number}")
        wait_for(lambda: len(session.bound()) >= PODS // 2, what="bound by the first")
        with running(environment) as second:
            placed = session.bound()
            pids = [first.process.pid, *child_pids(first.process.pid)]
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            first.process.wait()
            session.server = second
            for number in range(PODS // 2, PODS):
                session.create_pod(f"p{number}")
            wait_for(
                lambda: {f"p{number}" for number in range(PODS)} <= session.bound().keys(), what="bound by the second"
            )
            assert session.owner_pid() in second.pids("worker")
            assert session.bound().items() >= placed.items(), "no pod was bound twice"
            assert session.clock(rate=2)["rate"] == 2
