"""Deletion: grace periods, finalizers, propagation, namespaces."""

from __future__ import annotations

import pytest

from controllers.log.operations import Bind, Create, Update
from tests.registry.registry_tool import CONTAINER, Cluster, refusal


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def bound(cluster: Cluster) -> Cluster:
    """Return a cluster whose pod `web` runs on a node."""
    cluster.pod()
    cluster.apply(Bind("default", "web", "", "node-1"))
    return cluster


def test_an_unscheduled_pod_goes_at_once(cluster: Cluster) -> None:
    cluster.pod()
    cluster.delete("pods", "web")
    assert cluster.get("pods", "web") is None


def test_a_scheduled_pod_gets_its_grace_period(bound: Cluster) -> None:
    pod = bound.delete("pods", "web", now_ms=10_000)
    assert pod["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:40Z"
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
    assert pod["metadata"]["generation"] == 2
    assert bound.get("pods", "web") == pod


def test_a_second_delete_only_hurries(bound: Cluster) -> None:
    first = bound.delete("pods", "web")
    assert bound.delete("pods", "web", grace_period_seconds=60) == first
    sooner = bound.delete("pods", "web", grace_period_seconds=10)
    assert sooner["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:10Z"
    bound.delete("pods", "web", grace_period_seconds=0)
    assert bound.get("pods", "web") is None


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_needs_no_grace(bound: Cluster, phase: str) -> None:
    bound.patch("pods", "web", {"status": {"phase": phase}}, subresource="status")
    bound.delete("pods", "web")
    assert bound.get("pods", "web") is None


def test_finalizers_hold_an_object_until_the_last_is_taken_away(cluster: Cluster) -> None:
    cluster.create("configmaps", "a", {"metadata": {"finalizers": ["x.io/one", "x.io/two"]}})
    held = cluster.delete("configmaps", "a")
    assert held["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    cluster.patch("configmaps", "a", {"metadata": {"finalizers": ["x.io/two"]}})
    error = refusal(cluster.patch, "configmaps", "a", {"metadata": {"finalizers": ["x.io/two", "x.io/three"]}})
    assert "no new finalizers can be added if the object is being deleted" in error.message
    before = cluster.store.revision
    cluster.patch("configmaps", "a", {"metadata": {"finalizers": None}})
    assert cluster.get("configmaps", "a") is None
    (row,) = cluster.store.events(before)
    assert (row.verb, row.object["metadata"]["resourceVersion"]) == ("DELETED", str(row.revision))


@pytest.mark.parametrize(("propagation", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
def test_propagation_is_a_finalizer_for_the_garbage_collector(
    cluster: Cluster, propagation: str, finalizer: str
) -> None:
    cluster.create("configmaps", "a")
    assert cluster.delete("configmaps", "a", propagation=propagation)["metadata"]["finalizers"] == [finalizer]
    cluster.delete("configmaps", "a", propagation="Background")
    assert cluster.get("configmaps", "a") is None


def test_preconditions(cluster: Cluster) -> None:
    cluster.create("configmaps", "a")
    refused = refusal(cluster.delete, "configmaps", "a", uid="x")
    assert (refused.code, refused.kind) == (409, "ConfigMap")
    assert refused.message == (
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in '
        "record (uid-2). The object might have been deleted and then recreated"
    )
    assert refusal(cluster.delete, "configmaps", "a", resource_version="1").code == 409
    assert refusal(cluster.delete, "configmaps", "b").code == 404


def test_a_namespace_terminates_until_it_is_finalized(cluster: Cluster) -> None:
    made = cluster.create("namespaces", "room")
    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["status"] == {"phase": "Active"}
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "room"}
    going = cluster.delete("namespaces", "room")
    assert going["status"]["phase"] == "Terminating"
    body = {"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER]}}
    error = refusal(cluster.apply, Create("pods", "room", body))
    assert (error.code, error.causes[0].reason) == (403, "NamespaceTerminating")
    cluster.patch("namespaces", "room", {"spec": {"finalizers": []}})
    assert cluster.get("namespaces", "room") is not None
    document = {"metadata": {"name": "room"}, "spec": {"finalizers": []}}
    cluster.apply(Update("namespaces", "", "room", document, "finalize"))
    assert cluster.get("namespaces", "room") is None


def test_nothing_is_created_where_no_namespace_is(cluster: Cluster) -> None:
    error = refusal(cluster.apply, Create("configmaps", "nowhere", {"metadata": {"name": "a"}}))
    assert (error.code, error.message) == (404, 'namespaces "nowhere" not found')


def test_the_first_namespaces_stay(cluster: Cluster) -> None:
    assert "may not be deleted" in refusal(cluster.delete, "namespaces", "default").message


def test_a_period_below_zero_is_the_shortest_that_there_is(cluster: Cluster) -> None:
    cluster.pod(spec={"nodeName": "node-1"})
    assert cluster.delete("pods", "web", grace_period_seconds=-5)["metadata"]["deletionGracePeriodSeconds"] == 1


def test_whoever_deletes_is_told_the_last_state(cluster: Cluster) -> None:
    made = cluster.create("configmaps", "a")["metadata"]
    gone = cluster.delete("configmaps", "a")["metadata"]
    assert int(gone["resourceVersion"]) > int(made["resourceVersion"]), "its end is a revision of its own"
    assert gone == {**made, "resourceVersion": gone["resourceVersion"]}
    held = cluster.create("configmaps", "b", {"metadata": {"finalizers": ["a.example/b"]}})
    marked = cluster.delete("configmaps", "b")
    assert marked["metadata"]["resourceVersion"] != held["metadata"]["resourceVersion"]
    last = cluster.patch("configmaps", "b", {"metadata": {"finalizers": None}})
    assert last["metadata"]["resourceVersion"] == marked["metadata"]["resourceVersion"]
    pod = cluster.pod(spec={"nodeName": "node-1"})
    gone = cluster.delete("pods", "web", grace_period_seconds=0)["metadata"]
    assert (gone["deletionGracePeriodSeconds"], gone["generation"]) == (0, pod["metadata"]["generation"] + 1)
    assert gone["resourceVersion"] != pod["metadata"]["resourceVersion"]


def test_a_name_is_taken_until_its_object_is_gone(cluster: Cluster) -> None:
    cluster.create("configmaps", "a", {"metadata": {"finalizers": ["a.example/b"]}})
    assert refusal(cluster.create, "configmaps", "a").message == 'configmaps "a" already exists'
    cluster.delete("configmaps", "a")
    leaving = refusal(cluster.create, "configmaps", "a").message
    assert leaving == 'object is being deleted: configmaps "a" already exists'


def test_a_namespace_has_a_deletion_of_its_own(cluster: Cluster) -> None:
    cluster.create("namespaces", "shop")
    refused = refusal(cluster.delete, "namespaces", "shop", uid="x")
    assert (refused.code, refused.kind) == (409, "namespaces")
    assert "Precondition failed: UID in precondition: x, UID in object meta: uid-" in refused.message
    gone = cluster.delete("namespaces", "shop")["metadata"]
    assert "deletionTimestamp" in gone
    assert "deletionGracePeriodSeconds" not in gone


TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}


@pytest.mark.parametrize(
    ("asked", "before", "after"),
    [
        pytest.param("", ["x.io/one"], ["x.io/one", "orphan"], id="says nothing"),
        pytest.param("", ["foregroundDeletion"], ["foregroundDeletion"], id="what was said before holds"),
        pytest.param("Background", ["x.io/one"], ["x.io/one"], id="says that they go"),
        pytest.param("Foreground", ["x.io/one"], ["x.io/one", "foregroundDeletion"], id="says that they go first"),
    ],
)
def test_pods_of_a_job_stay_unless_a_delete_says_otherwise(
    cluster: Cluster, asked: str, before: list[str], after: list[str]
) -> None:
    spec = {"template": TEMPLATE}
    cluster.create("jobs.batch", "web", {"metadata": {"finalizers": before}, "spec": spec})
    assert cluster.delete("jobs.batch", "web", propagation=asked)["metadata"]["finalizers"] == after
    preserved = (
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
        "set propagationPolicy=Orphan to suppress this warning"
    )
    assert cluster.warnings == ([] if asked else [preserved])


def test_pods_of_a_replication_controller_stay_without_a_warning(cluster: Cluster) -> None:
    spec = {"selector": {"app": "web"}, "template": {**TEMPLATE, "spec": {"containers": [CONTAINER]}}}
    cluster.create("replicationcontrollers", "web", {"spec": spec})
    assert cluster.delete("replicationcontrollers", "web")["metadata"]["finalizers"] == ["orphan"]
    assert cluster.warnings == []
    cluster.create("replicasets.apps", "web", {"spec": {**spec, "selector": {"matchLabels": {"app": "web"}}}})
    cluster.delete("replicasets.apps", "web")
    assert cluster.get("replicasets.apps", "web") is None
