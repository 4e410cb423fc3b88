"""StatefulSets: pods with ordinals, in order, each with its claims and its revision."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from tests.tools.lab import Document, Lab, node, pod, workload

RESOURCE = "statefulsets.apps"
CLASS: Document = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "example.dev/fast",
}
CLAIM: Document = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


def stateful(replicas: int, **spec: Any) -> Document:
    return workload("StatefulSet", "db", replicas, serviceName="db", **spec)


def names(lab: Lab, resource: str = "pods") -> list[str]:
    return [one["metadata"]["name"] for one in lab.list(resource, "default")]


def history(lab: Lab) -> list[tuple[str, str]]:
    """Return (verb, pod) of every pod that came or went, in order."""
    rows = [row for row in lab.rows() if row.resource == "pods" and row.verb in ("ADDED", "DELETED")]
    return [(row.verb, row.object["metadata"]["name"]) for row in rows]


def images(lab: Lab) -> dict[str, str]:
    return {one["metadata"]["name"]: one["spec"]["containers"][0]["image"] for one in lab.list("pods")}


def set_image(lab: Lab, image: str) -> None:
    containers = [{"name": "main", "image": image}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    lab.do(Patch(RESOURCE, "default", "db", patch, "strategic"))


def most_at_once(lab: Lab) -> int:
    """Return how many pods were missing or not ready at most at a time, once all had been ready."""
    ready: set[str] = set()
    began, worst = False, 0
    for row in lab.rows():
        if row.resource != "pods":
            continue
        name = row.object["metadata"]["name"]
        conditions = {one["type"]: one["status"] for one in (row.object.get("status") or {}).get("conditions") or ()}
        going = row.verb == "DELETED" or "deletionTimestamp" in row.object["metadata"]
        if conditions.get("Ready") == "True" and not going:
            ready.add(name)
        else:
            ready.discard(name)
        began = began or len(ready) == 3
        if began:
            worst = max(worst, 3 - len(ready))
    return worst


def test_pods_come_one_after_the_other_each_with_its_identity() -> None:
    lab = Lab([node("n1"), stateful(3)])
    lab.run(30)
    assert history(lab) == [("ADDED", "db-0"), ("ADDED", "db-1"), ("ADDED", "db-2")]
    made = {row.object["metadata"]["name"]: row.revision for row in lab.rows() if row.verb == "ADDED"}
    for earlier, later in (("db-0", "db-1"), ("db-1", "db-2")):
        ready = next(
            row.revision
            for row in lab.rows()
            if row.resource == "pods"
            and row.object["metadata"]["name"] == earlier
            and any(
                one["type"] == "Ready" and one["status"] == "True"
                for one in (row.object.get("status") or {}).get("conditions") or ()
            )
        )
        assert ready < made[later]
    second = lab.get("pods", "db-1")
    owner = lab.get(RESOURCE, "db")
    assert second["metadata"]["generateName"] == "db-"
    assert second["metadata"]["labels"] == {
        "app": "db",
        "apps.kubernetes.io/pod-index": "1",
        "statefulset.kubernetes.io/pod-name": "db-1",
        "controller-revision-hash": owner["status"]["updateRevision"],
    }
    assert (second["spec"]["hostname"], second["spec"]["subdomain"]) == ("db-1", "db")
    revision = lab.get("controllerrevisions.apps", owner["status"]["currentRevision"])
    assert owner["status"] == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "currentRevision": revision["metadata"]["name"],
        "updateRevision": revision["metadata"]["name"],
        "collisionCount": 0,
    }
    events = [one["message"] for one in lab.list("events") if one["involvedObject"]["name"] == "db"]
    assert sorted(events) == [f"create Pod db-{number} in StatefulSet db successful" for number in range(3)]


def test_scaling_down_takes_the_highest_first_and_waits_for_each() -> None:
    lab = Lab([node("n1"), stateful(3)])
    lab.run(30)
    lab.do(Patch(RESOURCE, "default", "db", {"spec": {"replicas": 1}}))
    lab.run(90)
    assert history(lab)[3:] == [("DELETED", "db-2"), ("DELETED", "db-1")]
    gone = next(row for row in lab.rows() if row.verb == "DELETED" and row.object["metadata"]["name"] == "db-2")
    asked = next(
        row
        for row in lab.rows()
        if row.resource == "pods"
        and row.object["metadata"]["name"] == "db-1"
        and "deletionTimestamp" in row.object["metadata"]
    )
    assert gone.revision < asked.revision


def test_in_parallel_nobody_waits() -> None:
    unready = stateful(4, podManagementPolicy="Parallel")
    lab = Lab([node("n1"), unready], kubelets=False)
    lab.run(5)
    assert sorted(names(lab)) == ["db-0", "db-1", "db-2", "db-3"]
    lab = Lab([node("n1"), stateful(4)], kubelets=False)
    lab.run(5)
    assert names(lab) == ["db-0"], "in order, the second one waits for the first"


def test_ordinals_start_where_they_are_asked_to() -> None:
    lab = Lab([node("n1"), stateful(2, ordinals={"start": 3})])
    lab.run(30)
    assert names(lab) == ["db-3", "db-4"]
    lab.do(Patch(RESOURCE, "default", "db", {"spec": {"ordinals": {"start": 4}}}))
    lab.run(120)
    assert names(lab) == ["db-4", "db-5"]


def test_an_update_goes_from_the_highest_down_and_ends_as_the_current_revision() -> None:
    lab = Lab([node("n1"), stateful(3)])
    lab.run(30)
    first = lab.get(RESOURCE, "db")["status"]["currentRevision"]
    set_image(lab, "nginx:2")
    lab.run(240)
    assert set(images(lab).values()) == {"nginx:2"}
    order = [name for verb, name in history(lab)[3:] if verb == "DELETED"]
    assert order == ["db-2", "db-1", "db-0"]
    assert most_at_once(lab) == 1
    status = lab.get(RESOURCE, "db")["status"]
    assert status["currentRevision"] == status["updateRevision"] != first
    numbers = {one["metadata"]["name"]: one["revision"] for one in lab.list("controllerrevisions.apps")}
    assert numbers == {first: 1, status["updateRevision"]: 2}


def test_a_partition_keeps_what_is_below_it_and_replaces_it_as_it_was() -> None:
    lab = Lab([node("n1"), stateful(3, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})])
    lab.run(30)
    set_image(lab, "nginx:2")
    lab.run(120)
    assert images(lab) == {"db-0": "nginx:1.27", "db-1": "nginx:1.27", "db-2": "nginx:2"}
    status = lab.get(RESOURCE, "db")["status"]
    assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)
    lab.do(Delete("pods", "default", "db-0", grace_period_seconds=0))
    lab.run(30)
    assert images(lab)["db-0"] == "nginx:1.27"


def test_on_delete_renews_what_a_person_deletes_and_nothing_else() -> None:
    lab = Lab([node("n1"), stateful(2, updateStrategy={"type": "OnDelete"})])
    lab.run(30)
    set_image(lab, "nginx:2")
    lab.run(60)
    assert set(images(lab).values()) == {"nginx:1.27"}
    lab.do(Delete("pods", "default", "db-1", grace_period_seconds=0))
    lab.run(30)
    assert images(lab) == {"db-0": "nginx:1.27", "db-1": "nginx:2"}


def test_going_back_takes_the_old_revision_up_again() -> None:
    lab = Lab([node("n1"), stateful(1)])
    lab.run(20)
    first = lab.get(RESOURCE, "db")["status"]["currentRevision"]
    set_image(lab, "nginx:2")
    lab.run(90)
    set_image(lab, "nginx:1.27")
    lab.run(90)
    assert lab.get(RESOURCE, "db")["status"]["currentRevision"] == first
    assert lab.get("controllerrevisions.apps", first)["revision"] == 3


def test_old_revisions_are_kept_up_to_the_limit() -> None:
    lab = Lab([node("n1"), stateful(1, revisionHistoryLimit=1)])
    lab.run(20)
    for number in range(2, 6):
        set_image(lab, f"nginx:{number}")
        lab.run(90)
    assert sorted(one["revision"] for one in lab.list("controllerrevisions.apps")) == [4, 5]


def test_a_pod_that_failed_is_replaced_under_its_name() -> None:
    lab = Lab([node("n1"), stateful(2)])
    lab.run(30)
    uid = lab.get("pods", "db-0")["metadata"]["uid"]
    lab.do(Patch("pods", "default", "db-0", {"status": {"phase": "Failed"}}, subresource="status"))
    lab.run(60)
    assert lab.get("pods", "db-0")["metadata"]["uid"] != uid
    assert lab.get("pods", "db-0")["status"]["phase"] == "Running"


def test_an_orphan_of_its_name_is_adopted_another_is_not() -> None:
    member, stranger = pod("db-0"), pod("other-0")
    for one in (member, stranger):
        one["metadata"]["labels"] = {"app": "db"}
    lab = Lab([node("n1"), member, stranger, stateful(1)])
    lab.run(20)
    assert lab.get("pods", "db-0")["metadata"]["ownerReferences"][0]["name"] == "db"
    assert lab.get("pods", "db-0")["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert not lab.get("pods", "other-0")["metadata"].get("ownerReferences")
    told = ["SuccessfulUpdate", "SuccessfulDelete", "SuccessfulCreate"]
    assert lab.reasons("db") == told, "its own adoption is no conflict, then it is renewed"


def test_min_ready_seconds_hold_back_the_next_pod() -> None:
    lab = Lab([node("n1"), stateful(2, minReadySeconds=60)])
    lab.run(30)
    assert names(lab) == ["db-0"]
    assert lab.get(RESOURCE, "db")["status"]["availableReplicas"] == 0
    lab.run(60)
    assert names(lab) == ["db-0", "db-1"]
    lab.run(90)
    assert lab.get(RESOURCE, "db")["status"]["availableReplicas"] == 2


def claims(replicas: int, **policy: str) -> Lab:
    spec = stateful(replicas, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy or None)
    if not policy:
        del spec["spec"]["persistentVolumeClaimRetentionPolicy"]
    lab = Lab([node("n1"), CLASS, spec])
    lab.run(60)
    return lab


def owners(lab: Lab, claim: str) -> list[str]:
    references = lab.get("persistentvolumeclaims", claim)["metadata"].get("ownerReferences") or ()
    return [reference["kind"] for reference in references]


def test_each_pod_has_its_claims_and_they_outlive_it() -> None:
    lab = claims(2)
    assert names(lab, "persistentvolumeclaims") == ["data-db-0", "data-db-1"]
    assert lab.get("pods", "db-1")["spec"]["volumes"][0] == {
        "name": "data",
        "persistentVolumeClaim": {"claimName": "data-db-1"},
    }
    assert lab.get("persistentvolumeclaims", "data-db-1")["metadata"]["labels"] == {"app": "db"}
    uid = lab.get("persistentvolumeclaims", "data-db-1")["metadata"]["uid"]
    lab.do(Patch(RESOURCE, "default", "db", {"spec": {"replicas": 1}}))
    lab.run(60)
    lab.do(Patch(RESOURCE, "default", "db", {"spec": {"replicas": 2}}))
    lab.run(60)
    assert lab.get("persistentvolumeclaims", "data-db-1")["metadata"]["uid"] == uid
    messages = [one["message"] for one in lab.list("events") if one["involvedObject"]["name"] == "db"]
    assert "create Claim data-db-0 Pod db-0 in StatefulSet db success" in messages


@pytest.mark.parametrize(
    ("deleted", "scaled", "of_kept"),
    [("Retain", "Retain", []), ("Delete", "Retain", ["StatefulSet"]), ("Delete", "Delete", ["StatefulSet"])],
)
def test_whom_a_claim_belongs_to(deleted: str, scaled: str, of_kept: list[str]) -> None:
    lab = claims(2, whenDeleted=deleted, whenScaled=scaled)
    assert owners(lab, "data-db-0") == of_kept
    lab.do(Patch(RESOURCE, "default", "db", {"spec": {"replicas": 1}}))
    lab.run(120)
    left = ["data-db-0"] if scaled == "Delete" else ["data-db-0", "data-db-1"]
    assert names(lab, "persistentvolumeclaims") == left
    lab.do(Delete(RESOURCE, "default", "db"))
    lab.run(120)
    assert names(lab, "persistentvolumeclaims") == ([] if deleted == "Delete" else left)


def test_a_claim_that_another_controls_is_left_alone_and_said_so() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "keeper", "namespace": "default"}}
    lab = Lab([node("n1"), CLASS, owner])
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "keeper",
        "uid": lab.get("configmaps", "keeper")["metadata"]["uid"],
        "controller": True,
    }
    metadata = {"name": "data-db-0", "namespace": "default", "ownerReferences": [reference]}
    lab.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": CLAIM["spec"]})
    policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    lab.create(stateful(1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy))
    lab.run(60)
    assert owners(lab, "data-db-0") == ["ConfigMap"]
    assert "ConflictingController" in lab.reasons("db")
    lab.do(Delete(RESOURCE, "default", "db"))
    lab.run(60)
    assert names(lab, "persistentvolumeclaims") == ["data-db-0"]


def written(lab: Lab) -> int:
    kinds = (RESOURCE, "pods", "controllerrevisions.apps", "persistentvolumeclaims")
    return len([row for row in lab.rows() if row.resource in kinds])


def test_once_it_is_as_asked_nothing_more_is_written() -> None:
    lab = claims(2, whenDeleted="Delete", whenScaled="Delete")
    before = written(lab)
    lab.run(600)
    assert written(lab) == before
