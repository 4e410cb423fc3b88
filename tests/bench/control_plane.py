"""Created → bound through store and watch: 3,000 pods of one Deployment on 1,000 nodes, kubelets off.

The clock starts when the Deployment is written and stops when the last nodeName is readable through another connection
to the database. The control plane is one process, as a worker runs it; Scheduled events are on. `cpuMsPerPod` is the
processor time of that process alone, the steadier number on a machine that others use too.

Then further Deployments are scaled from 1 to 3,000, one after another, while another process writes for a person; and
what the heartbeats of 5,000 nodes cost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any, Final

from clustersim.classroom.opening import open_session
from clustersim.classroom.writing import write
from clustersim.store import SqlStore, open_store
from controllers.cluster import Cluster
from controllers.log.operations import Create, Patch
from scheduler_core.kernels.collecting import collect_rarely, pass_over, staying
from tests.tools import databases, postgres

NODES: Final = 1_000
PODS: Final = 3_000
SECONDS_MAX: Final = 300.0
SCALED: Final = 5
"""Deployments scaled beside a person: with one, the p99 would be the slowest of fewer than a hundred writes."""
HEARTBEAT_NODES: Final = 5_000
HEARTBEAT_SECONDS: Final = 120
"""Simulated seconds, at the pace of real ones: each node's kubelet renews its Lease twelve times."""

LOOK_EVERY_SECONDS: Final = 0.2
"""How often the pods are read to see whether all are bound; a look at 3,000 of them costs about 10 ms."""


@contextmanager
def _database(name: str) -> Iterator[dict[str, str]]:
    """Use a database of its own; yield what tells another process where it is."""
    with tempfile.TemporaryDirectory() as folder:
        if name == "postgresql":
            with postgres.running() as url, databases.using(url, Path(folder)):
                yield {"DATABASE_URL": url, "CLUSTERSIM_DATA": folder}
        else:
            with databases.using("", Path(folder)):
                yield {"DATABASE_URL": "", "CLUSTERSIM_DATA": folder}


@contextmanager
def _person(session_id: int, where: dict[str, str]) -> Iterator[list[float]]:
    """Have a person write from another process meanwhile; the milliseconds of each write are there at the end."""
    waits: list[float] = []
    command = [sys.executable, "-m", "tests.bench.person", str(session_id)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env={**os.environ, **where}, text=True, **pipes) as person:
        assert person.stdout
        assert person.stdout.readline() == "ready\n"
        yield waits
        told, _ = person.communicate("enough\n")
    waits += json.loads(told)


def nodes(count: int = NODES) -> list[dict[str, Any]]:
    room = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{i}", "labels": {"kubernetes.io/hostname": f"node-{i}"}},
            "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for i in range(count)
    ]


def _deployment(name: str = "bench", replicas: int = PODS) -> dict[str, Any]:
    container = {"name": "c", "image": "bench:1", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def _bound(cluster: Cluster, reader: SqlStore, name: str, wanted: int) -> tuple[float, float]:
    """Run the control plane until so many pods of an app are bound, or too long.

    Returns:
        The seconds until the last of them was readable, and the processor's seconds; without those of looking whether
        it is done, which is found out up to LOOK_EVERY_SECONDS later.
    """
    marks: list[tuple[float, float, int]] = []
    label = b'"app":"' + name.encode() + b'"'
    seconds = spent = 0.0
    while True:
        before, before_process = perf_counter(), process_time()
        while (past := perf_counter() - before) < LOOK_EVERY_SECONDS:
            cluster.advance(cluster.next_event_ms() or cluster.now_ms, max_events=64)
            pass_over()  # As a worker does after a slice.
            past = perf_counter() - before
            marks.append((seconds + past, spent + process_time() - before_process, cluster.store.revision))
        seconds, spent = seconds + past, spent + process_time() - before_process
        pods, _ = reader.list("pods", "default")
        # Searched, not decoded: cheap to look at.
        bound = [pod.revision for pod in pods if label in pod.data and b'"nodeName":"' in pod.data]
        print(f"{name}: {len(bound)}/{wanted} bound after {seconds:.1f} s", file=sys.stderr)
        if len(bound) == wanted:
            return next(mark[:2] for mark in marks if mark[2] >= max(bound))
        if seconds > SECONDS_MAX:
            return seconds, spent


@contextmanager
def _plane(name: str) -> Iterator[tuple[Cluster, SqlStore, dict[str, str]]]:
    """Yield a control plane of 1,000 nodes whose leaders are elected, a reader of its log, and its database's place."""
    collect_rarely()
    with _database(name) as where:
        session = open_session("bench", "empty", 1, "Bench").session
        straight = Patch("clocks.clustersim.io", "", "clock", {"spec": {"pace": 0}})
        write(open_store(session.id), [straight, *(Create("nodes", "", node) for node in nodes())])
        # Taken up as a worker does.
        with staying():
            cluster = Cluster(open_store(session.id, owner=True), fence=session.epoch, kubelets=False)
            cluster.start()
        cluster.advance(cluster.now_ms + 20_000)  # the first leaders are elected
        yield cluster, open_store(session.id), where


def _created(cluster: Cluster, reader: SqlStore) -> tuple[float, float]:
    """Have a Deployment's pods made and bound; return the seconds and the processor's seconds."""
    write(open_store(reader.session_id), [Create("deployments.apps", "default", _deployment())])
    cluster.pull()
    return _bound(cluster, reader, "bench", PODS)


def created(name: str) -> float:
    """Return the milliseconds of the processor that a pod costs from its Deployment's write to its binding."""
    with _plane(name) as (cluster, reader, _):
        return _created(cluster, reader)[1] * 1000 / PODS


def measure(name: str) -> list[dict[str, Any]]:
    """Return the rows of one database: created→bound, and scaled beside a person who writes."""
    with _plane(name) as (cluster, reader, where):
        seconds, spent = _created(cluster, reader)
        shared = {"database": name, "nodes": NODES, "pods": PODS}
        row = {"bench": "created→bound", **shared, "seconds": round(seconds, 2)}
        row |= {"podsPerSecond": round(PODS / seconds, 1), "cpuMsPerPod": round(spent * 1000 / PODS, 3)}
        return [row, _scaled(cluster, reader, where) | shared]


def _scaled(cluster: Cluster, reader: SqlStore, where: dict[str, str]) -> dict[str, Any]:
    """Return the row of Deployments scaled beside a person: how long the slowest took, and how long the writes."""
    own = open_store(reader.session_id)
    names = [f"more-{index}" for index in range(SCALED)]
    write(own, [Create("deployments.apps", "default", _deployment(name, 1)) for name in names])
    cluster.pull()
    for name in names:
        _bound(cluster, reader, name, 1)
    took = []
    with _person(reader.session_id, where) as waits:
        for name in names:
            write(own, [Patch("deployments.apps", "default", name, {"spec": {"replicas": PODS}})])
            cluster.pull()
            took.append(_bound(cluster, reader, name, PODS)[0])
    cuts = quantiles(waits, n=100)
    row = {"bench": "scaled beside a person", "seconds": round(max(took), 2), "writes": len(waits)}
    return row | {"writeP50Ms": round(cuts[49], 1), "writeP99Ms": round(cuts[98], 1)}


def heartbeats() -> dict[str, Any]:
    """Return the row of idle nodes: percent of a core that the control plane of 5,000 nodes takes, kubelets on."""
    collect_rarely()
    with _database("sqlite"):
        session = open_session("bench", "empty", 1, "Bench").session
        store = open_store(session.id)
        for start in range(0, HEARTBEAT_NODES, 500):
            write(store, [Create("nodes", "", node) for node in nodes(HEARTBEAT_NODES)[start : start + 500]])
        cluster = Cluster(open_store(session.id, owner=True), fence=session.epoch)
        cluster.start()
        cluster.advance(cluster.now_ms + 60_000)
        spent = process_time()
        for _ in range(HEARTBEAT_SECONDS):
            cluster.advance(cluster.now_ms + 1_000)
        share = 100 * (process_time() - spent) / HEARTBEAT_SECONDS
        return {"bench": "heartbeats", "nodes": HEARTBEAT_NODES, "percentOfACore": round(share, 2)}


def run() -> list[dict[str, Any]]:
    """Return the rows of each database, and that of the heartbeats."""
    return [*measure("sqlite"), *measure("postgresql"), heartbeats()]
