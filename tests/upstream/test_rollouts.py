"""What upstream's end-to-end tests of Deployments' rollouts and of what they own do (apps, apimachinery, v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Update
from tests.tools.lab import Document, Lab, node, pod, workload
from tests.tools.upstream import controller_of, deleted, does, images, make, names, patched, set_image, updated

SETS = "replicasets.apps"
DEPLOYMENTS = "deployments.apps"
GC = "[sig-api-machinery] Garbage collector should"
OF = "Deployment"


def lab_with(*documents: Document, seconds: float = 30) -> Lab:
    lab = Lab([*(node(f"n{number}", cpu="16") for number in range(3)), *documents])
    lab.run(seconds)
    return lab


def done(lab: Lab, name: str = "web") -> bool:
    """Return whether a rollout is complete, as upstream waits for it."""
    document = lab.get(DEPLOYMENTS, name)
    wanted, status = document["spec"]["replicas"], document["status"]
    counts = {status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")}
    return counts == {wanted} and status["observedGeneration"] >= document["metadata"]["generation"]


@does(OF, "Deployment should have a working scale subresource [Conformance]")
@does("ReplicaSet Replicaset should have a working scale subresource [Conformance]")
@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
def test_its_scale(kind: str) -> None:
    resource = f"{kind.lower()}s.apps"
    lab = lab_with(workload(kind, "web", 1))
    scale: Document = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 2}}
    scale["metadata"] = {"name": "web", "namespace": "default"}
    assert lab.do(Update(resource, "default", "web", scale, "scale"))["spec"]["replicas"] == 2
    assert lab.get(resource, "web")["spec"]["replicas"] == 2
    assert patched(lab, resource, "web", {"spec": {"replicas": 4}}, "scale")["spec"]["replicas"] == 4
    lab.run(30)
    assert len(names(lab)) == 4


@does(OF, "RecreateDeployment should delete old pods and create new ones [Conformance]")
def test_a_recreation_has_never_both() -> None:
    lab = lab_with(workload("Deployment", "web", 2, strategy={"type": "Recreate"}))
    after = lab.store.revision
    set_image(lab, DEPLOYMENTS, "web", "httpd:2")
    lab.run(90)
    assert done(lab)
    assert set(images(lab).values()) == {"httpd:2"}
    told = [row for row in lab.rows(after) if row.resource == "pods" and row.verb in ("ADDED", "DELETED")]
    assert [row.verb for row in told] == ["DELETED"] * 2 + ["ADDED"] * 2


@does(OF, "RollingUpdateDeployment should delete old pods and create new ones [Conformance]")
@does(OF, "deployment should delete old replica sets [Conformance]")
def test_old_pods_and_old_sets_are_replaced() -> None:
    # Pods of a set that was there before, with another image: the Deployment adopts it, and keeps no history.
    old = workload("ReplicaSet", "old", 1, image="httpd:1")
    old["spec"]["selector"]["matchLabels"] = old["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
    old["metadata"]["labels"] = {"app": "web"}
    old["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "3546343826724305832"}
    lab = lab_with(old)
    make(lab, DEPLOYMENTS, workload("Deployment", "web", 1, image="agnhost:2", revisionHistoryLimit=0))
    lab.run(90)
    assert done(lab)
    assert lab.get(DEPLOYMENTS, "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == (
        "3546343826724305833"
    )
    assert set(images(lab).values()) == {"agnhost:2"}
    (left,) = lab.list(SETS, "default")
    assert left["metadata"]["name"] != "old"
    assert controller_of(left) == ("Deployment", "web")


@does(OF, "iterative rollouts should eventually progress")
def test_one_change_after_the_other_comes_to_an_end() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    lab = lab_with(workload("Deployment", "web", 6, strategy=strategy, progressDeadlineSeconds=30))
    changes: list[dict[str, Any]] = [
        {"template": {"metadata": {"annotations": {"iteration": "1"}}}},
        {"replicas": 8, "template": {"metadata": {"annotations": {"iteration": "2"}}}},
        {"paused": True, "template": {"metadata": {"annotations": {"iteration": "3"}}}},
        {"replicas": 4},
        {"paused": False},
    ]
    for change in changes:
        patched(lab, DEPLOYMENTS, "web", {"spec": change})
        lab.run(3)
        for name in names(lab)[:2]:
            deleted(lab, "pods", name, grace=0)
        lab.run(2)
    lab.run(120)
    assert done(lab)
    told = {one["type"]: one["reason"] for one in lab.get(DEPLOYMENTS, "web")["status"]["conditions"]}
    assert told["Progressing"] == "NewReplicaSetAvailable"


@does(OF, "should run the lifecycle of a Deployment [Conformance]")
def test_the_life_of_a_deployment() -> None:
    lab = lab_with(workload("Deployment", "web", 2))
    containers = [{"name": "main", "image": "pause:3"}]
    change = {"replicas": 1, "template": {"spec": {"containers": containers}}}
    patched(lab, DEPLOYMENTS, "web", {"metadata": {"labels": {"test": "patched"}}, "spec": change})
    lab.run(60)
    assert (done(lab), set(images(lab).values())) == (True, {"pause:3"})

    def update(one: Document) -> None:
        one["spec"]["replicas"] = 2
        one["spec"]["template"]["spec"]["containers"][0]["image"] = "httpd:2"

    updated(lab, DEPLOYMENTS, "web", update)
    lab.run(60)
    assert (done(lab), set(images(lab).values())) == (True, {"httpd:2"})
    none = {"readyReplicas": 0, "availableReplicas": 0}
    told = patched(lab, DEPLOYMENTS, "web", {"status": none}, "status")
    assert told["status"].get("readyReplicas", 0) == 0
    lab.run(10)
    assert lab.get(DEPLOYMENTS, "web")["status"]["readyReplicas"] == 2
    deleted(lab, DEPLOYMENTS, "web")
    lab.run(60)
    assert (names(lab), names(lab, SETS)) == ([], [])


@does(OF, "deployment reaping should cascade to its replica sets and pods")
@does(GC, "delete RS created by deployment when not orphaning [Conformance]")
@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_what_a_deployment_owns_goes_with_it(propagation: str) -> None:
    lab = lab_with(workload("Deployment", "web", 2))
    assert len(names(lab)) == 2
    deleted(lab, DEPLOYMENTS, "web", propagation=propagation)
    lab.run(60)
    assert names(lab, DEPLOYMENTS) == names(lab, SETS) == names(lab) == []


@does(OF, "test Deployment ReplicaSet orphaning and adoption regarding controllerRef")
@does(GC, "orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan [Conformance]")
def test_a_set_that_was_orphaned_is_adopted_again() -> None:
    lab = lab_with(workload("Deployment", "web", 2))
    (owned,), pods = lab.list(SETS, "default"), names(lab)
    deleted(lab, DEPLOYMENTS, "web", propagation="Orphan")
    lab.run(30)
    (orphan,) = lab.list(SETS, "default")
    assert (controller_of(orphan), orphan["metadata"]["uid"]) == (None, owned["metadata"]["uid"])
    assert names(lab) == pods
    make(lab, DEPLOYMENTS, workload("Deployment", "again", 2))
    again = lab.get(DEPLOYMENTS, "again")
    assert again["spec"]["selector"] == {"matchLabels": {"app": "again"}}
    web = workload("Deployment", "web2", 2)
    web["spec"]["selector"]["matchLabels"] = web["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
    make(lab, DEPLOYMENTS, web)
    lab.run(30)
    assert controller_of(lab.get(SETS, orphan["metadata"]["name"])) == ("Deployment", "web2")
    assert set(pods) <= set(names(lab))


@does("ReplicaSet should adopt matching pods on creation and release no longer matching pods [Conformance]")
def test_a_set_adopts_and_releases() -> None:
    lone = pod("lone")
    lone["metadata"]["labels"] = {"app": "web"}
    lab = lab_with(lone)
    make(lab, SETS, workload("ReplicaSet", "web", 1))
    lab.run(10)
    assert controller_of(lab.get("pods", "lone")) == ("ReplicaSet", "web")
    patched(lab, "pods", "lone", {"metadata": {"labels": {"app": "not-matching"}}})
    lab.run(10)
    assert controller_of(lab.get("pods", "lone")) is None
    assert len(names(lab)) == 2
