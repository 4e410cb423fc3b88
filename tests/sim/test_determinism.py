"""The same seed and the same inputs give the same log: across runs, hash seeds and a second run from the log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from controllers.rerun import first_difference, rerun
from tests.tools.lab import Lab, any_of, node, pod, workload
from tests.tools.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "clustersim" / "runtime" / "scenarios").glob("*.yaml"))
CLOCKS = "clocks.clustersim.io"


PROGRAM = """
import io, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "clustersim.settings"
import django
from django.core.management import call_command
django.setup()
for line in sys.stdin:
    path, _, seed = line.rstrip().rpartition(" ")
    told = io.StringIO()
    call_command("simulate", path, seed=int(seed), json=True, stdout=told)
    print(told.getvalue().splitlines()[-1], flush=True)
"""


class Simulating:
    """A process with a hash seed of its own that runs what it is asked for, one after the other.

    Starting one takes longer than most scenarios.
    """

    def __init__(self, hash_seed: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, path: Path, seed: int) -> dict[str, Any]:
        """Return the summary of a scenario."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path} {seed}\n")
        self._process.stdin.flush()
        summary: dict[str, Any] = json.loads(self._process.stdout.readline())
        return summary

    def end(self) -> None:
        """Let it end."""
        self._process.communicate(timeout=PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def simulations() -> Iterator[tuple[Simulating, Simulating]]:
    """Yield two processes, apart in their hash seeds and in what they have run before."""
    one, other = Simulating("0"), Simulating("4711")
    other(SCENARIOS[0], 1)
    yield one, other
    one.end()
    other.end()


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_gives_the_same_log_whatever_the_hash_seed_and_another_with_another_seed(
    path: Path, simulations: tuple[Simulating, Simulating]
) -> None:
    one, other = simulations
    first = one(path, 7)
    assert other(path, 7) == first
    assert one(path, 8)["logSha256"] != first["logSha256"]


def test_how_time_is_cut_does_not_matter() -> None:
    """The worker advances in slices of the wall clock; one long advance gives the same rows."""
    logs = []
    for slices in (1, 37, 600):
        lab = Lab([node("n1"), node("n2"), workload("Deployment", "web", 5)], replicas=2)
        for _ in range(slices):
            lab.cluster.advance(lab.cluster.now_ms + 60_000 // slices, max_events=None)
        lab.cluster.advance(60_000)
        logs.append([(row.now_ms, row.resource, row.name, row.actor, row.data) for row in lab.rows()])
    assert logs[0] == logs[1] == logs[2]


def live(seed: int) -> Lab:
    """Drive a session as a worker would: slices, people's writes, faults, steps and pauses between them."""
    random = Random(seed)
    lab = Lab([node(f"n{number}") for number in range(4)], seed=seed, replicas=2)
    paused = False
    for turn in range(60):
        lab.obey()
        if not paused:
            lab.cluster.advance(lab.cluster.now_ms + random.randrange(1, 900), max_events=random.choice([1, 5, 64]))
        for _ in range(random.randrange(3)):
            _write(lab, random, turn)
        if random.random() < 0.15:
            lab.step(random.choice(["event", "point", "cycle", "seconds"]), random.randrange(1, 4))
            paused = True
        elif paused and random.random() < 0.6:
            lab.ask(CLOCKS, "clock", {"paused": False, "pace": random.choice([0, 0, 20])})
            paused = False
    if paused:
        lab.ask(CLOCKS, "clock", {"paused": False})
    lab.run(20)
    return lab


def _write(lab: Lab, random: Random, turn: int) -> None:
    name = f"w{random.randrange(5)}"
    choices = [
        lambda: lab.create(pod(f"p{turn}-{random.randrange(100)}", cpu="700m")),
        lambda: lab.create(workload("Deployment", name, random.randrange(1, 5))),
        lambda: lab.do(Delete("deployments.apps", "default", name, propagation="Background")),
        lambda: lab.do(Patch("deployments.apps", "default", name, {"spec": {"replicas": random.randrange(6)}})),
        lambda: lab.do(
            Patch(
                "replicas.clustersim.io",
                "",
                f"kube-scheduler-{random.randrange(2)}",
                {"spec": {"fault": {"id": turn + 1, "kind": random.choice(["crash", "recover", "recover"])}}},
            )
        ),
        lambda: lab.do(Patch("nodes", "", "n1", {"spec": {"unschedulable": random.random() < 0.5}})),
    ]
    any_of(random, choices)


@pytest.mark.parametrize("seed", range(8))
def test_a_live_session_run_again_from_its_log_gives_the_same_log(seed: int) -> None:
    lab = live(seed)
    log = lab.rows()
    assert any(row.read for row in log)
    again = rerun(log, seed=seed, epoch_ms=lab.store.epoch_ms)
    assert first_difference(log, list(again.events(0, len(log) + 1))) == "", f"replay with live({seed})"


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_bound_twice_and_everything_settles(seed: int) -> None:
    """Crash leaders at random, then let it settle: every workload has its pods, each bound once."""
    random = Random(seed)
    lab = Lab([node(f"n{number}", cpu="16") for number in range(3)], seed=seed, replicas=3)
    for turn in range(8):
        lab.create(workload("Deployment", f"w{turn}", random.randrange(1, 6)))
        identity = f"{random.choice(['kube-scheduler', 'kube-controller-manager'])}-{random.randrange(3)}"
        kind = random.choice(["crash", "recover"])
        fault = {"spec": {"fault": {"id": turn + 1, "kind": kind}}}
        lab.do(Patch("replicas.clustersim.io", "", identity, fault))
        lab.obey()
        lab.run(random.randrange(1, 25))
    for one in lab.list("replicas.clustersim.io"):
        fault = {"spec": {"fault": {"id": 100, "kind": "recover"}}}
        lab.do(Patch("replicas.clustersim.io", "", one["metadata"]["name"], fault))
    lab.obey()
    lab.run(120)
    for deployment in lab.list("deployments.apps"):
        wanted = deployment["spec"]["replicas"]
        assert deployment["status"]["readyReplicas"] == wanted, f"seed {seed}: {deployment['metadata']['name']}"
    bound: dict[str, set[str]] = {}
    for row in lab.rows():
        if row.resource == "pods" and row.object["spec"].get("nodeName"):
            bound.setdefault(row.uid, set()).add(row.object["spec"]["nodeName"])
    assert all(len(nodes) == 1 for nodes in bound.values()), f"seed {seed}"
    _one_leader_at_a_time(lab, seed)


def _one_leader_at_a_time(lab: Lab, seed: int) -> None:
    """A lease that another takes over had run out for whoever took it."""
    for component in ("kube-scheduler", "kube-controller-manager"):
        holder, renewed_ms = "", 0
        for row in lab.rows():
            if not row.resource.startswith("leases") or row.name != component:
                continue
            spec = row.object["spec"]
            if holder and spec["holderIdentity"] != holder:
                assert row.now_ms - renewed_ms >= 15_000, f"seed {seed}: {component} at {row.now_ms} ms"
            holder, renewed_ms = spec["holderIdentity"], row.now_ms
