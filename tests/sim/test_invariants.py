"""A whole control plane under random writes, faults and taints: after every step its schedulers' books balance."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from controllers.log.operations import Delete, Patch
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.queued import Lane
from tests.scheduler.simulation.books import check_cache, check_nominations
from tests.tools.lab import Lab, any_of, node, pod, workload

STEPS = 150
SIZE = 4
LANES = (Lane.ACTIVE, Lane.BACKOFF, Lane.UNSCHEDULABLE, Lane.GATED, Lane.IN_FLIGHT)
PRIORITIES = {"low": 1, "high": 100}


class Session:
    """A cluster with two replicas of each component, and what has been seen of it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        classes = [
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            }
            for name, value in PRIORITIES.items()
        ]
        self.lab = Lab([*classes, *(node(f"n{number}", cpu=str(SIZE)) for number in range(4))], seed=seed, replicas=2)
        self.mirrors: dict[int, Snapshot] = {}
        self.node_of: dict[str, str] = {}
        self.read = 0
        self.faults = 0

    def step(self, number: int) -> None:
        random, lab = self.random, self.lab
        name, node_name = f"p{random.randrange(40)}", f"n{random.randrange(4)}"
        taint = [{"key": "t", "effect": random.choice(["NoSchedule", "NoExecute"])}]
        choices = [
            *[lambda: lab.create(self._pod(name))] * 6,
            lambda: lab.do(Delete("pods", "default", name)),
            lambda: lab.create(workload("ReplicaSet", f"w{number % 3}", random.randrange(5))),
            lambda: lab.do(Delete("replicasets.apps", "default", f"w{number % 3}", propagation="Background")),
            lambda: lab.do(Patch("nodes", "", node_name, {"spec": {"unschedulable": random.random() < 0.4}})),
            lambda: lab.do(Patch("nodes", "", node_name, {"spec": {"taints": taint if random.random() < 0.4 else []}})),
            lambda: lab.do(Patch("nodes", "", node_name, {"metadata": {"labels": {"zone": random.choice("xy")}}})),
            lambda: lab.do(Delete("nodes", "", node_name)),
            *[lambda: lab.create(node(node_name, cpu=str(SIZE)))] * 2,
            self._fault,
        ]
        any_of(random, choices)
        lab.obey()
        until_ms = lab.cluster.now_ms + random.choice([1, 30, 400, 4_000])
        lab.cluster.advance(until_ms, max_events=random.choice([3, 40, 999]))

    def _pod(self, name: str) -> dict[str, object]:
        cpu = self.random.choice(["500m", "1", "2", "3", "9"])
        return pod(name, cpu=cpu, priorityClassName=self.random.choice(list(PRIORITIES)))

    def _fault(self) -> None:
        self.faults += 1
        kind = self.random.choice(["crash", "recover", "recover"])
        identity = f"kube-scheduler-{self.random.randrange(2)}"
        self.lab.do(
            Patch("replicas.clustersim.io", "", identity, {"spec": {"fault": {"id": self.faults, "kind": kind}}})
        )

    def check(self) -> None:
        """Check what must hold whatever has happened.

        Raises:
            AssertionError: it does not.
        """
        self._bindings()
        for _, component in self.lab.cluster._stepper.schedulers():
            if component.started:
                core = component.scheduler
                check_cache(core.cache, self.mirrors.setdefault(id(core), Snapshot()))
                check_nominations(core)
                if component.leading:
                    self._places(core)

    def _bindings(self) -> None:
        rows = self.lab.rows(self.read)
        for row in rows:
            self.read = row.revision
            place = row.object["spec"].get("nodeName") if row.resource == "pods" else None
            if place:
                assert self.node_of.setdefault(row.uid, place) == place, f"{row.name} is bound twice"
        used: Counter[str] = Counter()
        for one in self.lab.list("pods"):
            if one["spec"].get("nodeName") and one.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
                cpu = one["spec"]["containers"][0]["resources"]["requests"]["cpu"]
                used[one["spec"]["nodeName"]] += int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
        assert all(millicores <= SIZE * 1000 for millicores in used.values()), f"over-committed: {used}"

    def _places(self, core: Scheduler) -> None:
        lanes = [one.uid for lane in LANES for one in core.queue.listed(lane, 10_000)]
        assert len(lanes) == len(set(lanes)), "a pod is in two lanes"
        assert set(lanes) <= core.pods.keys() | core.assumed.keys(), "a pod that is gone is queued"
        for uid, info in core.pods.items():
            if not info.pod.spec.node_name and not info.pod.is_terminating:
                assert uid in lanes or uid in core.assumed, f"{info.key} is lost"
        for uid, place in core.assumed.items():
            assert core.cache.node_of(uid) == place, f"{uid} is assumed and not counted"


@pytest.mark.parametrize("seed", range(4))
def test_the_books_balance_whatever_happens_to_the_cluster(seed: int) -> None:
    session = Session(seed)
    for number in range(STEPS):
        try:
            session.step(number)
            session.check()
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}, step {number}: {wrong}") from wrong
    assert len(session.node_of) > 20
