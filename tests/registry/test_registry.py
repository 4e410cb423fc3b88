"""The registry: names, revisions, generations, preconditions, subresources, refusals that leave no trace."""

from __future__ import annotations

import pytest

from controllers.kinds.table import REGISTRY
from controllers.log.draft import Draft
from controllers.log.operations import Bind, Create, Operation, Patch, Update
from controllers.log.store import Stored
from scheduler_core.api.errors import ApiError
from tests.registry.registry_tool import CONTAINER, Cluster, refusal


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def deployment(cluster: Cluster, name: str = "web", **spec: object) -> dict:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [CONTAINER]}}
    body = {"spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec}}
    return cluster.create("deployments.apps", name, body)


def test_what_the_server_owns_is_set_by_the_server(cluster: Cluster) -> None:
    pod = cluster.pod(uid="mine", generation=7, creationTimestamp="2000-01-01T00:00:00Z", selfLink="x")
    metadata = pod["metadata"]
    assert metadata["uid"].startswith("uid-")
    assert metadata["generation"] == 1
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["resourceVersion"] == str(cluster.store.revision)
    assert "selfLink" not in metadata
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")


def test_a_create_with_a_resource_version_is_refused(cluster: Cluster) -> None:
    error = refusal(cluster.pod, resourceVersion="5")
    assert (error.code, error.message) == (500, "resourceVersion should not be set on objects to be created")


def test_generated_names_are_the_prefix_and_five_letters(cluster: Cluster) -> None:
    body = {"metadata": {"generateName": "w" * 80}, "spec": {"containers": [CONTAINER]}}
    pod = cluster.apply(Create("pods", "default", body))
    assert pod["metadata"]["name"].startswith("w" * 58 + "x")
    error = refusal(cluster.apply, Create("pods", "default", {"spec": {"containers": [CONTAINER]}}))
    assert error.causes[0].message == "Required value: name or generateName is required"


def test_a_taken_name_is_already_exists(cluster: Cluster) -> None:
    cluster.pod()
    error = refusal(cluster.pod)
    assert (error.code, error.reason, error.message) == (409, "AlreadyExists", 'pods "web" already exists')


def test_an_update_that_changes_nothing_takes_no_revision(cluster: Cluster) -> None:
    pod = cluster.pod()
    before = cluster.store.revision
    assert cluster.update("pods", pod)["metadata"]["resourceVersion"] == pod["metadata"]["resourceVersion"]
    assert cluster.patch("pods", "web", {"metadata": {"labels": None}}) == pod
    assert cluster.store.revision == before


def test_defaults_survive_a_replacement_that_names_none(cluster: Cluster) -> None:
    made = deployment(cluster)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
    bare = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template}}
    assert cluster.apply(Update("deployments.apps", "default", "web", bare))["spec"] == made["spec"]


def test_generation_counts_changes_of_what_is_asked(cluster: Cluster) -> None:
    deployment(cluster)
    assert cluster.patch("deployments.apps", "web", {"spec": {"replicas": 3}})["metadata"]["generation"] == 2
    assert cluster.patch("deployments.apps", "web", {"metadata": {"labels": {"a": "b"}}})["metadata"]["generation"] == 2
    changed = cluster.patch("deployments.apps", "web", {"metadata": {"annotations": {"a": "b"}}})
    assert changed["metadata"]["generation"] == 3
    status = cluster.patch("deployments.apps", "web", {"status": {"replicas": 3}}, subresource="status")
    assert status["metadata"]["generation"] == 3


def test_a_write_never_reaches_into_what_was_stored(cluster: Cluster) -> None:
    """Stored documents are shared by caches and watches; only new ones may differ."""
    deployment(cluster)
    cluster.create("nodes", "n", {"status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "0.00015"}}})
    cluster.patch("nodes", "n", {"status": {"allocatable": None, "capacity": {"cpu": "0.00015"}}}, subresource="status")
    cluster.create("services", "s", {"spec": {"ports": [{"port": 1}], "type": "NodePort"}})
    cluster.pod()
    writes = [
        ("deployments.apps", "web", {"spec": {"replicas": 5}}, ""),
        ("deployments.apps", "web", {"spec": {"replicas": 6}}, "scale"),
        ("deployments.apps", "web", {"metadata": {"labels": {"a": "b"}}}, ""),
        ("nodes", "n", {"spec": {"unschedulable": True}}, ""),
        ("services", "s", {"spec": {"type": "ClusterIP"}}, ""),
        ("pods", "web", {"spec": {"activeDeadlineSeconds": 9}}, ""),
        ("pods", "web", {"status": {"phase": "Running"}}, "status"),
    ]
    for resource, name, patch, subresource in writes:
        stored = cluster.store.get(resource, "default" if resource != "nodes" else "", name)
        assert stored is not None
        before = repr(stored.object)
        cluster.patch(resource, name, patch, subresource=subresource)
        assert repr(stored.object) == before, (resource, patch)
    stored = cluster.store.get("pods", "default", "web")
    assert stored is not None
    before = repr(stored.object)
    cluster.apply(Bind("default", "web", "", "n"))
    cluster.delete("pods", "web")
    assert repr(stored.object) == before


def test_a_stale_revision_or_another_uid_is_a_conflict(cluster: Cluster) -> None:
    pod = cluster.pod()
    cluster.patch("pods", "web", {"metadata": {"labels": {"a": "b"}}})
    stale = {**pod, "metadata": {**pod["metadata"], "labels": {"x": "y"}}}
    error = refusal(cluster.update, "pods", stale)
    assert (error.code, error.reason) == (409, "Conflict")
    assert "please apply your changes to the latest version" in error.message
    error = refusal(cluster.patch, "pods", "web", {"metadata": {"uid": "other", "labels": {"x": "y"}}})
    assert "Precondition failed: UID in precondition: other" in error.message


def test_status_and_the_rest_are_written_apart(cluster: Cluster) -> None:
    cluster.pod()
    patch = {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    assert cluster.patch("pods", "web", patch)["status"]["phase"] == "Pending"
    written = cluster.patch("pods", "web", {**patch, "metadata": {"labels": {"a": "c"}}}, subresource="status")
    assert written["status"]["phase"] == "Running"
    # As upstream: its strategy restores the spec, not the labels.
    assert written["metadata"]["labels"] == {"a": "c"}


def test_binding_writes_the_node_and_the_condition_once(cluster: Cluster) -> None:
    pod = cluster.pod()
    bound = cluster.apply(Bind("default", "web", pod["metadata"]["uid"], "node-1"), now_ms=5_000)
    assert bound["spec"]["nodeName"] == "node-1"
    (condition,) = bound["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert condition["lastTransitionTime"] == "2026-01-01T00:00:05Z"
    error = refusal(cluster.apply, Bind("default", "web", "", "node-2"))
    assert (error.code, error.reason) == (409, "Conflict")
    assert 'pod web is already assigned to node "node-1"' in error.message


@pytest.mark.parametrize(
    ("spec", "uid", "words"),
    [
        ({"schedulingGates": [{"name": "a/b"}]}, "", "has non-empty .spec.schedulingGates"),
        (
            {},
            "another",
            "/pods/default/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ",
        ),
    ],
)
def test_pods_that_cannot_be_bound(cluster: Cluster, spec: dict, uid: str, words: str) -> None:
    cluster.pod(spec=spec)
    assert words in refusal(cluster.apply, Bind("default", "web", uid, "n")).message


def test_a_pod_on_its_way_out_is_not_bound(cluster: Cluster) -> None:
    cluster.pod(finalizers=["example.com/hold"])
    cluster.delete("pods", "web")
    assert "being deleted" in refusal(cluster.apply, Bind("default", "web", "", "n")).message


def test_scale_reads_and_writes_replicas(cluster: Cluster) -> None:
    deployment(cluster)
    scale = cluster.patch("deployments.apps", "web", {"spec": {"replicas": 4}}, subresource="scale")
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 4}
    assert scale["status"]["selector"] == "app=web"
    stored = cluster.get("deployments.apps", "web")
    assert stored is not None
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (4, 2)
    assert refusal(
        cluster.patch, "deployments.apps", "web", {"spec": {"replicas": -1}}, subresource="scale"
    ).causes[0].field == "spec.replicas"  # fmt: skip


def test_one_refusal_does_not_touch_its_neighbours(cluster: Cluster) -> None:
    good = {"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER]}}
    bad = {"metadata": {"name": "B"}, "spec": {"containers": [CONTAINER]}}
    operations = [Create("pods", "default", good), Create("pods", "default", bad), Bind("default", "a", "", "n")]
    numbers = iter(range(100))

    def context(_: object):
        from controllers.registry.context import Context

        return Context(actor="x", epoch_ms=0, new_uid=lambda: f"u{next(numbers)}", new_suffix=lambda: "s")

    before = cluster.store.revision
    results = REGISTRY.apply_all(cluster.store, operations, context)
    assert [result.error is None for result in results] == [True, False, True]
    assert isinstance(results[1].error, ApiError)
    assert results[1].object is None
    assert cluster.store.revision == before + 2
    assert [row.actor for row in cluster.store.events(before)] == ["x", "x"]


def test_dry_runs_return_the_document_and_put_nothing(cluster: Cluster) -> None:
    before = cluster.store.revision
    body = {"metadata": {"name": "dry"}, "spec": {"containers": [CONTAINER]}}
    assert cluster.apply(Create("pods", "default", body), dry_run=True)["spec"]["restartPolicy"] == "Always"
    assert cluster.store.revision == before


def test_unknown_fields_are_warned_of_pruned_or_refused(cluster: Cluster) -> None:
    body = {"spec": {"containers": [{**CONTAINER, "colour": "red"}], "foo": {"bar": 1}}}
    pod = cluster.create("pods", "a", body)
    assert sorted(cluster.warnings) == ['unknown field "spec.containers[0].colour"', 'unknown field "spec.foo"']
    assert "foo" not in pod["spec"]
    error = refusal(cluster.create, "pods", "b", body, field_validation="Strict")
    assert error.code == 400
    assert 'strict decoding error: unknown field "spec.' in error.message


def test_wrong_types_name_their_field(cluster: Cluster) -> None:
    error = refusal(cluster.create, "pods", "a", {"spec": {"containers": [{**CONTAINER, "image": 3}], "priority": "x"}})
    assert error.code == 400
    assert [cause.field for cause in error.causes] == ["spec.containers[0].image", "spec.priority"]


def test_who_made_it_cannot_be_claimed(cluster: Cluster) -> None:
    key = "clustersim.io/created-by"
    made = cluster.apply(
        Create("configmaps", "default", {"metadata": {"name": "a", "annotations": {key: "other"}}}),
        creator={key: "mei"},
    )
    assert made["metadata"]["annotations"] == {key: "mei"}
    for patch in ({key: "other"}, {key: None}, None):
        changed = cluster.patch("configmaps", "a", {"metadata": {"annotations": patch}})
        assert changed["metadata"]["annotations"] == {key: "mei"}


def test_the_guard_sees_the_final_object_and_stops_the_write(cluster: Cluster) -> None:
    seen: list[tuple[Stored | None, Draft | None]] = []

    def guard(operation: Operation, old: Stored | None, new: Draft | None) -> None:
        seen.append((old, new))
        raise ApiError(403, "Forbidden", "no")

    before = cluster.store.revision
    body = {"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER]}}
    assert refusal(cluster.apply, Create("pods", "default", body), guard=guard).code == 403
    ((old, new),) = seen
    assert old is None
    assert new is not None
    assert new.object["spec"]["schedulerName"] == "default-scheduler"
    assert cluster.store.revision == before


def test_a_body_of_another_kind_or_place_is_refused(cluster: Cluster) -> None:
    cases = [
        ({"apiVersion": "v1beta1"}, 'no kind "Pod" is registered for version "v1beta1" in scheme'),
        ({"kind": "Wrong"}, 'Wrong in version "v1" cannot be handled as a Pod: no kind "Wrong" is registered'),
        ({"metadata": {"name": "a", "namespace": "other"}}, "does not match the namespace sent on the request"),
    ]
    for body, words in cases:
        error = refusal(cluster.create, "pods", "a", {"spec": {"containers": [CONTAINER]}, **body})
        assert error.code == 400
        assert words in error.message


def test_what_yaml_has_and_json_has_not_is_read_as_json_or_refused(cluster: Cluster) -> None:
    made = cluster.create("configmaps", "a", {"metadata": {"labels": {1: "x"}}, "binaryData": {"k": b"hi"}})
    assert made["metadata"]["labels"] == {"1": "x"}
    assert made["binaryData"] == {"k": "aGk="}
    for body in ({"data": {None: "x"}}, {"data": {(1, 2): "x"}}, {"data": {"a": object()}}):
        assert refusal(cluster.create, "configmaps", "b", body).code == 400


def test_objects_too_large_or_too_deep_are_refused(cluster: Cluster) -> None:
    error = refusal(cluster.create, "replays.clustersim.io", "a", {"spec": {"nodes": "x" * 1_600_000}})
    assert (error.code, error.reason) == (413, "RequestEntityTooLarge")
    nested: dict = {}
    for _ in range(100):
        nested = {"a": nested}
    assert refusal(cluster.create, "pods", "a", nested).code == 400
    assert refusal(cluster.apply, Patch("pods", "default", "a", nested)).code == 400


@pytest.mark.parametrize("subresource", ["log", "binding", "eviction", "exec", "nothing"])
def test_a_subresource_that_is_not_written_writes_nothing(subresource: str) -> None:
    cluster = Cluster()
    before = cluster.pod()
    relabelled = {"metadata": {"labels": {"a": "b"}}}
    assert refusal(cluster.patch, "pods", "web", relabelled, subresource=subresource).code == 405
    changed = {**before, "metadata": {**before["metadata"], "labels": {"a": "b"}}}
    assert refusal(cluster.update, "pods", changed, subresource).code == 405
    assert cluster.get("pods", "web") == before


@pytest.mark.parametrize("subresource", ["status", "log", "nothing"])
def test_only_what_is_posted_to_takes_a_post(subresource: str) -> None:
    cluster = Cluster()
    cluster.pod()
    asked = Create("pods", "default", {"metadata": {"name": "web"}}, subresource)
    assert refusal(cluster.apply, asked).code == 405
