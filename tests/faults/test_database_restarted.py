"""PostgreSQL is restarted under a running installation: whoever was idle meanwhile works afterwards like the rest."""

from __future__ import annotations

import psycopg

from tests.tools import postgres
from tests.tools.server import running, wait_for
from tests.tools.session import Session


def _owners(url: str) -> list[tuple[str, bool]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT owner, hibernated FROM store_session ORDER BY id").fetchall()


def test_a_worker_that_was_idle_while_the_database_restarted_works_again():
    with postgres.server() as database, running({"DATABASE_URL": database.url, "WORKERS": "1"}) as server:
        first = Session(server)
        first.wait_for_leader()
        # Put it to sleep, as ten minutes without anybody would: the worker is left with nothing to do.
        with psycopg.connect(database.url) as connection:
            connection.execute("UPDATE store_session SET touched_ms = 0")
        wait_for(lambda: _owners(database.url) == [("", True)], what="the session asleep")

        database.stop()
        wait_for(lambda: server.request("GET", "/readyz")[0] == 503, what="told that the database is away")
        database.start()
        wait_for(server.ready, what="ready again")

        second = Session(server)
        wait_for(lambda: second.scheduler().get("leading"), what="a session opened afterwards runs")
        assert first.clock(pace=0)["pace"] == 0, "one that slept through it is woken and obeys"
        first.create_pod("after")
        wait_for(lambda: "after" in first.bound(), what="bound")
        assert server.log.read_text().count("could not start") == 0
