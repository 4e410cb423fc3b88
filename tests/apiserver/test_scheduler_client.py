"""An unmodified kube-scheduler v1.34 on this API: what it lists, watches and writes, as client-go sends it.

Its clients ask for protobuf before JSON (`Accept`), send protobuf bodies, list with `resourceVersion=0` and pages of
500, then watch with bookmarks. Requests: cmd/kube-scheduler/app/server.go, pkg/scheduler/eventhandlers.go,
client-go's tools/cache/reflector.go, tools/leaderelection, tools/events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.tools.apiserver import Api
from tests.tools.messages import body, encoded

ACCEPT = "application/vnd.kubernetes.protobuf,application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"

INFORMERS = (
    "/api/v1/nodes",
    "/api/v1/pods",
    "/api/v1/services",
    "/api/v1/namespaces",
    "/api/v1/persistentvolumes",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/replicationcontrollers",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/apis/policy/v1/poddisruptionbudgets",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/storage.k8s.io/v1/csidrivers",
    "/apis/storage.k8s.io/v1/csistoragecapacities",
    "/apis/storage.k8s.io/v1/volumeattachments",
    "/apis/resource.k8s.io/v1/resourceclaims",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/resource.k8s.io/v1/deviceclasses",
)
"""All that its informers wait for before it takes part in the election (WaitForCacheSync)."""

PODS = "/api/v1/namespaces/default/pods"


def as_scheduler(api: Api, method: str, path: str, data: Any = None, content: str = PROTOBUF) -> tuple[int, Any]:
    status, answer, headers = api.request(
        method, path, data, role="component", content_type=content, headers={"Accept": ACCEPT}
    )
    assert headers["Content-Type"] == PROTOBUF
    return status, answer


def made_pod(api: Api, name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "nginx"}], "schedulerName": "from-outside"}
    status, document, _ = api.request("POST", PODS, {"metadata": {"name": name}, "spec": spec})
    assert status == 201, document
    return dict(document)


Told = dict[str, Future[tuple[Any, list[dict[str, Any]]]]]
"""Path → the list and the watch that an informer got there."""


def informed(api: Api, inform: Callable[[Api, str], tuple[Any, list[dict[str, Any]]]]) -> Iterator[Told]:
    """Yield what all informers got, who ask at once, as a scheduler's do: each watch lasts its whole second."""
    with ThreadPoolExecutor(len(INFORMERS)) as pool:
        yield {path: pool.submit(inform, api, path) for path in INFORMERS}


def listed_then_watched(api: Api, path: str) -> tuple[Any, list[dict[str, Any]]]:
    status, listed = as_scheduler(api, "GET", f"{path}?limit=500&resourceVersion=0")
    assert status == 200
    revision = listed["metadata"]["resourceVersion"]
    watch = f"{path}?allowWatchBookmarks=true&resourceVersion={revision}&timeout=1s&timeoutSeconds=1&watch=true"
    return listed, list(api.watch(watch, role="component", accept=ACCEPT))


def streamed_then_listed(api: Api, path: str) -> tuple[Any, list[dict[str, Any]]]:
    watch = f"{path}?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true"
    seen = list(api.watch(f"{watch}&timeoutSeconds=1&watch=true", role="component", accept=ACCEPT))
    return as_scheduler(api, "GET", path)[1], seen


@pytest.fixture(scope="module")
def watched(sqlite_api: Api) -> Iterator[Told]:
    yield from informed(sqlite_api, listed_then_watched)


@pytest.fixture(scope="module")
def streamed(sqlite_api: Api) -> Iterator[Told]:
    yield from informed(sqlite_api, streamed_then_listed)


@pytest.mark.parametrize("path", INFORMERS)
def test_every_informer_lists_then_watches(watched: Told, path: str) -> None:
    listed, seen = watched[path].result()
    assert listed["kind"][-4:] == "List"
    revision = int(listed["metadata"]["resourceVersion"])
    assert revision > 0
    assert {event["type"] for event in seen} <= {"BOOKMARK", "ADDED", "MODIFIED", "DELETED"}
    assert all(int(event["object"]["metadata"]["resourceVersion"]) >= revision for event in seen)


@pytest.mark.parametrize("path", INFORMERS)
def test_every_informer_may_stream_its_first_list(streamed: Told, path: str) -> None:
    """The feature WatchListClient: a watch that begins with what there is, and a bookmark that ends it."""
    listed, seen = streamed[path].result()
    (end,) = [
        event
        for event in seen
        if (event["object"]["metadata"].get("annotations") or {}).get("k8s.io/initial-events-end") == "true"
    ]
    assert end["type"] == "BOOKMARK"
    names = {event["object"]["metadata"]["name"] for event in seen if event["type"] == "ADDED"}
    assert {one["metadata"]["name"] for one in listed.get("items", [])} <= names | {
        event["object"]["metadata"].get("name") for event in seen
    }


def test_its_own_pods_alone_are_watched_by_phase(sqlite_api: Api) -> None:
    made_pod(sqlite_api, "unfinished")
    selector = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
    status, listed = as_scheduler(sqlite_api, "GET", f"/api/v1/pods?{selector}&limit=500&resourceVersion=0")
    assert status == 200
    assert "unfinished" in {one["metadata"]["name"] for one in listed["items"]}


def test_it_takes_the_lease_and_renews_it(sqlite_api: Api) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    assert as_scheduler(sqlite_api, "GET", f"{leases}/outside?timeout=5s")[0] == 404

    def lease(seconds: int, version: str = "") -> bytes:
        now = encoded(f1=1_767_225_600 + seconds, f2=1000)
        metadata = encoded(f1="outside", f3="kube-system", **({"f6": version} if version else {}))
        spec = encoded(f1="host_1234", f2=15, f3=encoded(f1=1_767_225_600), f4=now, f5=0)
        return body("coordination.k8s.io/v1", "Lease", encoded(f1=metadata, f2=spec))

    status, made = as_scheduler(sqlite_api, "POST", f"{leases}?timeout=5s", lease(0))
    assert (status, made["spec"]["holderIdentity"], made["spec"]["leaseDurationSeconds"]) == (201, "host_1234", 15)
    version = made["metadata"]["resourceVersion"]
    status, renewed = as_scheduler(sqlite_api, "PUT", f"{leases}/outside?timeout=5s", lease(2, version))
    assert (status, renewed["spec"]["renewTime"]) == (200, "2026-01-01T00:00:02.000001Z")
    status, refused = as_scheduler(sqlite_api, "PUT", f"{leases}/outside?timeout=5s", lease(4, version))
    assert (status, refused["reason"]) == (409, "Conflict")


def test_it_binds_once(sqlite_api: Api) -> None:
    sqlite_api.request("POST", "/api/v1/nodes", {"metadata": {"name": "outside-node"}})
    pod = made_pod(sqlite_api, "to-bind")
    metadata = encoded(f1="to-bind", f3="default", f5=pod["metadata"]["uid"])
    target = encoded(f1="Node", f3="outside-node")
    binding = body("v1", "Binding", encoded(f1=metadata, f2=target))
    status, answer = as_scheduler(sqlite_api, "POST", f"{PODS}/to-bind/binding", binding)
    assert (status, answer["status"]) == (201, "Success")
    assert as_scheduler(sqlite_api, "GET", f"{PODS}/to-bind")[1]["spec"]["nodeName"] == "outside-node"
    status, refused = as_scheduler(sqlite_api, "POST", f"{PODS}/to-bind/binding", binding)
    assert (status, refused["reason"]) == (409, "Conflict")


def test_it_says_why_a_pod_waits_and_where_it_is_nominated(sqlite_api: Api) -> None:
    pod = made_pod(sqlite_api, "waits")
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu.",
        "lastProbeTime": None,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch = {
        "metadata": {"uid": pod["metadata"]["uid"]},
        "status": {"$setElementOrder/conditions": [{"type": "PodScheduled"}], "conditions": [condition]},
    }
    strategic = "application/strategic-merge-patch+json"
    status, patched = as_scheduler(sqlite_api, "PATCH", f"{PODS}/waits/status", patch, strategic)
    assert (status, patched["status"]["conditions"][-1]["reason"]) == (200, "Unschedulable")
    nominate = {"status": {"nominatedNodeName": "outside-node"}}
    status, patched = as_scheduler(sqlite_api, "PATCH", f"{PODS}/waits/status", nominate, strategic)
    assert (status, patched["status"]["nominatedNodeName"]) == (200, "outside-node")


def test_it_tells_events_and_counts_them_up(sqlite_api: Api) -> None:
    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    regarding = encoded(f1="Pod", f2="default", f3="waits", f5="v1")
    message = encoded(
        f1=encoded(f1="waits.17", f3="default"),
        f2=encoded(f1=1_767_225_600),
        f4="from-outside",
        f5="from-outside-host",
        f6="Scheduling",
        f7="FailedScheduling",
        f8=regarding,
        f10="0/1 nodes are available",
        f11="Warning",
    )
    status, made = as_scheduler(sqlite_api, "POST", events, body("events.k8s.io/v1", "Event", message))
    assert (status, made["reason"], made["note"]) == (201, "FailedScheduling", "0/1 nodes are available")
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:10.000000Z"}}
    strategic = "application/strategic-merge-patch+json"
    status, patched = as_scheduler(sqlite_api, "PATCH", f"{events}/waits.17", series, strategic)
    assert (status, patched["series"]["count"]) == (200, 2)


def test_it_removes_victims(sqlite_api: Api) -> None:
    made_pod(sqlite_api, "victim")
    condition = {
        "status": {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
    }
    strategic = "application/strategic-merge-patch+json"
    assert as_scheduler(sqlite_api, "PATCH", f"{PODS}/victim/status", condition, strategic)[0] == 200
    options = body("v1", "DeleteOptions", b"")
    assert as_scheduler(sqlite_api, "DELETE", f"{PODS}/victim", options)[0] == 200


def test_its_own_server_has_tokens_and_access_reviewed(sqlite_api: Api) -> None:
    token = body("authentication.k8s.io/v1", "TokenReview", encoded(f2=encoded(f1="nothing")))
    status, answer = as_scheduler(sqlite_api, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", token)
    assert (status, answer["kind"]) == (201, "TokenReview")
    asked = encoded(f2=encoded(f1="/metrics", f2="get"), f3="nobody")
    access = body("authorization.k8s.io/v1", "SubjectAccessReview", encoded(f2=asked))
    status, answer = as_scheduler(sqlite_api, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", access)
    assert (status, answer["status"]["allowed"]) == (201, False)


def test_it_may_no_more_than_upstreams_role_lets_it(sqlite_api: Api) -> None:
    for method, path in (("POST", PODS), ("DELETE", "/api/v1/nodes/outside-node"), ("DELETE", f"{PODS}?limit=1")):
        status, refused, _ = sqlite_api.request(method, path, {"metadata": {"name": "more"}}, role="component")
        assert (status, refused["reason"]) == (403, "Forbidden")
