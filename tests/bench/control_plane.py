"""Created → bound through store and watch: 3,000 pods of one Deployment on 1,000 nodes, kubelets off.

The clock starts when the Deployment is written and stops when the last nodeName is readable through another connection
to the database. The control plane is one process, as a worker runs it; Scheduled events are on.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from tests.tools import databases, postgres

NODES: Final = 1_000
PODS: Final = 3_000
SECONDS_MAX: Final = 300.0
LOOK_EVERY_SECONDS: Final = 0.2
"""How often the pods are read to see whether all are bound; a look at 3,000 of them costs about 10 ms."""


@contextmanager
def _database(name: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        if name == "postgresql":
            with postgres.running() as url, databases.using(url, Path(folder)):
                yield
        else:
            with databases.using("", Path(folder)):
                yield


def _nodes() -> list[dict[str, Any]]:
    room = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{i}", "labels": {"kubernetes.io/hostname": f"node-{i}"}},
            "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for i in range(NODES)
    ]


def _deployment() -> dict[str, Any]:
    container = {"name": "c", "image": "bench:1", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
    labels = {"app": "bench"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "bench", "namespace": "default"},
        "spec": {
            "replicas": PODS,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def measure(name: str) -> dict[str, Any]:
    """Return the row of one database: seconds, podsPerSecond."""
    from clustersim.classroom.opening import open_session
    from clustersim.classroom.writing import write
    from clustersim.store import open_store
    from controllers.cluster import Cluster
    from controllers.log.operations import Create, Patch
    from scheduler_core.kernels.collecting import collect_rarely

    collect_rarely()
    with _database(name):
        session = open_session("bench", "empty", 1, "Bench").session
        straight = Patch("clocks.clustersim.io", "", "clock", {"spec": {"pace": 0}})
        write(open_store(session.id), [straight, *(Create("nodes", "", node) for node in _nodes())])
        cluster = Cluster(open_store(session.id, owner=True), fence=session.epoch, kubelets=False)
        cluster.start()
        cluster.advance(cluster.now_ms + 20_000)  # the first leaders are elected
        began = perf_counter()
        write(open_store(session.id), [Create("deployments.apps", "default", _deployment())])
        cluster.pull()
        reader = open_store(session.id)
        while True:
            slice_ends = perf_counter() + LOOK_EVERY_SECONDS
            while perf_counter() < slice_ends:
                cluster.advance(cluster.next_event_ms() or cluster.now_ms, max_events=64)
            pods, _ = reader.list("pods", "default")
            bound = sum(1 for pod in pods if b'"nodeName":"' in pod.data)  # searched, not decoded: cheap to look at
            seconds = perf_counter() - began
            print(f"{name}: {bound}/{PODS} bound after {seconds:.1f} s", file=sys.stderr)
            if bound == PODS or seconds > SECONDS_MAX:
                break
        rate = round(bound / seconds, 1)
        row = {"bench": "created→bound", "database": name, "nodes": NODES, "pods": PODS, "bound": bound}
        return {**row, "seconds": round(seconds, 2), "podsPerSecond": rate}


def run() -> list[dict[str, Any]]:
    """Return one row a database."""
    return [measure(name) for name in ("sqlite", "postgresql")]
