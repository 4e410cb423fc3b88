"""What has gone is forgotten by whoever looked after it."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Delete
from controllers.log.store import DELETED
from scheduler_core.api.document import Document
from tests.sim.whole.leaks import PASSING, kept, memories
from tests.tools.lab import Lab, node, pod, workload


def job(name: str) -> Document:
    container = {"name": "main", "image": "busybox", "command": ["sleep", "2"]}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    spec: dict[str, Any] = {"template": template, "completions": 2, "ttlSecondsAfterFinished": 0}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def test_nothing_is_kept_of_workloads_and_pods_that_are_gone() -> None:
    lab = Lab([node("n1"), node("n2")])
    workloads = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
    lab.create(job("j"), pod("p"), *(workload(kind, kind.lower(), 2) for kind in workloads))
    lab.run(60)
    lab.do(Delete("pods", "default", "p"))
    for resource in ("deployments.apps", "replicasets.apps", "replicationcontrollers", "statefulsets.apps"):
        for one in lab.list(resource, "default"):
            if not one["metadata"].get("ownerReferences"):
                lab.do(Delete(resource, "default", one["metadata"]["name"], propagation="Background"))
    lab.run(300)
    assert not lab.list("pods")
    assert not lab.list("jobs.batch")
    gone = [row for row in lab.rows() if row.verb == DELETED]
    dead = frozenset([row.uid for row in gone] + [f"{row.namespace}/{row.name}" for row in gone])
    assert len(dead) > 20
    found = [(name + path, text) for name, one in memories(lab.cluster) for path, text in kept(one, dead)]
    assert [one for one in found if not one[0].endswith(PASSING)] == []


def test_what_is_kept_is_found_wherever_it_lies() -> None:
    class Inner:
        __slots__ = ("by_key", "seen")

        def __init__(self) -> None:
            self.by_key = {("default", "uid-1"): {"name": "uid-9"}}
            self.seen = {"uid-2", "uid-3"}

    class Outer:
        def __init__(self) -> None:
            self.parts = [Inner()]

    assert sorted(kept(Outer(), frozenset({"uid-1", "uid-2", "uid-9"}))) == [
        (".parts[].by_key", "uid-1"),
        (".parts[].seen", "uid-2"),
    ]
