"""What would let a pending pod in: each change that is told works, and the smallest comes first."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Patch
from controllers.scheduler.past import Past
from controllers.whatif.deciding import Decision
from controllers.whatif.fits import fits
from tests.controllers.scheduler.plane import Plane

GPU = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]


def new_plane() -> Plane:
    store = MemoryStore(seed=7)
    found(store)
    return Plane(store)


def told(plane: Plane, uid: str) -> list[dict[str, Any]]:
    plane.run(plane.loop.now_ms)
    (envelope, _), *_ = plane.store.traces(uid, 1)
    return fits(Decision(Past(plane.store), envelope))


def texts(plane: Plane, uid: str) -> list[str]:
    return [one["text"]["en"] for one in told(plane, uid)]


def test_a_pod_that_is_too_large() -> None:
    plane = new_plane()
    plane.node("a", cpu="2")
    plane.node("b", cpu="1")
    plane.pod("holder", "1", nodeName="a")
    uid = plane.pod("p", "1500m")
    assert texts(plane, uid) == [
        "ask for cpu 1 instead of cpu 1.5",
        "give node a cpu 500m more",
        "give node b cpu 500m more",
        "delete pod default/holder from node a (priority 0)",
        "add a node like a",
    ]


def test_a_request_and_its_node_are_told() -> None:
    plane = new_plane()
    plane.node("a", cpu="2")
    uid = plane.pod("p", "3")
    first, *_ = told(plane, uid)
    assert first == {
        "changes": [{"request": {"cpu": "2"}}],
        "text": {"en": "ask for cpu 2 instead of cpu 3", "zh": "请求 cpu 2，而不是 cpu 3"},
        "node": "a",
        "checked": True,
    }


@pytest.mark.parametrize(
    ("node", "pod", "expected"),
    [
        (
            {"taints": GPU},
            {},
            ["tolerate gpu=yes:NoSchedule, as a has it", "take gpu=yes:NoSchedule off node a"],
        ),
        ({"unschedulable": True}, {}, ["uncordon node a", "add a node like a"]),
        ({}, {"nodeSelector": {"disk": "ssd"}}, ["label node a with disk=ssd"]),
        (
            {},
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "disk", "operator": "In", "values": ["ssd", "nvme"]},
                                        {"key": "gen", "operator": "Gt", "values": ["3"]},
                                    ]
                                },
                                {"matchExpressions": [{"key": "zone", "operator": "Exists"}]},
                            ]
                        }
                    }
                }
            },
            ["label node a with zone=true"],
        ),
        (
            {"taints": GPU},
            {"nodeSelector": {"disk": "ssd"}},
            ["add a node like a, but with disk=ssd and without gpu=yes:NoSchedule"],
        ),
        ({"taints": GPU}, {"nodeSelector": {"kubernetes.io/hostname": "z"}}, []),
    ],
)
def test_what_stands_between_a_pod_and_the_only_node(
    node: dict[str, Any], pod: dict[str, Any], expected: list[str]
) -> None:
    plane = new_plane()
    plane.node("a", **node)
    assert texts(plane, plane.pod("p", **pod)) == expected


def test_where_nothing_smaller_works_a_node_is_made_for_the_pod() -> None:
    plane = new_plane()
    plane.node("a", cpu="2", taints=GPU)
    plane.node("b", cpu="1")
    limits = {"cpu": "8", "example.com/lane": "2"}
    containers = [{"name": "c", "image": "i", "resources": {"requests": limits, "limits": limits}}]
    (only,) = told(plane, plane.pod("p", nodeSelector={"disk": "ssd"}, containers=containers))
    assert only["text"]["en"] == "add a node like b, but with disk=ssd, cpu 8, example.com/lane 2"
    assert only["text"]["zh"] == "再加一个与 b 相似的节点，但有 disk=ssd, cpu 8, example.com/lane 2"
    (change,) = only["changes"]
    assert change["add"]["metadata"]["labels"]["disk"] == "ssd"
    assert change["add"]["status"]["allocatable"]["cpu"] == "8"


def test_an_empty_cluster_has_no_node_to_be_like() -> None:
    plane = new_plane()
    assert told(plane, plane.pod("p")) == []


def test_a_pod_that_has_found_a_node_needs_nothing() -> None:
    plane = new_plane()
    plane.node("a")
    assert told(plane, plane.pod("p")) == []


def test_a_port_is_free_when_its_holder_goes() -> None:
    plane = new_plane()
    plane.node("a")
    ports = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    plane.pod("holder", nodeName="a", containers=ports)
    plane.pod("other", nodeName="a")
    uid = plane.pod("p", containers=ports)
    assert texts(plane, uid) == ["delete pod default/holder from node a (priority 0)", "add a node like a"]


@settings(max_examples=25, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_everything_that_is_told_lets_the_pod_in_when_it_is_done(random: Random) -> None:
    """Any of the changes, made for good on the cluster or on a twin of the pod, gives a node."""
    plane = new_plane()
    for index in range(random.randint(1, 4)):
        spec: dict[str, Any] = {"taints": GPU} if random.random() < 0.3 else {}
        if random.random() < 0.2:
            spec["unschedulable"] = True
        plane.node(f"n{index}", cpu=str(random.randint(1, 4)), **spec)
        if random.random() < 0.5:
            plane.write(Patch("nodes", "", f"n{index}", {"metadata": {"labels": {"disk": "ssd"}}}))
    olds = random.randint(0, 4)
    for index in range(olds):
        plane.pod(f"old{index}", str(random.randint(1, 2)))
    plane.run(plane.loop.now_ms)
    for index in range(olds):
        if not plane.node_of(f"old{index}"):
            # Nobody else waits for what is made for the pod.
            plane.delete("pods", f"old{index}", grace=0)
    selector = {"nodeSelector": {"disk": "ssd"}} if random.random() < 0.5 else {}
    uid = plane.pod("p", str(random.randint(2, 6)), **selector)
    possible = told(plane, uid)
    if not possible:
        return
    (change,) = random.choice(possible)["changes"]
    name = made(plane, change)
    # A pod that an event wakes waits for its backoff.
    plane.run(plane.loop.now_ms + 60_000)
    assert plane.node_of(name), (change, plane.get(name)["status"])


def made(plane: Plane, change: dict[str, Any]) -> str:
    """Make a change for good, those of the pod on a twin of it; return whose turn it is."""
    plain = plane.get("p")
    spec = {key: value for key, value in plain["spec"].items() if key not in ("priority", "tolerations")}
    match change:
        case {"request": amounts}:
            spec["containers"] = [{**spec["containers"][0], "resources": {"requests": amounts}}]
        case {"patch": {"kind": "Pod", "patch": patch}}:
            spec |= patch["spec"]
        case {"patch": {"name": node, "patch": patch}}:
            done = plane.write(Patch("nodes", "", node, patch, "merge", "status" if "status" in patch else ""))
            assert done.error is None, done.error
            return "p"
        case {"remove": {"name": name}}:
            plane.delete("pods", name, grace=0)
            return "p"
        case {"add": document}:
            plane.node(document["metadata"]["name"], cpu=document["status"]["allocatable"]["cpu"])
            labels = document["metadata"]["labels"]
            plane.write(Patch("nodes", "", document["metadata"]["name"], {"metadata": {"labels": labels}}))
            return "p"
    twin = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "twin", "namespace": "default"}, "spec": spec}
    done = plane.write(Create("pods", "default", twin))
    assert done.error is None, done.error
    return "twin"


def test_a_resource_that_the_scheduler_is_told_to_ignore_is_not_asked_for() -> None:
    plane = new_plane()
    ignoring = {"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/lane"]}}
    spec = {"era": "v1.34", "configuration": {"profiles": [{"pluginConfig": [ignoring]}]}}
    plane.write(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec}))
    plane.node("a", cpu="2")
    asked = {"cpu": "3", "example.com/lane": "1"}
    container = {"name": "c", "image": "i", "resources": {"requests": asked, "limits": {"example.com/lane": "1"}}}
    uid = plane.pod("p", containers=[container])
    assert texts(plane, uid)[:2] == ["ask for cpu 2 instead of cpu 3", "give node a cpu 1 more"]


def claiming(plane: Plane) -> str:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    return plane.pod("p", "1", volumes=[volume])


def storage(plane: Plane, kind: str, body: dict[str, Any]) -> None:
    plane.write(Create(kind, "default" if kind == "persistentvolumeclaims" else "", body))


CLASS = {"metadata": {"name": "disks"}, "provisioner": "disks.example.com"}
DELAYED = {"volumeBindingMode": "WaitForFirstConsumer"}
DEFAULT = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteMany"], "storageClassName": "disks", "resources": {"requests": {"storage": "5Gi"}},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("storage_class", "claim", "expected", "added"),
    [
        (None, None, "make claim data of 1Gi and a volume for it", ["PersistentVolume", "PersistentVolumeClaim"]),
        (
            {**CLASS, **DELAYED, "metadata": {"name": "disks", **DEFAULT}},
            None,
            "make claim data of 1Gi",
            ["PersistentVolumeClaim"],
        ),
        (None, CLAIM, "make a volume of 5Gi (class disks, ReadWriteMany) for claim data", ["PersistentVolume"]),
        (CLASS, CLAIM, "make a volume of 5Gi (class disks, ReadWriteMany) for claim data", ["PersistentVolume"]),
        (
            {**CLASS, **DELAYED, "provisioner": "kubernetes.io/no-provisioner"},
            CLAIM,
            "make a volume of 5Gi (class disks, ReadWriteMany) for claim data",
            ["PersistentVolume"],
        ),
    ],
)
def test_claims_that_are_missing_or_bound_to_nothing(
    storage_class: dict[str, Any] | None, claim: dict[str, Any] | None, expected: str, added: list[str]
) -> None:
    plane = new_plane()
    plane.node("a", cpu="2")
    if storage_class:
        storage(plane, "storageclasses.storage.k8s.io", storage_class)
    if claim:
        storage(plane, "persistentvolumeclaims", claim)
    (fit,) = told(plane, claiming(plane))
    assert (fit["text"]["en"], fit["node"]) == (expected, "a")
    assert [change["add"]["kind"] for change in fit["changes"] if "add" in change] == added


def test_a_claim_that_nobody_here_could_fill_is_not_told() -> None:
    plane = new_plane()
    plane.node("a", cpu="2")
    uid = plane.pod("p", "1", volumes=[{"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM["spec"]}}}])
    assert told(plane, uid) == []
