"""What upstream's end-to-end tests of StatefulSets do (test/e2e/apps/statefulset.go, v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Update
from tests.tools.lab import Document, Lab, node, pod, workload
from tests.tools.upstream import (
    controller_of,
    deleted,
    does,
    images,
    make,
    names,
    patched,
    set_image,
    updated,
)

BASIC = "StatefulSet Basic StatefulSet functionality [StatefulSetBasic]"
CLAIM_POLICY = "StatefulSet Non-retain StatefulSetPersistentVolumeClaimPolicy"
ORDINALS = "StatefulSet Scaling StatefulSetStartOrdinal"
SETS = "statefulsets.apps"
CLAIMS = "persistentvolumeclaims"
CLASS: Document = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "example.dev/fast",
}
CLAIM: Document = {
    "metadata": {"name": "datadir"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


def stateful(replicas: int, **spec: Any) -> Document:
    return workload("StatefulSet", "ss", replicas, serviceName="test", **spec)


def lab_with(*documents: Document) -> Lab:
    lab = Lab([CLASS, *(node(f"n{number}") for number in range(3)), *documents])
    lab.run(60)
    return lab


def status(lab: Lab) -> Document:
    found: Document = lab.get(SETS, "ss")["status"]
    return found


def revisions(lab: Lab) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["labels"]["controller-revision-hash"] for one in lab.list("pods")}


def scale(lab: Lab, replicas: int) -> None:
    patched(lab, SETS, "ss", {"spec": {"replicas": replicas}})
    lab.run(120)


def partition(lab: Lab, first: int) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": first}}
    patched(lab, SETS, "ss", {"spec": {"updateStrategy": strategy}})
    lab.run(120)


@does(BASIC, "should adopt matching orphans and release non-matching pods")
def test_orphans_are_adopted_and_strangers_released() -> None:
    lab = lab_with(stateful(1, volumeClaimTemplates=[CLAIM]))
    assert controller_of(lab.get("pods", "ss-0")) == ("StatefulSet", "ss")
    uid, labels = lab.get("pods", "ss-0")["metadata"]["uid"], lab.get("pods", "ss-0")["metadata"]["labels"]
    updated(lab, "pods", "ss-0", lambda one: one["metadata"].pop("ownerReferences"))
    lab.run(5)
    assert controller_of(lab.get("pods", "ss-0")) == ("StatefulSet", "ss")
    updated(lab, "pods", "ss-0", lambda one: one["metadata"].pop("labels"))
    lab.run(5)
    assert controller_of(lab.get("pods", "ss-0")) is None
    updated(lab, "pods", "ss-0", lambda one: one["metadata"].update(labels=labels))
    lab.run(5)
    assert controller_of(lab.get("pods", "ss-0")) == ("StatefulSet", "ss")
    assert lab.get("pods", "ss-0")["metadata"]["uid"] == uid


@does(
    BASIC,
    "should perform canary updates and phased rolling updates of template modifications [Conformance]",
)
def test_a_canary_then_phases() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}
    lab = lab_with(stateful(3, updateStrategy=strategy))
    old = status(lab)["currentRevision"]
    assert status(lab)["updateRevision"] == old
    assert set(revisions(lab).values()) == {old}
    set_image(lab, SETS, "ss", "nginx:new")
    lab.run(60)
    new = status(lab)["updateRevision"]
    assert new != status(lab)["currentRevision"] == old
    assert set(revisions(lab).values()) == {old}
    partition(lab, 2)
    assert revisions(lab) == {"ss-0": old, "ss-1": old, "ss-2": new}
    # A pod that is deleted comes back at the revision that its number has.
    deleted(lab, "pods", "ss-0")
    deleted(lab, "pods", "ss-2")
    lab.run(120)
    assert revisions(lab) == {"ss-0": old, "ss-1": old, "ss-2": new}
    assert images(lab) == {"ss-0": "nginx:1.27", "ss-1": "nginx:1.27", "ss-2": "nginx:new"}
    partition(lab, 1)
    assert revisions(lab) == {"ss-0": old, "ss-1": new, "ss-2": new}
    partition(lab, 0)
    assert set(revisions(lab).values()) == {new}
    assert status(lab)["currentRevision"] == new


@does(
    BASIC,
    "should perform canary updates and phased rolling updates of template modifications for "
    "partiton1 and delete pod-0 without failing container",
)
def test_a_pod_below_the_partition_comes_back_old() -> None:
    lab = lab_with(stateful(3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}))
    old = status(lab)["currentRevision"]
    set_image(lab, SETS, "ss", "nginx:new")
    lab.run(120)
    new = status(lab)["updateRevision"]
    assert revisions(lab) == {"ss-0": old, "ss-1": new, "ss-2": new}
    deleted(lab, "pods", "ss-0")
    lab.run(120)
    assert revisions(lab) == {"ss-0": old, "ss-1": new, "ss-2": new}
    told = status(lab)
    assert (told["currentReplicas"], told["updatedReplicas"], told["readyReplicas"]) == (1, 2, 3)
    assert told["currentRevision"] == old


@does(BASIC, "should implement legacy replacement when the update strategy is OnDelete")
def test_on_delete_waits_for_a_hand() -> None:
    lab = lab_with(stateful(3, updateStrategy={"type": "OnDelete"}))
    old = status(lab)["currentRevision"]
    for name in names(lab):
        deleted(lab, "pods", name)
    lab.run(120)
    assert set(revisions(lab).values()) == {old}
    set_image(lab, SETS, "ss", "nginx:new")
    lab.run(60)
    new = status(lab)["updateRevision"]
    assert new != old
    assert set(revisions(lab).values()) == {old}
    for name in names(lab):
        deleted(lab, "pods", name)
    lab.run(120)
    assert set(revisions(lab).values()) == {new}
    assert set(images(lab).values()) == {"nginx:new"}


def conflicting(document: Document) -> Document:
    """Put a pod or template on one node, with a port that only one pod there can have."""
    spec = document["spec"].get("template", document)["spec"]
    spec["nodeName"] = "n1"
    spec["containers"][0]["ports"] = [{"name": "conflict", "containerPort": 21017, "hostPort": 21017}]
    return document


@does(BASIC, "Should recreate evicted statefulset [Conformance]")
def test_a_pod_that_the_node_refuses_is_made_again_until_it_runs() -> None:
    lab = lab_with(conflicting(pod("test-pod")))
    assert lab.get("pods", "test-pod")["status"]["phase"] == "Running"
    make(lab, SETS, conflicting(stateful(1)))
    lab.run(20)
    rows = [row for row in lab.rows() if row.resource == "pods" and row.object["metadata"]["name"] == "ss-0"]
    refused = [row.uid for row in rows if row.verb == "DELETED"]
    assert refused
    assert any(row.object["status"].get("phase") == "Failed" for row in rows)
    deleted(lab, "pods", "test-pod", grace=0)
    lab.run(120)
    again = lab.get("pods", "ss-0")
    assert again["status"]["phase"] == "Running"
    assert again["metadata"]["uid"] not in refused


@does(BASIC, "should have a working scale subresource [Conformance]")
def test_its_scale() -> None:
    lab = lab_with(stateful(1))
    scaled = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "ss", "namespace": "default"}}
    told = lab.do(Update(SETS, "default", "ss", {**scaled, "spec": {"replicas": 2}}, "scale"))
    assert told["spec"]["replicas"] == 2
    assert lab.get(SETS, "ss")["spec"]["replicas"] == 2
    patched(lab, SETS, "ss", {"spec": {"replicas": 4}}, "scale")
    assert lab.get(SETS, "ss")["spec"]["replicas"] == 4
    lab.run(120)
    assert names(lab) == ["ss-0", "ss-1", "ss-2", "ss-3"]


@does(BASIC, "should validate Statefulset Status endpoints [Conformance]")
def test_its_status_can_be_replaced_and_patched() -> None:
    lab = lab_with(stateful(1))
    patched(lab, SETS, "ss", {"metadata": {"labels": {"e2e": "testing"}}})
    told = {"type": "StatusUpdate", "status": "True", "reason": "E2E", "message": "Set from e2e test"}
    updated(lab, SETS, "ss", lambda one: one["status"].update(conditions=[told]), "status")
    assert status(lab)["conditions"] == [{**told, "lastTransitionTime": None}]
    patched(lab, SETS, "ss", {"status": {"conditions": [{"type": "StatusPatched", "status": "True"}]}}, "status")
    assert "StatusPatched" in [one["type"] for one in status(lab)["conditions"]]
    lab.run(10)
    assert "StatusPatched" in [one["type"] for one in status(lab)["conditions"]]


@does("StatefulSet", "MinReadySeconds should be honored when enabled")
@does("StatefulSet", "AvailableReplicas should get updated accordingly when MinReadySeconds is enabled")
def test_available_replicas_follow_min_ready_seconds() -> None:
    lab = lab_with()
    make(lab, SETS, stateful(2, minReadySeconds=30))
    lab.run(20)
    assert (status(lab)["readyReplicas"], status(lab)["availableReplicas"]) == (1, 0)
    lab.run(120)
    assert status(lab)["availableReplicas"] == 2
    patched(lab, SETS, "ss", {"spec": {"minReadySeconds": 3600}})
    lab.run(10)
    assert status(lab)["availableReplicas"] == 0
    patched(lab, SETS, "ss", {"spec": {"minReadySeconds": 0}})
    lab.run(10)
    assert status(lab)["availableReplicas"] == 2


@pytest.mark.parametrize(
    ("start", "then", "replicas", "before", "after"),
    [
        (None, 2, 3, ["ss-0", "ss-1"], ["ss-2", "ss-3", "ss-4"]),
        (2, 4, 2, ["ss-2", "ss-3"], ["ss-4", "ss-5"]),
        (3, 2, 2, ["ss-3", "ss-4"], ["ss-2", "ss-3"]),
        (3, None, 2, ["ss-3", "ss-4"], ["ss-0", "ss-1"]),
    ],
)
@does(ORDINALS, "Setting .start.ordinal")
@does(ORDINALS, "Increasing .start.ordinal")
@does(ORDINALS, "Decreasing .start.ordinal")
@does(ORDINALS, "Removing .start.ordinal")
def test_the_first_ordinal_moves(
    start: int | None, then: int | None, replicas: int, before: list[str], after: list[str]
) -> None:
    lab = lab_with(stateful(2, **({} if start is None else {"ordinals": {"start": start}})))
    assert names(lab) == before
    ordinals = None if then is None else {"start": then}
    updated(lab, SETS, "ss", lambda one: one["spec"].update(ordinals=ordinals, replicas=replicas))
    lab.run(300)
    assert names(lab) == after
    assert (status(lab)["replicas"], status(lab)["readyReplicas"]) == (replicas, replicas)


def owners(lab: Lab, number: int) -> list[Document]:
    found: list[Document] = lab.get(CLAIMS, f"datadir-ss-{number}")["metadata"].get("ownerReferences") or []
    return found


def claims(*numbers: int) -> list[str]:
    return [f"datadir-ss-{number}" for number in numbers]


def retention(**policy: str) -> Document:
    return {"persistentVolumeClaimRetentionPolicy": policy, "volumeClaimTemplates": [CLAIM]}


@does(CLAIM_POLICY, "should delete PVCs with a WhenDeleted policy")
@does(CLAIM_POLICY, "should delete PVCs after adopting pod (WhenDeleted)")
@pytest.mark.parametrize("orphan", [False, True])
def test_claims_go_with_the_set(orphan: bool) -> None:
    lab = lab_with(stateful(3, **retention(whenDeleted="Delete")))
    assert names(lab, CLAIMS) == claims(0, 1, 2)
    assert [owners(lab, number)[0]["kind"] for number in range(3)] == ["StatefulSet"] * 3
    if orphan:
        patched(lab, "pods", "ss-2", {"metadata": {"ownerReferences": None}})
        lab.run(5)
    deleted(lab, SETS, "ss")
    lab.run(120)
    assert names(lab, CLAIMS) == []


@does(CLAIM_POLICY, "should delete PVCs with a OnScaledown policy")
@does(CLAIM_POLICY, "should delete PVCs after adopting pod (WhenScaled)")
@pytest.mark.parametrize("orphan", [False, True])
def test_claims_go_with_the_pods_that_are_scaled_away(orphan: bool) -> None:
    lab = lab_with(stateful(3, **retention(whenScaled="Delete")))
    assert names(lab, CLAIMS) == claims(0, 1, 2)
    if orphan:
        patched(lab, "pods", "ss-2", {"metadata": {"ownerReferences": None}})
    scale(lab, 1)
    assert names(lab, CLAIMS) == claims(0)


def dummy(lab: Lab, controller: bool) -> Document:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dummy", "namespace": "default"}}
    uid = make(lab, "configmaps", document)["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "dummy", "uid": uid}
    return {**reference, "controller": True} if controller else reference


@does(CLAIM_POLICY, "should not delete PVC with OnScaledown policy if another controller owns the PVC")
def test_a_claim_that_another_controller_owns_stays() -> None:
    lab = lab_with(stateful(3, volumeClaimTemplates=[CLAIM]))
    reference = dummy(lab, controller=True)
    patched(lab, CLAIMS, "datadir-ss-1", {"metadata": {"ownerReferences": [reference]}})
    patched(lab, SETS, "ss", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}})
    scale(lab, 0)
    assert names(lab, CLAIMS) == claims(1)
    updated(lab, CLAIMS, "datadir-ss-1", lambda one: one["metadata"].pop("ownerReferences"))
    scale(lab, 2)
    assert names(lab, CLAIMS) == claims(0, 1)
    scale(lab, 1)
    assert names(lab, CLAIMS) == claims(0)


@does(CLAIM_POLICY, "should not delete PVCs when there is another controller")
def test_claims_with_strangers_for_owners_stay() -> None:
    lab = lab_with(stateful(4, volumeClaimTemplates=[CLAIM]))
    external = dummy(lab, controller=False)
    stale = {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "unknown", "controller": True,
        "uid": "9d86d6ae-4e06-4ff1-bc55-f77f52e272e9", "blockOwnerDeletion": True,
    }  # fmt: skip
    updated(lab, CLAIMS, "datadir-ss-1", lambda one: one["metadata"].update(ownerReferences=[external]))
    kept = {"ownerReferences": [stale], "finalizers": ["keep-with/stale-ref"]}
    updated(lab, CLAIMS, "datadir-ss-3", lambda one: one["metadata"].update(kept))
    lab.run(10)
    assert (owners(lab, 1), owners(lab, 3)) == ([external], [stale])
    patched(lab, SETS, "ss", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}})
    lab.run(10)
    uid = lab.get(SETS, "ss")["metadata"]["uid"]
    mine = {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ss", "uid": uid, "controller": True,
        "blockOwnerDeletion": True,
    }  # fmt: skip
    assert [owners(lab, number) for number in range(4)] == [[mine], [external, mine], [mine], [stale]]
    unmarked = {**mine, "controller": False}
    updated(lab, CLAIMS, "datadir-ss-0", lambda one: one["metadata"].update(ownerReferences=[unmarked]))
    both = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    patched(lab, SETS, "ss", {"spec": {"persistentVolumeClaimRetentionPolicy": both}})
    lab.run(10)
    assert owners(lab, 0) == [mine]
    deleted(lab, SETS, "ss")
    lab.run(120)
    assert names(lab, CLAIMS) == claims(1, 3)
