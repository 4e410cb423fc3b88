"""What a class's copies cost: sixty forks of a three-node session side by side, asleep and at rate 1, and their making.

Processor time of all processes, as in `idle`.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Final

from tests.bench.idle import SETTLE_SECONDS, share_of_a_core
from tests.tools.server import Server, running, wait_for
from tests.tools.session import Session

COPIES: Final = 60
MEASURED_SECONDS: Final = 30.0


def run(copies: int = COPIES, seconds: float = MEASURED_SECONDS) -> list[dict[str, Any]]:
    """Return the rows: seconds to hand out, percent of one core with the copies asleep, awake, and used."""
    with running() as server:
        session = Session(server)
        session.wait_for_leader()
        wait_for(lambda: len(session.bound()) == len(session.pods()), what="the template's pods bound")
        tokens = [_joined(server, session.code, number) for number in range(copies)]
        base = f"/api/sessions/{session.code}/copies"
        threading.Event().wait(SETTLE_SECONDS)
        alone = share_of_a_core(server, seconds)
        began = time.monotonic()
        made = session.call("POST", base, {"people": "all", "seeds": "each"}, expect=201)
        rows = [{"bench": "copies", "made": len(made), "seconds": round(time.monotonic() - began, 2)}]
        print(rows[-1], file=sys.stderr)
        rows.append(_row(server, "asleep", copies, alone, seconds))
        codes = {one["person"]: one["code"] for one in made}
        inside = [_enter(server, base, codes[person], token) for person, token in tokens]
        for code, token in inside:
            status, body = server.obeyed("PATCH", f"/api/sessions/{code}/clock", {"paused": False, "rate": 1}, token)
            assert status == 200, body
        threading.Event().wait(SETTLE_SECONDS)
        rows.append(_row(server, "running at rate 1", copies, alone, seconds))
        began = time.monotonic()
        tiles = session.call("GET", base)
        rows.append({"bench": "copies", "tiles": len(tiles), "milliseconds": round(1000 * (time.monotonic() - began))})
        late = [_lag(server, code, token) for code, token in inside]
        rows.append({"bench": "copies", "effective rate, the slowest": min(late)})
        return rows


def _row(server: Server, what: str, copies: int, alone: dict[str, float], seconds: float) -> dict[str, Any]:
    now = share_of_a_core(server, seconds)
    row = {"bench": "copies", "copies": copies, "they": what, "percent of a core": now["all"], "without": alone["all"]}
    print(row, file=sys.stderr)
    return row


def _joined(server: Server, code: str, number: int) -> tuple[str, str]:
    status, body = server.request("POST", f"/api/sessions/{code}/join", {"name": f"Seat {number}"})
    assert status == 201, body
    return body["id"], body["token"]


def _enter(server: Server, base: str, code: str, token: str) -> tuple[str, str]:
    status, body = server.obeyed("POST", f"{base}/{code}/enter", None, token)
    assert status == 200, body
    return code, body["token"]


def _lag(server: Server, code: str, token: str) -> float:
    status, clock = server.obeyed("GET", f"/api/sessions/{code}/clock", None, token)
    assert status == 200, clock
    return float(clock["effectiveRate"])
