"""What upstream's end-to-end tests of Deployments, ReplicaSets, ReplicationControllers and budgets do (v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Create, Patch, Update
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Document, Lab, node, pod, workload
from tests.tools.upstream import condition_of, controller_of, does, make, names, patched, set_image, updated

SETS = "replicasets.apps"
DEPLOYMENTS = "deployments.apps"
CONTROLLERS = "replicationcontrollers"
BUDGETS = "poddisruptionbudgets.policy"
QUOTA: Document = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "condition-test", "namespace": "default"},
    "spec": {"hard": {"pods": "2"}},
}


def lab_with(*documents: Document, seconds: float = 30) -> Lab:
    lab = Lab([*(node(f"n{number}", cpu="16") for number in range(3)), *documents])
    lab.run(seconds)
    return lab


@pytest.mark.parametrize(("kind", "resource"), [("ReplicaSet", SETS), ("ReplicationController", CONTROLLERS)])
@does("ReplicaSet should surface a failure condition on a common issue like exceeded quota")
@does("ReplicationController should surface a failure condition on a common issue like exceeded quota [Conformance]")
def test_a_quota_that_is_exceeded_is_told_as_a_condition(kind: str, resource: str) -> None:
    lab = lab_with(QUOTA)
    assert lab.get("resourcequotas", "condition-test")["status"]["hard"] == {"pods": "2"}
    make(lab, resource, workload(kind, "web", 3))
    lab.run(30)
    failure = condition_of(lab.get(resource, "web"), "ReplicaFailure")
    assert (failure["status"], failure["reason"]) == ("True", "FailedCreate")
    assert "exceeded quota: condition-test" in failure["message"]
    patched(lab, resource, "web", {"spec": {"replicas": 2}})
    lab.run(30)
    document = lab.get(resource, "web")
    assert document["status"]["observedGeneration"] == document["metadata"]["generation"]
    assert condition_of(document, "ReplicaFailure") == {}


@does("ReplicationController should adopt matching pods on creation [Conformance]")
@does("ReplicationController should release no longer matching pods [Conformance]")
def test_pods_are_adopted_and_released() -> None:
    lone = pod("lone")
    lone["metadata"]["labels"] = {"app": "web"}
    lab = lab_with(lone)
    make(lab, CONTROLLERS, workload("ReplicationController", "web", 1))
    lab.run(10)
    assert controller_of(lab.get("pods", "lone")) == ("ReplicationController", "web")
    assert names(lab) == ["lone"]
    patched(lab, "pods", "lone", {"metadata": {"labels": {"app": "not-matching"}}})
    lab.run(10)
    assert controller_of(lab.get("pods", "lone")) is None
    assert len(names(lab)) == 2


@does("ReplicationController should get and update a ReplicationController scale [Conformance]")
@does("ReplicationController should test the lifecycle of a ReplicationController [Conformance]")
def test_the_life_of_a_replication_controller() -> None:
    lab = lab_with()
    before = lab.store.revision
    make(lab, CONTROLLERS, workload("ReplicationController", "web", 1))
    lab.run(30)
    assert lab.get(CONTROLLERS, "web")["status"]["readyReplicas"] == 1
    patched(lab, CONTROLLERS, "web", {"metadata": {"labels": {"test-rc": "patched"}}})
    told = patched(lab, CONTROLLERS, "web", {"status": {"readyReplicas": 0, "availableReplicas": 0}}, "status")
    assert told["status"].get("readyReplicas", 0) == 0
    lab.run(10)
    assert lab.get(CONTROLLERS, "web")["status"]["readyReplicas"] == 1
    patched(lab, CONTROLLERS, "web", {"spec": {"replicas": 2}}, "scale")
    lab.run(30)
    assert lab.get(CONTROLLERS, "web")["status"]["readyReplicas"] == 2
    scaled = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web", "namespace": "default"}}
    told = lab.do(Update(CONTROLLERS, "default", "web", {**scaled, "spec": {"replicas": 3}}, "scale"))
    assert told["spec"]["replicas"] == 3
    lab.run(30)
    assert lab.get(CONTROLLERS, "web")["status"]["replicas"] == 3
    updated(lab, CONTROLLERS, "web", lambda one: one["metadata"].update(annotations={"test-rc": "updated"}))
    verbs = [row.verb for row in lab.rows(before) if row.resource == CONTROLLERS]
    assert verbs[0] == "ADDED"
    assert set(verbs[1:]) == {"MODIFIED"}


@does("ReplicaSet Replace and Patch tests [Conformance]")
def test_a_replica_set_is_patched_and_replaced() -> None:
    lab = lab_with(workload("ReplicaSet", "test-rs", 1))
    patched(lab, SETS, "test-rs", {"spec": {"replicas": 3}}, "scale")
    change = {"metadata": {"labels": {"test-rs": "patched"}}}
    containers = [{"name": "other", "image": "pause:3"}]
    spec = {"replicas": 4, "template": {"spec": {"terminationGracePeriodSeconds": 1, "containers": containers}}}
    told = patched(lab, SETS, "test-rs", {**change, "spec": spec})
    assert [one["name"] for one in told["spec"]["template"]["spec"]["containers"]] == ["other", "main"]
    lab.run(60)
    document = lab.get(SETS, "test-rs")
    assert document["status"]["readyReplicas"] == 4
    assert document["metadata"]["labels"]["test-rs"] == "patched"


STAGES: Document = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kubelet-stages", "namespace": "kube-system"},
    "data": {"pods.yaml": "images:\n- {image: '*:404', pull: missing}\n"},
}


def replicas(lab: Lab) -> dict[str, int]:
    """Return how many pods each ReplicaSet is asked for, by image."""
    return {
        one["spec"]["template"]["spec"]["containers"][0]["image"]: one["spec"]["replicas"]
        for one in lab.list(SETS, "default")
    }


@does("Deployment deployment should support rollover [Conformance]")
def test_a_rollout_that_is_stuck_is_rolled_over() -> None:
    old = workload("ReplicaSet", "old", 1, image="httpd:1")
    old["metadata"]["labels"] = {"app": "old"}
    lab = lab_with(STAGES, old)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    deployment = workload("Deployment", "old", 1, image="redis:404", strategy=strategy, minReadySeconds=10)
    make(lab, DEPLOYMENTS, deployment)
    lab.run(60)
    assert lab.get(DEPLOYMENTS, "old")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    assert lab.get(DEPLOYMENTS, "old")["status"]["updatedReplicas"] == 1
    assert replicas(lab) == {"httpd:1": 1, "redis:404": 1}
    set_image(lab, DEPLOYMENTS, "old", "agnhost:2")
    lab.run(120)
    document = lab.get(DEPLOYMENTS, "old")
    assert document["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    assert document["status"]["availableReplicas"] == document["status"]["updatedReplicas"] == 1
    assert replicas(lab) == {"httpd:1": 0, "redis:404": 0, "agnhost:2": 1}


@does("Deployment deployment should support proportional scaling [Conformance]")
def test_a_deployment_in_the_middle_of_a_rollout_is_scaled_in_proportion() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    lab = lab_with(STAGES, workload("Deployment", "web", 10, strategy=strategy))
    set_image(lab, DEPLOYMENTS, "web", "webserver:404")
    lab.run(60)
    assert replicas(lab) == {"nginx:1.27": 8, "webserver:404": 5}
    assert lab.get(DEPLOYMENTS, "web")["status"]["availableReplicas"] == 8
    patched(lab, DEPLOYMENTS, "web", {"spec": {"replicas": 30}})
    lab.run(60)
    assert replicas(lab) == {"nginx:1.27": 20, "webserver:404": 13}


def budget(**spec: Any) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "foo", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


@does("DisruptionController should update/patch PodDisruptionBudget status [Conformance]")
def test_the_status_of_a_budget_can_be_replaced_and_patched() -> None:
    lab = lab_with(budget(minAvailable=1), workload("ReplicaSet", "web", 1))
    # What a write of the status takes away the controller puts back.
    first = names(lab)[0]
    told = updated(lab, BUDGETS, "foo", lambda one: one["status"].update(disruptedPods={first: None}), "status")
    assert told["metadata"]["name"] == "foo"
    at = "2027-01-15T08:00:00Z"
    told = updated(lab, BUDGETS, "foo", lambda one: one["status"].update(disruptedPods={"gone": at}), "status")
    assert told["status"]["disruptedPods"] == {"gone": at}
    old = {"metadata": {"resourceVersion": told["metadata"]["resourceVersion"]}, "status": {"disruptedPods": None}}
    told = lab.do(Patch(BUDGETS, "default", "foo", old, "merge", "status"))
    assert not told["status"].get("disruptedPods")


@pytest.mark.parametrize(
    ("asked", "count"), [({"maxUnavailable": 1}, 10), ({"minAvailable": "90%"}, 10)], ids=["integer", "percentage"]
)
@does(
    "DisruptionController", "evictions: maxUnavailable deny evictions, integer => should not allow an eviction [Serial]"
)
@does(
    "DisruptionController", "evictions: too few pods, replicaSet, percentage => should not allow an eviction [Serial]"
)
def test_an_eviction_that_a_budget_does_not_bear_is_refused(asked: Document, count: int) -> None:
    # One more than there are nodes keeps a pod from running.
    document = workload("ReplicaSet", "web", count)
    container = document["spec"]["template"]["spec"]["containers"][0]
    container["ports"] = [{"containerPort": 80, "hostPort": 5555}]
    lab = Lab([*(node(f"n{number}") for number in range(count - 1)), budget(**asked), document])
    lab.run(60)
    running = [one for one in lab.list("pods", "default") if one["status"]["phase"] == "Running"]
    assert len(running) == count - 1
    name = running[0]["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    with pytest.raises(ApiError) as refusal:
        lab.do(Create("pods", "default", eviction, "eviction"))
    assert refusal.value.code == 429
    assert name in names(lab)
