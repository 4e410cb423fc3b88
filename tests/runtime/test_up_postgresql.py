"""The whole installation over PostgreSQL."""

from __future__ import annotations

import os
import signal

import psycopg

from tests.tools.server import running, wait_for
from tests.tools.session import Session


def test_a_session_over_postgresql_survives_its_owner(postgresql_url):
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE up")
    url = postgresql_url.replace("/clustersim?", "/up?")
    with running({"DATABASE_URL": url, "WORKERS": "2"}) as server:
        session = Session(server)
        session.wait_for_leader()
        session.clock(pace=0)
        session.create_pod("before")
        wait_for(lambda: "before" in session.bound(), what="bound")
        os.kill(session.owner_pid(), signal.SIGKILL)
        session.create_pod("after")
        wait_for(lambda: "after" in session.bound(), what="bound by the next owner")
        assert session.clock(rate=2)["rate"] == 2

        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            cut = connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'up'")
            assert len(cut.fetchall()) >= 2, "web and owner had connections"
        wait_for(server.ready, what="ready again")
        session.create_pod("reconnected")
        wait_for(lambda: "reconnected" in session.bound(), what="bound after the connections were cut")
        assert not (server.data / "clustersim.sqlite3").exists()
