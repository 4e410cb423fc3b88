"""A process that stands still (SIGSTOP) holds what it holds: it is ended, and nobody else stands still with it."""

from __future__ import annotations

import os
import signal

from tests.tools.server import is_alive, running, wait_for
from tests.tools.session import Session


def _stop_while_writing(pid: int, turn: str) -> None:
    """Stop a process at a moment at which it holds the turn to write."""
    inode = os.stat(turn).st_ino

    def is_inside() -> bool:
        os.kill(pid, signal.SIGSTOP)
        # /proc/locks: "1: FLOCK  ADVISORY  WRITE <pid> <major:minor:inode> 0 EOF", waiting ones with "->".
        with open("/proc/locks", encoding="ascii") as locks:
            held = [line.split() for line in locks if "->" not in line]
        if any(line[4] == str(pid) and line[5].endswith(f":{inode}") for line in held):
            return True
        os.kill(pid, signal.SIGCONT)
        return False

    wait_for(is_inside, what="the worker inside its turn")


def test_a_stopped_worker_is_ended_and_its_sessions_go_on_elsewhere():
    with running({"WORKERS": "2"}) as server:
        session = Session(server)
        session.wait_for_leader()
        # Elections are renewed a hundred times as often, so that it writes all the time.
        session.clock(pace=0, rate=100)
        stopped = session.owner_pid()
        for number in range(40):
            session.create_pod(f"p{number}")
        _stop_while_writing(stopped, f"{server.data}/clustersim.sqlite3.turn")
        # The write of somebody else waits, but not for ever.
        wait_for(lambda: server.request("POST", "/api/sessions", {"title": "y", "template": "empty"})[0] == 201)
        assert not is_alive(stopped), "the write was made while the worker held the turn: nothing was tried"
        names = {f"p{number}" for number in range(40)}
        wait_for(lambda: names <= session.bound().keys(), what="all bound by another worker")
        assert "stands still and is ended" in server.log.read_text()
