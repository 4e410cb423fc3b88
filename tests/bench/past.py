"""Reading any kept revision and forking a session off, at 1,000 nodes and 50,000 revisions, on SQLite."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

NODES: Final = 1_000
PODS: Final = 10_000
REVISIONS: Final = 50_000
BATCH: Final = 500
READS: Final = 20


def _pod(number: int, node: str) -> dict[str, Any]:
    """Return a pod about as large as one that runs."""
    name = f"web-{number}"
    container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"} for kind in "ABCD"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": "web"}},
        "spec": {"nodeName": node, "containers": [container], "tolerations": [{"key": "a"}] * 4},
        "status": {"phase": "Running", "conditions": conditions, "podIP": "10.0.0.1"},
    }


def _timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Return milliseconds by the clock and of the processor."""
    began, spent = perf_counter(), process_time()
    work()
    return (perf_counter() - began) * 1000, (process_time() - spent) * 1000


def _fill(session_id: int) -> None:
    """Write as many revisions as are kept: pods as they come, then as they change in turn."""
    from clustersim.store import open_store

    store = open_store(session_id)
    while (left := REVISIONS - store.revision) > 0:
        first = store.revision
        with store.transaction("bench", now_ms=first) as transaction:
            for number in range(first, first + min(BATCH, left)):
                pod = _pod(number % PODS, f"n{number % NODES + 1}")
                transaction.put("pods", "default", pod["metadata"]["name"], pod)


def _changes(store: Any, there: int, here: int) -> int:
    """Encode what a page is sent when it goes from one moment to another; return how many objects."""
    from clustersim.feed.palette import Palette
    from clustersim.sessionapi.timeline import shown
    from clustersim.store import history

    return len(shown(history.changes(store, there, here).objects, Palette(store.session_id)))


def _timeline(store: Any, oldest: int) -> int:
    """Find the marks of the whole log, thin and count them; return how many there are."""
    from clustersim.store import history
    from clustersim.timeline.marks import counted, marks, thinned

    found = marks(history.log_rows(store, oldest, REVISIONS))
    thinned(found, 600)
    counted(found, 0, REVISIONS, 40)
    return len(found)


def run() -> list[dict[str, Any]]:
    """Return one row: how long lists take at revisions all over the log, and a fork in the midst of it."""
    from clustersim.classroom.opening import open_session
    from clustersim.store import forking, open_store
    from tests.tools import databases

    folder = Path(tempfile.mkdtemp(prefix="clustersim-bench-"))
    try:
        with databases.using("", folder):
            session = open_session("bench", "nodes-1000", 1, "Teacher").session
            _fill(session.id)
            store = open_store(session.id)
            oldest = session.revision or 2_000
            places = [oldest + (REVISIONS - oldest) * number // READS for number in range(READS)]
            reads = [
                _timed(lambda at=at: [len(one.data) for kind in ("nodes", "pods") for one in store.list_at(kind, at)])
                for at in places
            ]
            changes = [_timed(lambda at=at: _changes(store, REVISIONS, at)) for at in places]
            marks = _timed(lambda: _timeline(store, oldest))
            fork = _timed(lambda: forking.fork(store, "fork", REVISIONS // 2, since=REVISIONS // 2))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [
        {
            "bench": "past",
            "nodes": NODES,
            "pods": PODS,
            "revisions": REVISIONS,
            "readMaxMs": round(max(wall for wall, _ in reads)),
            "readCpuMaxMs": round(max(spent for _, spent in reads)),
            "changesMaxMs": round(max(wall for wall, _ in changes)),
            "changesCpuMaxMs": round(max(spent for _, spent in changes)),
            "timelineMs": round(marks[0]),
            "timelineCpuMs": round(marks[1]),
            "forkMs": round(fork[0]),
            "forkCpuMs": round(fork[1]),
        }
    ]
