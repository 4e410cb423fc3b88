"""Recorded traces: what a row becomes, when it comes and goes, and that a new owner goes on where the last one was."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster
from controllers.log.store import ADDED, DELETED
from controllers.replay.trace import GPU_MILLI, GPU_MODEL_LABEL, POD_COLUMNS, BadTrace, pod_of, steps_of
from tests.tools.lab import Lab, node

HEAD = ",".join(POD_COLUMNS) + "\n"


def row(name: str, created: int, deleted: int | str = "", *, gpus: int = 0, milli: int = 0, models: str = "") -> str:
    return f"{name},1000,1024,{gpus},{milli},{models},LS,Running,{created},{deleted},{created}\n"


def replay(pods: str, *, divisor: float = 10.0, start: float = 0.0) -> dict[str, Any]:
    return {
        "apiVersion": "clustersim.io/v1",
        "kind": "Replay",
        "metadata": {"name": "trace"},
        "spec": {"pods": pods, "divisor": divisor, "start": start},
    }


def status(lab: Lab) -> dict[str, Any]:
    stored = lab.store.get("replays.clustersim.io", "", "trace")
    assert stored is not None
    return dict(stored.object.get("status") or {})


def pod_rows(lab: Lab, verb: str) -> list[tuple[str, int]]:
    """Return (name, simulated ms) of the log's rows of pods with this verb."""
    return [
        (event.name, event.now_ms)
        for event in lab.store.events(0, 100_000)
        if event.resource == "pods" and event.verb == verb
    ]


def test_steps_are_in_order_and_scaled() -> None:
    text = HEAD + row("late", 600, 1_000) + row("early", 100, 600)
    steps = steps_of(text, divisor=10.0, start_ms=5_000)
    assert [(step.name, step.pod is not None, step.due_ms) for step in steps] == [
        ("early", True, 5_000),
        ("early", False, 55_000),
        ("late", True, 55_000),
        ("late", False, 95_000),
    ]


def test_a_pod_asks_for_thousandths_of_gpus_and_for_its_models() -> None:
    fields = dict(zip(POD_COLUMNS, row("p", 0, gpus=2, milli=500, models="T4|V100M32").strip().split(","), strict=True))
    spec = pod_of(fields)["spec"]
    resources = spec["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "1000m", "memory": "1024Mi", GPU_MILLI: "1000"}
    assert resources["limits"] == {GPU_MILLI: "1000"}
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": GPU_MODEL_LABEL, "operator": "In", "values": ["T4", "V100M32"]}]}
    ]


@pytest.mark.parametrize("text", ["", "name\nx\n", HEAD + row("p", 0).replace("1024", "much")])
def test_a_text_that_is_no_trace_is_said_to_be_none(text: str) -> None:
    with pytest.raises(BadTrace):
        steps_of(text, divisor=1.0, start_ms=0)


def test_pods_come_and_go_at_their_times() -> None:
    text = HEAD + row("a", 100, 300) + row("b", 200)
    lab = Lab([node("n1"), replay(text, start=2.0)])
    lab.cluster.advance(60_000)
    assert pod_rows(lab, ADDED) == [("a", 2_000), ("b", 12_000)]
    assert pod_rows(lab, DELETED) == [("a", 22_000)]
    assert status(lab) == {"observedGeneration": 1, "created": 2, "deleted": 1, "total": 3, "done": True}
    (left,) = lab.store.list("pods")[0]
    assert left.object["spec"]["nodeName"] == "n1"


def test_more_than_a_batch_at_one_time_is_played_whole() -> None:
    text = HEAD + "".join(row(f"p{number}", 0) for number in range(130))
    lab = Lab([replay(text)])
    lab.cluster.advance(1_000)
    assert len(pod_rows(lab, ADDED)) == 130
    assert status(lab)["done"] is True


def test_a_new_owner_goes_on_from_the_status() -> None:
    text = HEAD + "".join(row(f"p{number}", number * 10, number * 10 + 100) for number in range(40))
    lab = Lab([node("n1"), replay(text)])
    lab.cluster.advance(15_000)
    assert 0 < status(lab)["created"] < 40
    successor = Cluster(lab.store)
    successor.start()
    successor.advance(200_000)
    made, gone = pod_rows(lab, ADDED), pod_rows(lab, DELETED)
    assert {name for name, _ in made} == {name for name, _ in gone} == {f"p{number}" for number in range(40)}
    assert status(lab)["done"] is True
    assert lab.store.list("pods")[0] == []


def test_a_deleted_replay_stops() -> None:
    text = HEAD + "".join(row(f"p{number}", number * 10) for number in range(40))
    lab = Lab([replay(text)])
    lab.cluster.advance(5_000)
    with lab.store.transaction("user:test") as transaction:
        transaction.delete("replays.clustersim.io", "", "trace")
    lab.cluster.pull()
    lab.cluster.advance(6_000)
    before = len(pod_rows(lab, ADDED))
    lab.cluster.advance(60_000)
    assert len(pod_rows(lab, ADDED)) == before < 40


def test_what_cannot_be_played_says_so() -> None:
    lab = Lab([replay("nonsense")])
    lab.cluster.advance(1_000)
    assert status(lab)["done"] is True
    assert "lacks the columns" in status(lab)["message"]
