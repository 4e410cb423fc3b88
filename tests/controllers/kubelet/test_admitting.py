"""What a node has room for: its kubelet takes pods until it is full, whoever put them there, and refuses the rest."""

from __future__ import annotations

import pytest

from controllers.bootstrap import initial_objects
from controllers.cluster import found
from controllers.kubelet.admitting import refusal_of_amounts
from controllers.log.memory import MemoryStore
from controllers.log.operations import Delete, Update
from scheduler_core.api.document import Document
from tests.tools.lab import Lab, node, pod

HOME = "default"


def put(name: str, cpu: str = "3", **spec: object) -> Document:
    """Return a pod that somebody puts on n1 by name."""
    return pod(name, cpu=cpu, nodeName="n1", **spec)


def ends(lab: Lab, *names: str) -> list[tuple[str, str]]:
    """Return phase and reason of pods."""
    statuses = [lab.get("pods", name)["status"] for name in names]
    return [(status["phase"], status.get("reason", "")) for status in statuses]


def test_of_two_pods_that_both_were_promised_the_room_one_is_refused() -> None:
    lab = Lab([node("n1"), put("a"), put("b")])
    lab.run(10)
    assert sorted(ends(lab, "a", "b")) == [("Failed", "OutOfcpu"), ("Running", "")]
    refused = next(name for name in ("a", "b") if ends(lab, name) == [("Failed", "OutOfcpu")])
    text = "Node didn't have enough resource: cpu, requested: 3000, used: 3000, capacity: 4000"
    assert lab.get("pods", refused)["status"]["message"] == f"Pod was rejected: {text}"
    assert lab.get("pods", refused)["spec"]["nodeName"] == "n1", "nobody moves it"
    assert "OutOfcpu" in lab.reasons(refused)


def test_a_node_takes_no_pod_of_another_operating_system() -> None:
    """What upstream's end-to-end test of PodOSRejection does."""
    labelled = put("b", cpu="100m")
    labelled["metadata"]["labels"] = {"kubernetes.io/os": "windows"}
    lab = Lab(
        [node("n1"), put("a", cpu="100m", os={"name": "windows"}), labelled, put("c", cpu="1", os={"name": "linux"})]
    )
    lab.run(10)
    refused = [("Failed", "PodOSNotSupported"), ("Failed", "PodOSSelectorNodeLabelDoesNotMatch")]
    assert ends(lab, "a", "b", "c") == [*refused, ("Running", "")]
    text = "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS"
    assert lab.get("pods", "a")["status"]["message"] == text


def test_who_was_taken_stays_and_leaves_room_when_it_goes() -> None:
    lab = Lab([node("n1"), put("a")])
    lab.run(10)
    lab.create(put("b", cpu="2"))
    lab.run(10)
    assert ends(lab, "a", "b") == [("Running", ""), ("Failed", "OutOfcpu")]
    shrunk = lab.get("nodes", "n1", "")
    shrunk = {**shrunk, "status": {**shrunk["status"], "capacity": {**shrunk["status"]["capacity"], "cpu": "2"}}}
    lab.do(Update("nodes", "", "n1", shrunk, "status"))
    lab.run(10)
    assert ends(lab, "a") == [("Running", "")]
    lab.do(Delete("pods", HOME, "a", grace_period_seconds=0))
    lab.run(5)
    lab.create(put("c", cpu="2"))
    lab.run(10)
    assert ends(lab, "c") == [("Running", "")]


def test_a_node_takes_so_many_pods_and_no_more() -> None:
    lab = Lab([node("n1", pods="2"), *(put(name, cpu="100m") for name in ("a", "b", "c"))])
    lab.run(10)
    assert sorted(ends(lab, "a", "b", "c")) == [("Failed", "OutOfpods"), ("Running", ""), ("Running", "")]


def test_what_the_cluster_cannot_do_without_is_taken() -> None:
    lab = Lab([node("n1"), put("a")])
    lab.run(10)
    lab.create(put("b", priorityClassName="system-node-critical"))
    lab.run(10)
    assert ends(lab, "b") == [("Running", "")]


def test_what_a_scheduler_of_old_overlooks_is_to_be_seen() -> None:
    store = MemoryStore(seed=1)
    scheduler = {"era": "round-robin"}
    big = [pod(name, cpu="3") for name in ("a", "b")]
    for result in found(store, [*initial_objects(scheduler=scheduler), node("n1"), *big]):
        assert result.error is None
    lab = Lab(store=store)
    lab.run(10)
    assert ends(lab, "a", "b") == [("Running", ""), ("Running", "")]
    lab.create(put("c"))
    lab.run(10)
    assert ends(lab, "c") == [("Failed", "OutOfcpu")], "nobody but a scheduler is forgiven"


@pytest.mark.parametrize(
    ("asked", "taken", "reason"),
    [
        ({"cpu": 1000}, [{"cpu": 3000}], ""),
        ({"cpu": 1001}, [{"cpu": 3000}], "OutOfcpu"),
        ({"cpu": 5000, "memory": 9}, [], "OutOfcpu"),
        ({"memory": 9, "cpu": 0}, [{"cpu": 5000}], "OutOfmemory"),
        ({"example.dev/card": 2}, [{"example.dev/card": 1}], "OutOfexample.dev/card"),
        ({"example.dev/other": 2}, [], ""),
        ({}, [{}, {}, {}], "OutOfpods"),
    ],
)
def test_the_first_lack_is_told(asked: dict[str, int], taken: list[dict[str, int]], reason: str) -> None:
    allocatable = {"cpu": 4000, "memory": 8, "pods": 3, "example.dev/card": 2}
    refused = refusal_of_amounts(asked, taken, allocatable)
    assert (refused.reason if refused else "") == reason
