"""Scenario files: what they mean, and how they are refused."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.scenario import Start, read, run
from scheduler_core.api.errors import ApiError

TEMPLATES = {"empty": Start((), 1, 0), "ha": Start((), 3, 250)}


def test_a_template_gives_replicas_and_pace_unless_the_file_does() -> None:
    assert (read({"template": "ha"}, TEMPLATES).replicas, read({"template": "ha"}, TEMPLATES).pace) == (3, 250)
    own = read({"template": "ha", "replicas": 1, "pace": 0}, TEMPLATES)
    assert (own.replicas, own.pace) == (1, 0)


def test_nodes_in_shorthand() -> None:
    nodes = [{"count": 2, "name": "n", "cpu": 8, "zone": "a"}, {"name": "big", "gpu": 2, "resources": {"x.io/y": 3}}]
    one, two, big = read({"nodes": nodes}, TEMPLATES).objects
    assert [each["metadata"]["name"] for each in (one, two, big)] == ["n-1", "n-2", "big"]
    assert one["metadata"]["labels"]["topology.kubernetes.io/zone"] == "a"
    assert one["status"]["capacity"] == {"cpu": "8", "memory": "16Gi", "pods": "110"}
    assert big["status"]["capacity"]["nvidia.com/gpu"] == "2"
    assert big["status"]["capacity"]["x.io/y"] == "3"


def test_steps_happen_in_order_of_time() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    steps = [{"at": 20, "delete": {"kind": "Pod", "name": "p"}}, {"at": 5, "apply": pod}]
    scenario = read({"nodes": [{}], "steps": steps, "until": 10}, TEMPLATES)
    store, summary = run(scenario, seed=1)
    assert (summary["pods"], summary["bound"], summary["simTime"]) == (1, 1, 10.0)
    made = next(row for row in store.events(0) if row.resource == "pods")
    assert made.actor == "user:scenario"
    assert 5_000 <= made.now_ms <= 5_001
    assert run(scenario, seed=1, until_ms=40_000)[1]["pods"] == 0


@pytest.mark.parametrize(
    ("named", "stopped"),
    [("kube-scheduler-1", ["kube-scheduler-1"]), ("kube-scheduler", ["kube-scheduler-0", "kube-scheduler-1"])],
)
def test_a_fault_befalls_a_replica_or_all_of_a_component(named: str, stopped: list[str]) -> None:
    steps = [{"at": 5, "fault": {"replica": named, "kind": "crash", "seconds": 60}}]
    store, _ = run(read({"replicas": 2, "steps": steps, "until": 10}, TEMPLATES), seed=1)
    faulty = [one.name for one in store.list("replicas.clustersim.io")[0] if one.object["spec"].get("fault")]
    assert faulty == stopped


def test_a_step_says_a_word_on_a_pod_that_waits_at_permit() -> None:
    enabled = {"enabled": [{"name": "ManualApproval"}]}
    scheduler = {"era": "v1.34", "configuration": {"profiles": [{"plugins": {"permit": enabled}}]}}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
         "spec": {"containers": [{"name": "c", "image": "i"}]}}
        for name in ("yes", "no")
    ]  # fmt: skip
    steps = [
        {"at": 5, "apply": pods},
        {"at": 10, "verdict": {"pod": "default/yes", "verdict": "allow", "plugin": "ManualApproval"}},
        {"at": 10, "verdict": {"pod": "no", "verdict": "reject", "message": "not today"}},
    ]
    scenario = read({"nodes": [{}], "scheduler": scheduler, "steps": steps, "until": 20}, TEMPLATES)
    store, summary = run(scenario, seed=1)
    assert summary["bound"] == 1
    stored = store.get("pods", "default", "no")
    assert stored is not None
    assert "not today" in stored.object["status"]["conditions"][0]["message"]
    with pytest.raises(ApiError, match=r"steps\[0\].verdict.pod"):
        read({"steps": [{"verdict": {"verdict": "allow"}}]}, TEMPLATES)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param({"nods": []}, "nods", id="an unknown field"),
        pytest.param({"template": "none"}, "template", id="an unknown template"),
        pytest.param({"replicas": 0}, "replicas", id="no replica"),
        pytest.param({"until": -1}, "until", id="negative time"),
        pytest.param({"until": "soon"}, "until", id="time that is no number"),
        pytest.param({"nodes": {}}, "nodes", id="nodes that are no list"),
        pytest.param({"nodes": [{"count": 10**9}]}, "count", id="too many nodes"),
        pytest.param({"nodes": [{"size": 1}]}, "nodes[0].size", id="an unknown field of a node"),
        pytest.param({"objects": [{"kind": "Pod"}]}, "objects[0]", id="an object without apiVersion"),
        pytest.param({"objects": [{"apiVersion": "v1", "kind": "Pod"}]}, "objects[0].metadata.name", id="no name"),
        pytest.param({"steps": [{"at": 1}]}, "steps[0]", id="a step that does nothing"),
        pytest.param({"steps": [{"at": 1, "fault": {"kind": "crash"}}]}, "steps[0].fault.replica", id="no replica"),
        pytest.param({"steps": [{"scale": {"replicas": 1}}]}, "steps[0].scale", id="nothing to scale"),
        pytest.param({"steps": [{"delete": {"kind": "Cat", "name": "x"}}]}, "steps[0].delete.kind", id="no such kind"),
        pytest.param({"steps": [{"explode": {}}]}, "steps[0].explode", id="an unknown action"),
    ],
)
def test_a_wrong_file_is_refused_with_its_fields(document: dict[str, Any], field: str) -> None:
    with pytest.raises(ApiError) as refusal:
        read(document, TEMPLATES)
    assert field in [cause.field for cause in refusal.value.causes]


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(ApiError):
        read(["nodes"], TEMPLATES)


def test_a_step_that_is_refused_ends_the_run_and_names_itself() -> None:
    scenario = read({"steps": [{"at": 3, "delete": {"kind": "Pod", "name": "none"}}]}, TEMPLATES)
    with pytest.raises(ApiError, match=r"steps\[0\]\.delete at 3 s was refused"):
        run(scenario, seed=1)
