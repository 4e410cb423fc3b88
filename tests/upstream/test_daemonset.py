"""What upstream's end-to-end tests of DaemonSets and ControllerRevisions do (test/e2e/apps/daemon_set.go, v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kit.hashing import template_hash
from controllers.log.operations import Patch
from controllers.registry.patch import copy_object
from tests.tools.lab import Document, Lab, node
from tests.tools.upstream import condition_of, deleted, does, images, make, names, patched, set_image, updated

SETS = "daemonsets.apps"
REVISIONS = "controllerrevisions.apps"
HASH = "controller-revision-hash"
OLD, NEW = "httpd:1", "agnhost:1"
NODES = ("n0", "n1", "n2")


def daemon(**spec: Any) -> Document:
    container = {"name": "main", "image": OLD, "ports": [{"containerPort": 9376}]}
    labels = {"daemonset-name": "ds"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "ds", "namespace": "default", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec.pop("pod", {})}},
            **spec,
        },
    }


def lab_with(*documents: Document) -> Lab:
    lab = Lab([*(node(name) for name in NODES), *documents])
    lab.run(30)
    return lab


def running(lab: Lab) -> list[str]:
    """Return the nodes on which the set's pods are available."""
    return sorted(
        one["spec"]["nodeName"]
        for one in lab.list("pods", "default")
        if condition_of(one, "Ready").get("status") == "True" and "deletionTimestamp" not in one["metadata"]
    )


def history(lab: Lab) -> dict[int, str]:
    return {one["revision"]: one["metadata"]["labels"][HASH] for one in lab.list(REVISIONS, "default")}


def hashes(lab: Lab) -> set[str]:
    return {one["metadata"]["labels"][HASH] for one in lab.list("pods", "default")}


def label(lab: Lab, name: str, color: str | None) -> None:
    lab.do(Patch("nodes", "", name, {"metadata": {"labels": {"color": color}}}))
    lab.run(60)


@does("Daemon set [Serial] should run and stop simple daemon [Conformance]")
def test_a_pod_that_is_stopped_is_revived() -> None:
    lab = lab_with(daemon())
    assert running(lab) == [*NODES]
    status = lab.get(SETS, "ds")["status"]
    assert status["desiredNumberScheduled"] == status["currentNumberScheduled"] == status["numberReady"] == 3
    first = names(lab)[0]
    deleted(lab, "pods", first)
    lab.run(60)
    assert running(lab) == [*NODES]
    assert first not in names(lab)


AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "color", "operator": "In", "values": ["blue"]}]}]
        }
    }
}


@pytest.mark.parametrize("pod", [{"nodeSelector": {"color": "blue"}}, {"affinity": AFFINITY}])
@does("Daemon set [Serial] should run and stop complex daemon [Conformance]")
@does("Daemon set [Serial] should run and stop complex daemon with node affinity")
def test_it_follows_the_labels_of_nodes(pod: Document) -> None:
    lab = lab_with(daemon(pod=pod))
    assert names(lab) == []
    label(lab, "n1", "blue")
    assert running(lab) == ["n1"]
    label(lab, "n1", "green")
    assert names(lab) == []
    change = {"template": {"spec": {"affinity": None, "nodeSelector": {"color": "green"}}}}
    patched(lab, SETS, "ds", {"spec": {**change, "updateStrategy": {"type": "RollingUpdate"}}})
    lab.run(60)
    assert running(lab) == ["n1"]
    label(lab, "n1", None)
    assert names(lab) == []


@does("Daemon set [Serial] should retry creating failed daemon pods [Conformance]")
def test_a_pod_that_fails_is_made_anew() -> None:
    lab = lab_with(daemon())
    failed = lab.list("pods", "default")[0]
    name = failed["metadata"]["name"]

    def fail(pod: Document) -> None:
        pod["metadata"]["resourceVersion"] = ""
        pod["status"]["phase"] = "Failed"

    updated(lab, "pods", name, fail, "status")
    lab.run(60)
    assert name not in names(lab)
    assert running(lab) == [*NODES]


@does("Daemon set [Serial] should not update pod when spec was updated and update strategy is OnDelete")
def test_on_delete_leaves_pods_alone() -> None:
    lab = lab_with(daemon(updateStrategy={"type": "OnDelete"}))
    first = history(lab)[1]
    assert hashes(lab) == {first}
    set_image(lab, SETS, "ds", NEW)
    lab.run(60)
    assert set(images(lab).values()) == {OLD}
    assert running(lab) == [*NODES]
    assert sorted(history(lab)) == [1, 2]
    assert history(lab)[2] != first
    assert hashes(lab) == {first}


@does("Daemon set [Serial] should update pod when spec was updated and update strategy is RollingUpdate [Conformance]")
def test_a_rolling_update_leaves_one_node_out_at_a_time() -> None:
    lab = lab_with(daemon(updateStrategy={"type": "RollingUpdate"}))
    set_image(lab, SETS, "ds", NEW)
    least = 3
    while set(images(lab).values()) != {NEW} or len(running(lab)) < 3:
        lab.run(0.5)
        least = min(least, len(running(lab)))
        assert lab.cluster.now_ms < 600_000
    assert least == 2
    assert sorted(history(lab)) == [1, 2]
    assert hashes(lab) == {history(lab)[2]}


@does("Daemon set [Serial] should rollback without unnecessary restarts [Conformance]")
def test_a_rollback_keeps_what_was_not_updated_yet() -> None:
    stages = {"pods.yaml": "images:\n- {image: 'foo*', pull: missing}\n"}
    place = {"name": "kubelet-stages", "namespace": "kube-system"}
    lab = lab_with(daemon(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place, "data": stages})
    set_image(lab, SETS, "ds", "foo:non-existent")
    lab.run(60)
    kept = [name for name, image in images(lab).items() if image == OLD]
    assert (len(kept), len(images(lab))) == (2, 3)
    set_image(lab, SETS, "ds", OLD)
    lab.run(60)
    assert set(images(lab).values()) == {OLD}
    assert running(lab) == [*NODES]
    assert set(kept) <= set(names(lab))
    # The old revision is the newest again.
    assert sorted(history(lab)) == [2, 3]


@does("Daemon set [Serial] should surge pods onto nodes when spec was updated and update strategy is RollingUpdate")
def test_a_surge_keeps_the_old_pod_until_the_new_one_is_available() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "20%"}}
    lab = lab_with(daemon(updateStrategy=strategy, minReadySeconds=10))
    set_image(lab, SETS, "ds", NEW)
    most = 0
    while set(images(lab).values()) != {NEW} or len(running(lab)) != 3:
        lab.run(1)
        assert set(running(lab)) == {*NODES}
        found = lab.list("pods", "default")
        alive = [one for one in found if "deletionTimestamp" not in one["metadata"]]
        places = [(one["spec"].get("nodeName"), one["spec"]["containers"][0]["image"]) for one in alive]
        assert len(set(places)) == len(places)
        most = max(most, len(alive))
        assert lab.cluster.now_ms < 600_000
    assert most == 4


@does("Daemon set [Serial] should verify changes to a daemon set status [Conformance]")
def test_its_status_can_be_replaced_and_patched() -> None:
    lab = lab_with(daemon())
    told = {"type": "StatusUpdate", "status": "True", "reason": "E2E", "message": "Set from e2e test"}
    updated(lab, SETS, "ds", lambda one: one["status"].update(conditions=[told]), "status")
    assert condition_of(lab.get(SETS, "ds"), "StatusUpdate") == {**told, "lastTransitionTime": None}
    status = {"conditions": [{"type": "StatusPatched", "status": "True"}]}
    lab.do(Patch(SETS, "default", "ds", {"status": status}, "merge", "status"))
    lab.run(10)
    assert condition_of(lab.get(SETS, "ds"), "StatusPatched")["status"] == "True"
    assert lab.get(SETS, "ds")["status"]["numberReady"] == 3


@does("ControllerRevision [Serial] should manage the lifecycle of a ControllerRevision [Conformance]")
def test_the_life_of_a_revision() -> None:
    lab = lab_with(daemon())
    (first,) = lab.list(REVISIONS, "default")
    name = first["metadata"]["name"]
    assert (first["metadata"]["ownerReferences"][0]["kind"], first["revision"]) == ("DaemonSet", 1)
    assert patched(lab, REVISIONS, name, {"metadata": {"labels": {name: "patched"}}})["metadata"]["labels"][name]
    lab.run(5)
    # Another one by hand, named as the controller would name the next.
    owner = copy_object(lab.get(SETS, "ds"))
    template = owner["spec"]["template"]
    template["spec"]["terminationGracePeriodSeconds"] = 1
    hashed = template_hash(template, None)
    reference = {
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "ds", "uid": owner["metadata"]["uid"],
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    document = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"ds-{hashed}",
            "namespace": "default",
            "labels": {"daemonset-name": "ds", HASH: hashed},
            "ownerReferences": [reference],
        },
        "data": first["data"],
        "revision": 2,
    }
    make(lab, REVISIONS, document)
    lab.run(5)
    assert len(names(lab, REVISIONS)) == 2
    deleted(lab, REVISIONS, name)
    lab.run(5)
    (left,) = names(lab, REVISIONS)
    updated(lab, REVISIONS, left, lambda one: one["metadata"]["labels"].update({left: "updated"}))
    spec = {"template": {"spec": {"terminationGracePeriodSeconds": 1}}}
    patched(lab, SETS, "ds", {"spec": spec})
    lab.run(30)
    assert len(names(lab, REVISIONS)) == 2
    deleted(lab, REVISIONS, left)
    lab.run(30)
    (last,) = lab.list(REVISIONS, "default")
    assert last["revision"] == 3
