"""What each role may do, through the Kubernetes API, the session API and imports alike."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from clustersim.classroom import limits
from tests.tools.application import bearer, http, opened

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
}


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    return {**POD, "metadata": {"name": name}, "spec": {**POD["spec"], **spec}}


def deployment(**spec: Any) -> dict[str, Any]:
    labels = {"app": "d"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {**POD["spec"], **spec}},
        },
    }


@dataclass
class Class:
    """A session with somebody in each role; `call` sends a request to its Kubernetes API."""

    client: httpx.AsyncClient
    code: str
    tokens: dict[str, str]

    async def call(self, role: str, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        headers = {**bearer(self.tokens[role]), **options.pop("headers", {})}
        return await self.client.request(method, f"/clusters/{self.code}{path}", json=body, headers=headers, **options)

    async def session(self, role: str, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return await self.client.request(
            method, f"/api/sessions/{self.code}{path}", json=body, headers=bearer(self.tokens[role]), **options
        )


@pytest.fixture
async def room() -> AsyncIterator[Class]:
    async with http() as client:
        session = await opened(client, "three-nodes")
        path = f"/api/sessions/{session['code']}"
        tokens = {"teacher": session["token"]}
        client.cookies.clear()
        for role in ("viewer", "component"):
            body = {"role": role, "name": role}
            answer = await client.post(f"{path}/people", json=body, headers=bearer(tokens["teacher"]))
            tokens[role] = answer.json()["token"]
        for name in ("ann", "bob"):
            tokens[name] = (await client.post(f"{path}/join", json={"name": name})).json()["token"]
            client.cookies.clear()
        yield Class(client, session["code"], tokens)


ANN = "/api/v1/namespaces/s-ann"
ANN_APPS = "/apis/apps/v1/namespaces/s-ann"
MERGE = {"Content-Type": "application/merge-patch+json"}

SIM = "/apis/clustersim.io/v1"
PHANTOM = {"metadata": {"name": "ghost"}, "spec": {"component": "kube-scheduler"}}

COMMANDS: list[tuple[str, str, str, Any]] = [
    (role, method, SIM + path, body)
    for role in ("teacher", "ann", "component", "viewer")
    for method, path, body in (
        ("POST", "/replicas", PHANTOM),
        ("POST", "/clocks", {"metadata": {"name": "another"}}),
        ("POST", "/replays", {"metadata": {"name": "x"}, "spec": {"pods": ""}}),
        ("PUT", "/replicas/kube-scheduler-0", {**PHANTOM, "metadata": {"name": "kube-scheduler-0"}}),
        ("PATCH", "/replicas/kube-scheduler-0", {"spec": {"fault": {"kind": "crash"}}}),
        ("PATCH", "/replicas/kube-scheduler-0/status", {"status": {"cycle": "x"}}),
        ("PATCH", "/clocks/clock", {"spec": {"paused": True}}),
        ("PATCH", "/clocks/clock/status", {"status": {"simTimeMs": 999_999_999}}),
        ("PATCH", "/schedulerconfigs/default", {"spec": {"era": "round-robin"}}),
        ("DELETE", "/clocks/clock", None),
        ("DELETE", "/clocks", None),
        ("DELETE", "/replicas/kube-scheduler-0", None),
        ("DELETE", "/queues/kube-scheduler-0", None),
        ("DELETE", "/schedulerconfigs/default", None),
    )
]
"""What the session API alone does."""

REFUSED: list[tuple[str, str, str, Any]] = [
    ("ann", "POST", "/api/v1/namespaces", {"metadata": {"name": "x"}}),
    ("ann", "POST", "/api/v1/nodes", {"metadata": {"name": "x"}}),
    ("ann", "PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}}),
    ("ann", "DELETE", "/api/v1/nodes/n1", None),
    ("ann", "PUT", "/api/v1/nodes/n1/status", {"metadata": {"name": "n1"}}),
    ("ann", "DELETE", "/api/v1/namespaces/s-ann", None),
    ("ann", "POST", "/api/v1/namespaces/default/pods", POD),
    ("ann", "POST", "/api/v1/namespaces/s-bob/pods", POD),
    ("ann", "DELETE", "/apis/apps/v1/namespaces/default/deployments/web", None),
    ("ann", "PATCH", "/apis/apps/v1/namespaces/default/deployments/web/scale", {"spec": {"replicas": 0}}),
    ("ann", "POST", f"{ANN}/pods", pod(nodeName="n1")),
    ("ann", "POST", f"{ANN}/pods", pod(priorityClassName="system-node-critical")),
    ("ann", "POST", f"{ANN_APPS}/deployments", deployment(nodeName="n1")),
    ("ann", "POST", f"{ANN_APPS}/deployments", deployment(priorityClassName="system-cluster-critical")),
    (
        "ann",
        "POST",
        f"{ANN}/pods/mine/binding",
        {"target": {"kind": "Node", "name": "n1"}, "metadata": {"name": "mine"}},
    ),
    ("ann", "PATCH", f"{ANN}/pods/mine/status", {"status": {"phase": "Running"}}),
    ("ann", "PATCH", f"{ANN}/resourcequotas/student", {"spec": {"hard": {"pods": "9999"}}}),
    ("ann", "DELETE", f"{ANN}/resourcequotas/student", None),
    ("ann", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "x"}, "value": 5}),
    ("ann", "POST", "/api/v1/persistentvolumes", {"metadata": {"name": "x"}}),
    ("ann", "POST", "/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "x"}, "provisioner": "a/b"}),
    (
        "ann",
        "POST",
        "/apis/storage.k8s.io/v1/namespaces/s-ann/csistoragecapacities",
        {"metadata": {"name": "x"}, "storageClassName": "a"},
    ),
    *COMMANDS,
    ("ann", "DELETE", "/api/v1/nodes", None),
    ("ann", "DELETE", "/api/v1/namespaces/default/pods", None),
    ("viewer", "POST", "/api/v1/namespaces/default/pods", POD),
    ("viewer", "POST", f"{ANN}/pods", POD),
    ("viewer", "DELETE", "/api/v1/nodes/n1", None),
    ("component", "POST", "/api/v1/namespaces/default/pods", POD),
    ("component", "DELETE", "/api/v1/nodes/n1", None),
    ("component", "PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}}),
]


@pytest.mark.parametrize(("role", "method", "path", "body"), REFUSED)
async def test_refused_and_unchanged(room: Class, role: str, method: str, path: str, body: Any) -> None:
    made = await room.call("ann", "POST", f"{ANN}/pods", pod("mine"))
    assert made.status_code == 201, made.text
    before = (await room.session("teacher", "GET", "")).json()["revision"]
    answer = await room.call(role, method, path, body, headers=MERGE if method == "PATCH" else {})
    assert answer.status_code == 403, answer.text
    assert (answer.json()["kind"], answer.json()["reason"]) == ("Status", "Forbidden")
    assert (await room.session("teacher", "GET", "")).json()["revision"] == before


async def test_command_objects_are_refused_in_upstreams_words_and_can_i_says_so(room: Class) -> None:
    refused = (await room.call("teacher", "DELETE", f"{SIM}/clocks/clock")).json()
    assert refused["message"] == (
        'clocks.clustersim.io "clock" is forbidden: User "teacher" cannot delete resource "clocks" '
        'in API group "clustersim.io" at the cluster scope'
    )
    assert (refused["details"]["name"], refused["details"]["group"]) == ("clock", "clustersim.io")
    asked = {"spec": {"resourceAttributes": {"verb": "delete", "group": "clustersim.io", "resource": "clocks"}}}
    review = await room.call("teacher", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", asked)
    assert review.json()["status"]["allowed"] is False
    assert (await room.call("teacher", "GET", f"{SIM}/clocks/clock")).status_code == 200


async def test_a_file_brings_no_command_objects(room: Class) -> None:
    ghost = {"apiVersion": "clustersim.io/v1", "kind": "Replica", **PHANTOM}
    answered = (await room.session("teacher", "POST", "/import", {"kind": "List", "items": [ghost, pod("p")]})).json()
    assert [one["action"] for one in answered["results"]] == ["failed", "created"]
    error = answered["results"][0]["error"]
    assert error["code"] == 403
    assert "leave it out" in error["message"]
    assert (await room.call("teacher", "GET", f"{SIM}/replicas/ghost")).status_code == 404


async def test_a_student_works_in_the_own_namespace_and_is_named_as_author(room: Class) -> None:
    made = (await room.call("ann", "POST", f"{ANN}/pods", POD)).json()
    assert made["metadata"]["annotations"]["clustersim.io/created-by"] == "ann"
    claim = {"metadata": {"annotations": {"clustersim.io/created-by": "bob"}}}
    await room.call("ann", "PATCH", f"{ANN}/pods/p", claim, headers=MERGE)
    kept = (await room.call("ann", "GET", f"{ANN}/pods/p")).json()
    assert kept["metadata"]["annotations"]["clustersim.io/created-by"] == "ann"
    assert (await room.call("ann", "POST", f"{ANN_APPS}/deployments", deployment())).status_code == 201
    scale = await room.call("ann", "PATCH", f"{ANN_APPS}/deployments/d/scale", {"spec": {"replicas": 3}}, headers=MERGE)
    assert scale.status_code == 200, scale.text
    labelled = await room.call("ann", "PATCH", f"{ANN}/pods/p", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)
    assert labelled.status_code == 200
    assert (await room.call("ann", "DELETE", f"{ANN}/pods/p")).status_code in (200, 202)


async def test_students_and_viewers_read_the_cluster(room: Class) -> None:
    for role in ("ann", "viewer", "component"):
        for path in ("/api/v1/nodes", "/api/v1/pods", "/apis/apps/v1/deployments", f"{ANN}/pods"):
            assert (await room.call(role, "GET", path)).status_code == 200, f"{role} {path}"


async def test_a_teacher_changes_anything_but_a_components_tasks_are_open_to_components(room: Class) -> None:
    assert (await room.call("teacher", "POST", f"{ANN}/pods", pod("t", nodeName="n1"))).status_code == 201
    assert (await room.call("ann", "POST", f"{ANN}/pods", POD)).status_code == 201
    target = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n2"}}
    assert (await room.call("component", "POST", f"{ANN}/pods/p/binding", target)).status_code == 201
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    assert (await room.call("component", "POST", leases, lease)).status_code == 201
    status = {"status": {"phase": "Running"}}
    patched = await room.call("component", "PATCH", f"{ANN}/pods/p/status", status, headers=MERGE)
    assert patched.status_code == 200, patched.text


@pytest.mark.parametrize("role", ["ann", "viewer", "component"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/clock", {"paused": True}),
        ("POST", "/clock/step", {"by": "event"}),
        ("POST", "/replicas/kube-scheduler-0/fault", {"kind": "crash"}),
        ("POST", "/people", {"role": "viewer", "name": "x"}),
        ("POST", "/rotate", {}),
        ("PUT", "/scheduler", {"era": "round-robin"}),
        ("POST", "/waiting/some-uid", {"verdict": "allow"}),
        ("POST", "/replays", {"nodes": "sn", "pods": "name"}),
    ],
)
async def test_only_the_teacher_commands(room: Class, role: str, method: str, path: str, body: Any) -> None:
    answer = await room.session(role, method, path, body)
    assert answer.status_code == 403, answer.text


async def test_an_import_obeys_the_same_rules(room: Class) -> None:
    objects = [
        pod("fine"),
        pod("picky", nodeName="n1"),
        {**pod("elsewhere"), "metadata": {"name": "elsewhere", "namespace": "default"}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}},
        deployment(nodeName="n1"),
    ]
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    answer = (await room.session("ann", "POST", "/import", document)).json()
    assert [result["action"] for result in answer["results"]] == ["created", *["failed"] * 4]
    assert {result["error"]["code"] for result in answer["results"][1:]} == {403}
    assert answer["results"][0]["namespace"] == "s-ann"
    for role in ("viewer", "component"):
        assert (await room.session(role, "POST", "/import", document)).status_code == 403


async def test_a_students_file_is_bounded_as_a_whole(room: Class) -> None:
    many = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}}
        for number in range(limits.IMPORTED.burst + 1)
    ]
    answer = await room.session("ann", "POST", "/import", {"kind": "List", "apiVersion": "v1", "items": many})
    assert answer.status_code == 429
    assert (await room.call("ann", "GET", f"{ANN}/configmaps")).json()["items"] == []


async def test_tokens_stay_out_of_the_log(room: Class, caplog: pytest.LogCaptureFixture) -> None:
    await room.session("ann", "GET", "")
    await room.call("ann", "GET", "/api/v1/pods")
    written = json.dumps([record.getMessage() for record in caplog.records])
    assert not any(token in written for token in room.tokens.values())


async def test_a_student_who_writes_too_fast_is_told_when_to_go_on(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STUDENT_WRITES", limits.Rate(5, 0.001, "writes of one student in this test"))
    path = "/api/v1/namespaces/s-bob/configmaps"
    for number in range(5):
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}}
        assert (await room.call("bob", "POST", path, document)).status_code == 201
    answer = await room.call("bob", "POST", path, {**document, "metadata": {"name": "one-more"}})
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) >= 1
    assert (await room.call("bob", "GET", path)).status_code == 200, "reading goes on"
    assert (await room.call("ann", "POST", f"{ANN}/pods", POD)).status_code == 201
    assert (await room.call("teacher", "POST", path, {**document, "metadata": {"name": "t"}})).status_code == 201
