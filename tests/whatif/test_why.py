"""A pending pod of any cluster, from its objects as kubectl prints them: who refused it by how much, what would fit."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from controllers.whatif.why import load, why
from scheduler_core.api.errors import ApiError

Objects = list[dict[str, Any]]


def node(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}, "managedFields": [{"manager": "k"}]},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(name: str, cpu: str, namespace: str = "shop", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": {"schedulerName": "default-scheduler", "containers": [container], **spec},
        "status": {"phase": "Running" if "nodeName" in spec else "Pending"},
    }


GPU = [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]
CLUSTER = [
    node("near", "2"),
    node("far", "1"),
    node("card", "8", taints=GPU),
    pod("holder", "1200m", nodeName="near", priority=0),
    pod("web", "900m", nodeName="far", priority=0),
    pod("report", "1", priority=5),
    pod("small", "100m", priority=0),
]


def told(objects: Objects, wanted: str = "", **options: Any) -> dict[str, Any]:
    return why(load(objects, seed=3, **options), wanted)


def test_each_refusal_has_its_amounts_and_the_nearest_node_comes_first() -> None:
    answer = told(CLUSTER)
    assert (answer["pod"], answer["pending"], answer["result"]) == ("shop/report", 2, "unschedulable")
    assert answer["message"].startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 2 Insufficient cpu."
    )
    assert [(row["node"], row["plugin"], row["short"]) for row in answer["nodes"]] == [
        ("card", "TaintToleration", {}),
        ("near", "NodeResourcesFit", {"cpu": {"asked": "1", "free": "800m", "short": "200m"}}),
        ("far", "NodeResourcesFit", {"cpu": {"asked": "1", "free": "100m", "short": "900m"}}),
    ]
    assert answer["reasons"] == {"Insufficient cpu": 2, "node(s) had untolerated taint {gpu: true}": 1}


def test_what_would_make_it_fit_and_whom_preemption_would_evict() -> None:
    answer = told(CLUSTER)
    assert [fit["text"]["en"] for fit in answer["fits"]][:2] == [
        "ask for cpu 800m instead of cpu 1",
        "tolerate gpu=true:NoSchedule, as card has it",
    ]
    preemption = answer["preemption"]
    assert preemption["eligible"]
    assert {name: one["victims"] for name, one in preemption["candidates"].items()} == {
        "far": ["shop/web"],
        "near": ["shop/holder"],
    }
    assert preemption["victims"] == preemption["candidates"][preemption["node"]]["victims"]


def test_a_pod_that_fits_is_told_its_node_and_no_change() -> None:
    answer = told(CLUSTER, "shop/small")
    assert answer["chosen"] in ("near", "card", "far")
    assert (answer["message"], answer["fits"], answer["preemption"]) == ("", [], None)


def test_another_scheduler_s_pod_is_tried_with_its_defaults_and_a_given_configuration_is_obeyed() -> None:
    odd = pod("odd", "9", schedulerName="other")
    assert told([*CLUSTER, odd], "odd")["result"] == "unschedulable"
    with pytest.raises(ApiError) as refused:
        told([*CLUSTER, odd], "odd", scheduler={"kind": "KubeSchedulerConfiguration", "profiles": []})
    assert refused.value.causes[0].message == "no profile is named 'other'; these are: default-scheduler"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("nobody", "there is no pod 'nobody' among 4; write namespace/name"),
        ("report", "several pods are named 'report' (shop/report, test/report); write namespace/name"),
    ],
)
def test_a_pod_that_is_not_found_is_told_how_to_be_named(wanted: str, message: str) -> None:
    objects = [node("a"), pod("report", "1"), pod("report", "1", "test"), pod("x", "1"), pod("y", "1")]
    with pytest.raises(ApiError) as refused:
        told(objects, wanted)
    assert refused.value.message == message


def test_a_pod_on_a_node_is_not_asked_about() -> None:
    with pytest.raises(ApiError) as refused:
        told(CLUSTER, "holder")
    assert refused.value.causes[0].message == "shop/holder is on node near: name a pod that waits for a node"


def test_where_nobody_waits_it_says_so() -> None:
    with pytest.raises(ApiError, match="no pod is pending: all of 1 pods have a node"):
        told([node("a"), pod("web", "1", nodeName="a")])


def run(tmp_path: Path, objects: Objects, *arguments: str) -> str:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    out = io.StringIO()
    call_command("why", *arguments, "--file", str(path), stdout=out)
    return out.getvalue()


def test_the_command_prints_the_sentence_taken_apart(tmp_path: Path) -> None:
    lines = run(tmp_path, CLUSTER, "-").splitlines()
    assert lines[0] == "shop/report asks for cpu 1; priority 5"
    assert lines[1].startswith("0/3 nodes are available:")
    assert "(1 more pod waits for a node; name one to ask about it)" in lines
    assert "2 nodes: Insufficient cpu (NodeResourcesFit)" in lines
    assert "  near  needs 1 cpu, 800m free" in lines
    assert any(line.startswith("Preemption: would evict 1 pod from ") for line in lines)
    assert "  1. ask for cpu 800m instead of cpu 1  → near" in lines


def test_the_command_answers_in_json_and_tells_nothing_of_secrets(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "data": {"password": "aHVudGVyMg=="}}
    printed = run(tmp_path, [secret, *CLUSTER], "shop/report", "--json", "--seed", "3")
    assert json.loads(printed) == told(CLUSTER, "shop/report")
    assert "aHVudGVyMg" not in printed
    store = load([secret, *CLUSTER], seed=0)
    assert not any(b"aHVudGVyMg" in row.data for row in store.events(0))


def test_a_gated_pod_is_told_its_gate(tmp_path: Path) -> None:
    gated = pod("gated", "1", schedulingGates=[{"name": "budget"}])
    printed = run(tmp_path, [node("a"), gated])
    assert "It is held back before any node is looked at: waiting for scheduling gates: [budget]" in printed
    assert "  1. take off its scheduling gate budget  → a" in printed


def test_a_gated_pod_that_no_node_would_take_is_told_that_too() -> None:
    answer = told([node("a", "2"), pod("gated", "3", schedulingGates=[{"name": "budget"}])])
    assert (answer["result"], answer["chosen"], answer["fits"]) == ("gated", None, [])
    assert answer["gated"] == "waiting for scheduling gates: [budget]"
    assert answer["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert answer["nodes"][0]["short"]["cpu"]["short"] == "1"


def test_a_taint_of_a_condition_is_told_to_end_with_it(tmp_path: Path) -> None:
    lost = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    printed = run(tmp_path, [node("a", taints=lost), pod("web", "1")])
    assert "it ends with that: kubectl describe node a" in printed
    assert "it ends with that" not in run(tmp_path, CLUSTER)


def test_the_command_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("why", "--file", str(tmp_path / "nothing.json"))


def test_the_command_writes_amounts_of_cpu_in_one_form(tmp_path: Path) -> None:
    objects = [node("a", "6"), node("b", "3"), pod("held", "300m", nodeName="a"), pod("web", "7250m")]
    lines = run(tmp_path, objects, "web").splitlines()
    assert "  a  needs 7.25 cpu, 5.7 free" in lines
    assert "  b  needs 7.25 cpu, 3 free" in lines
