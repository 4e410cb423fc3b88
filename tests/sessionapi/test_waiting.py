"""A person's word on pods that Permit holds, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for

PERMIT = {"profiles": [{"plugins": {"permit": {"enabled": [{"name": "ManualApproval"}]}}}]}


class Teacher:
    """A session of the running installation where every pod waits for approval."""

    def __init__(self, client: httpx.Client, code: str) -> None:
        self.client = client
        self.path = f"/api/sessions/{code}"
        self.pods = f"/clusters/{code}/api/v1/namespaces/default/pods"
        self.queue = f"/clusters/{code}/apis/clustersim.io/v1/queues/kube-scheduler-0"

    def held(self, name: str) -> dict[str, Any]:
        """Create a pod and return it as the queue lists it at Permit."""
        spec = {"containers": [{"name": "c", "image": "nginx"}]}
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        assert self.client.post(self.pods, json=document).status_code == 201

        def found() -> dict[str, Any] | None:
            waiting = (self.client.get(self.queue).json().get("status") or {}).get("waiting") or []
            return next((one for one in waiting if one["pod"] == f"default/{name}"), None)

        return dict(wait_for(found, what="the pod at Permit"))

    def judge(self, uid: str, body: dict[str, Any], expect: int = 200) -> Any:
        answer = self.client.post(f"{self.path}/waiting/{uid}", json=body)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def pod(self, name: str) -> Any:
        return self.client.get(f"{self.pods}/{name}").json()


@pytest.fixture
def teacher(live_server_up: Server) -> Iterator[Teacher]:
    with PatientClient(live_server_up.url) as client:
        session = client.post("/api/sessions", json={"title": "Permit", "template": "three-nodes"}).json()
        client.headers.update(bearer(session["token"]))
        client.cookies.clear()
        one = Teacher(client, session["code"])
        assert client.patch(f"{one.path}/clock", json={"pace": 0}).status_code == 200
        assert client.put(f"{one.path}/scheduler", json=PERMIT).status_code == 200
        yield one


def test_an_allowed_pod_goes_on_and_a_rejected_one_says_who_said_no(teacher: Teacher) -> None:
    held = teacher.held("web")
    assert [one["name"] for one in held["plugins"]] == ["ManualApproval"]
    told = teacher.judge(held["uid"], {"verdict": "allow", "plugin": "ManualApproval"})
    assert (told["outcome"], told["replica"]) == ("allowed", "kube-scheduler-0")
    wait_for(lambda: teacher.pod("web")["spec"].get("nodeName"), what="the binding")
    teacher.judge(held["uid"], {"verdict": "allow"}, expect=404)
    held = teacher.held("other")
    assert teacher.judge(held["uid"], {"verdict": "reject", "message": "too late"})["outcome"] == "rejected"

    def message() -> str:
        conditions = teacher.pod("other")["status"].get("conditions") or []
        return next((one.get("message", "") for one in conditions if one["type"] == "PodScheduled"), "")

    assert wait_for(message, what="the condition") == "0/1 nodes are available: 1 too late."


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "verdict"),
        ({"verdict": "maybe"}, "verdict"),
        ({"verdict": "reject", "message": "x" * 201}, "message"),
        ({"verdict": "allow", "plugin": 3}, "plugin"),
        ({"verdict": "allow", "why": ""}, "why"),
    ],
)
def test_a_verdict_that_is_none_is_refused_by_field(teacher: Teacher, body: dict[str, Any], field: str) -> None:
    refused = teacher.judge("some-uid", body, expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == [field]


def test_nobody_of_that_uid_waits(teacher: Teacher) -> None:
    refused = teacher.judge("some-uid", {"verdict": "allow"}, expect=404)
    assert "no pod of uid 'some-uid' waits at Permit" in refused["message"]
