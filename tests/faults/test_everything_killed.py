"""Everything is killed with -9 and started again: nothing that was acknowledged is lost, and all sessions go on."""

from __future__ import annotations

import contextlib
import os
import signal

from tests.tools.server import Server, child_pids, running, wait_for
from tests.tools.session import Session


def _kill_all(server: Server) -> None:
    pids = [server.process.pid, *child_pids(server.process.pid)]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    server.process.wait()


def _uids(session: Session) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in session.pods()}


def test_all_sessions_are_taken_up_again_and_hold_what_was_acknowledged(tmp_path):
    with running(data=tmp_path) as server:
        sessions = [Session(server, "nodes-1000"), *(Session(server) for _ in range(3))]
        for session in sessions[1:]:
            session.clock(pace=0)
        for number in range(20):
            sessions[1].create_pod(f"p{number}")
        acknowledged = _uids(sessions[1])
        assert {f"p{number}" for number in range(20)} <= acknowledged.keys()
        placed = sessions[1].bound()
        _kill_all(server)
    with running(data=tmp_path) as again:
        log = again.log
        for session in sessions:
            session.server = again
        wait_for(again.ready, what="ready: no session waits for a worker")
        assert _uids(sessions[1]).items() >= acknowledged.items()
        wait_for(lambda: acknowledged.keys() <= sessions[1].bound().keys(), what="all bound")
        assert sessions[1].bound().items() >= placed.items(), "no pod was bound twice"
        for session in sessions:
            assert session.clock(rate=2)["rate"] == 2
        assert " ended with " not in log.read_text(), "no worker died over what it took up"
