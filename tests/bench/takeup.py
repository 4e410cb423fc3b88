"""Taking sessions up after everything was killed: six of 1,000 nodes with 10,000 pods, by one worker, one a round.

In this process, as the worker does it: a `Driver` for each session in turn, then its components' first lists. By
then the kubelets had written what they say of the pods, as those of a session that was killed have.
`maxCpuMs` is the steadier number on a machine that others use too.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

SESSIONS: Final = 6
NODES: Final = 1_000
PODS: Final = 10_000
BATCH: Final = 500
UP_MS: Final = 60_000
"""Simulated milliseconds before everything is killed: all kubelets have reported by then."""


def _pod(number: int) -> dict[str, Any]:
    """Return a pod that runs."""
    name = f"web-{number}"
    container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}
    told = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"} for kind in told]
    running = {"name": "c", "ready": True, "restartCount": 0, "image": "nginx:1.27", "imageID": ""}
    state = {"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": "web"}},
        "spec": {"nodeName": f"n{number % NODES + 1}", "containers": [container], "schedulerName": "default-scheduler"},
        "status": {
            "phase": "Running",
            "conditions": conditions,
            "podIP": f"10.{number // 65_025}.{number // 255 % 255}.{number % 255}",
            "containerStatuses": [running | state],
        },
    }


def _fill(session_id: int, epoch: int) -> None:
    """Let 1,000 nodes come up, then write pods that run on them, and let their kubelets say the rest of them."""
    from clustersim.classroom.writing import write
    from clustersim.store import open_store
    from controllers.cluster import Cluster
    from controllers.log.operations import Create

    store = open_store(session_id)
    room = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    names = [f"n{number}" for number in range(1, NODES + 1)]
    write(store, [Create("nodes", "", {"metadata": {"name": name}, "status": status}) for name in names])
    cluster = Cluster(open_store(session_id, owner=True), fence=epoch)
    cluster.start()
    cluster.advance(cluster.now_ms + UP_MS)
    for start in range(0, PODS, BATCH):
        with store.transaction("bench") as transaction:
            for number in range(start, start + BATCH):
                transaction.put("pods", "default", f"web-{number}", _pod(number))
    cluster.advance(cluster.now_ms + UP_MS)


def _taken_up(session_id: int, epoch: int) -> tuple[float, float]:
    """Take a session up until all that is due at once is done; return seconds by the clock and of the processor."""
    from clustersim.runtime.driver import Driver
    from scheduler_core.kernels.collecting import leaving, staying

    began, spent = perf_counter(), process_time()
    with staying():
        driver = Driver(session_id, epoch, lambda: None)
        driver.take_up()
    driver.cluster.advance(driver.cluster.now_ms)
    taken = perf_counter() - began, process_time() - spent
    driver.close()
    leaving()
    return taken


def run() -> list[dict[str, Any]]:
    """Return one row: how long the slowest of the sessions took."""
    from clustersim.classroom.opening import open_session
    from clustersim.store import sessions
    from scheduler_core.kernels.collecting import collect_rarely
    from tests.tools import databases

    collect_rarely()
    folder = Path(tempfile.mkdtemp(prefix="clustersim-bench-"))
    try:
        with databases.using("", folder):
            opened = [open_session("bench", "empty", number + 1, "Teacher").session for number in range(SESSIONS)]
            times = []
            for session in opened:
                _fill(session.id, session.epoch)
            for session in opened:
                epoch = sessions.claim(session.id, "bench", epoch=session.epoch)
                assert epoch is not None, "nobody else claims here"
                times.append(_taken_up(session.id, epoch))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    row = {"bench": "take up", "sessions": SESSIONS, "nodes": NODES, "pods": PODS}
    row |= {"maxMs": round(1000 * max(wall for wall, _ in times))}
    return [row | {"maxCpuMs": round(1000 * max(spent for _, spent in times))}]
