"""What idleness costs: processor time of all processes together, with no session and with sessions nobody touches.

Processor time (utime + stime of the supervisor and its children), not the clock, so that a busy machine changes little.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from tests.tools.server import Server, child_pids, running, wait_for
from tests.tools.session import Session

SESSIONS: Final = 100
MEASURED_SECONDS: Final = 30.0
SETTLE_SECONDS: Final = 15.0
"""Real seconds after the last session was opened before measuring: by then all that its template asks for is done."""


def processor_seconds(server: Server) -> dict[str, float]:
    """Return the processor time of each process of an installation so far, by what it is."""
    ticks = os.sysconf("SC_CLK_TCK")
    used: dict[str, float] = {}
    for pid, command in {server.process.pid: ["up"], **child_pids(server.process.pid)}.items():
        name = Path(command[2] if len(command) > 2 and command[1].endswith("manage.py") else command[0]).name
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used[name] = used.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / ticks
    return used


def share_of_a_core(server: Server, seconds: float) -> dict[str, float]:
    """Return percent of one core that each kind of process uses in the next seconds, and `all`."""
    before, began = processor_seconds(server), time.monotonic()
    threading.Event().wait(seconds)
    after, passed = processor_seconds(server), time.monotonic() - began
    shares = {name: round(100 * (after[name] - before.get(name, 0.0)) / passed, 2) for name in after}
    return {"all": round(sum(shares.values()), 2), **shares}


def open_idle(server: Server, count: int) -> list[Session]:
    """Open three-node sessions and let them become quiet."""
    opened = [Session(server, seed=number + 1) for number in range(count)]
    for session in opened:
        session.wait_for_leader()
    wait_for(lambda: all(len(one.bound()) == len(one.pods()) for one in opened), what="the templates' pods bound")
    threading.Event().wait(SETTLE_SECONDS)
    return opened


def run(sessions: int = SESSIONS, seconds: float = MEASURED_SECONDS) -> list[dict[str, Any]]:
    """Return the rows: percent of one core with no session, and with `sessions` untouched three-node ones."""
    rows = []
    with running() as server:
        threading.Event().wait(3.0)
        rows.append({"bench": "idle", "sessions": 0, **share_of_a_core(server, seconds)})
        print(rows[-1], file=sys.stderr)
        open_idle(server, sessions)
        rows.append({"bench": "idle", "sessions": sessions, **share_of_a_core(server, seconds)})
    return rows
