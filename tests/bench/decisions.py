"""Reading a pod's decisions at 1,000 nodes while the engine binds 3,000 pods: over HTTP, on a whole installation."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import quantiles
from time import monotonic, perf_counter
from typing import Any, Final

from tests.tools.server import child_pids, running
from tests.tools.session import Session

PODS: Final = 3_000
READS: Final = 60
SECONDS_MAX: Final = 120.0

_QUERY: Final = "/apis/apps/v1/namespaces/default/deployments"


def _processor_ms(pid: int) -> float:
    """Return how long a process has had a processor, its threads together (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def run() -> list[dict[str, Any]]:
    """Return one row: p50, p95 and worst milliseconds of a read, replays among them, and what the web process spent."""
    with running() as server:
        web = next(pid for pid, command in child_pids(server.process.pid).items() if "web" in command)
        session = Session(server, "nodes-1000")
        session.wait_for_leader()
        labels = {"app": "bench"}
        container = {"name": "c", "image": "bench:1", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": PODS, "selector": {"matchLabels": labels}, "template": template}
        session.create(_QUERY, {"metadata": {"name": "bench"}, "spec": spec})
        waits: list[float] = []
        spent_ms = 0.0
        bound: list[str] = []
        ends = monotonic() + SECONDS_MAX
        while len(waits) < READS and monotonic() < ends:
            if len(waits) >= len(bound):
                # The newest last: their traces hold their input alone while the rate is high.
                bound = sorted(session.bound())
                continue
            name = bound[len(waits) * len(bound) // READS]
            before_ms, began = _processor_ms(web), perf_counter()
            traces = session.call("GET", f"/api/sessions/{session.code}/decisions?pod=default/{name}")
            waits.append((perf_counter() - began) * 1000)
            spent_ms += _processor_ms(web) - before_ms
            assert traces[0]["result"]["chosen"], name
    cuts = quantiles(waits, n=20)
    return [
        {
            "bench": "decisions",
            "nodes": 1_000,
            "reads": len(waits),
            "p50Ms": round(cuts[9]),
            "p95Ms": round(cuts[18]),
            "maxMs": round(max(waits)),
            "webCpuMs": round(spent_ms / len(waits)),
        }
    ]
