"""Faults that are asked of replicas, and their end."""

from __future__ import annotations

from typing import Any

from controllers.cluster import Cluster
from controllers.kit.client import Client
from controllers.log.operations import Patch
from tests.tools.lab import Lab

REPLICAS = "replicas.clustersim.io"
SCHEDULER = "kube-scheduler-0"


def ask(lab: Lab, fault: dict[str, Any]) -> None:
    Client(lab.store).apply(Patch(REPLICAS, "", SCHEDULER, {"spec": {"fault": fault}}), "user:test")
    lab.obey()


def status(lab: Lab) -> dict[str, Any]:
    stored = lab.store.get(REPLICAS, "", SCHEDULER)
    assert stored is not None
    return dict(stored.object["status"])


def test_a_crash_for_some_time_ends_by_itself() -> None:
    lab = Lab()
    lab.cluster.advance(5_000)
    ask(lab, {"id": 1, "kind": "crash", "seconds": 20})
    lab.cluster.advance(24_000)
    assert status(lab)["state"] == "Crashed"
    assert status(lab)["fault"]["untilMs"] == 25_000
    lab.cluster.advance(26_000)
    assert status(lab)["state"] == "Running"
    lab.cluster.advance(60_000)
    assert status(lab)["leading"] is True


def test_a_new_owner_knows_when_a_crash_ends() -> None:
    lab = Lab()
    lab.cluster.advance(5_000)
    ask(lab, {"id": 1, "kind": "crash", "seconds": 20})
    lab.cluster.advance(10_000)
    lab.cluster = Cluster(lab.store)
    lab.cluster.start()
    lab.cluster.advance(24_000)
    assert status(lab)["state"] == "Crashed"
    lab.cluster.advance(26_000)
    assert status(lab)["state"] == "Running"


def test_a_later_fault_replaces_the_end_of_the_former() -> None:
    lab = Lab()
    lab.cluster.advance(5_000)
    ask(lab, {"id": 1, "kind": "crash", "seconds": 20})
    lab.cluster.advance(10_000)
    ask(lab, {"id": 2, "kind": "crash", "seconds": None})
    lab.cluster.advance(120_000)
    assert status(lab)["state"] == "Crashed"
    ask(lab, {"id": 3, "kind": "recover"})
    lab.cluster.advance(121_000)
    assert status(lab)["state"] == "Running"
