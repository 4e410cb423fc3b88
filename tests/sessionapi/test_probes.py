"""A person's word on what probes find, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.tools.application import bearer, http, joined, opened

CONTAINERS = [
    {
        "name": "main",
        "image": "i",
        "livenessProbe": {"tcpSocket": {"port": 1}},
        "readinessProbe": {"tcpSocket": {"port": 1}},
    },
    {"name": "side", "image": "i", "livenessProbe": {"tcpSocket": {"port": 1}}},
]


class Class:
    """A session with a teacher and a student, and a pod in each one's namespace."""

    def __init__(self, client: httpx.AsyncClient, code: str, tokens: dict[str, str], home: str) -> None:
        self.client, self.code, self.tokens, self.home = client, code, tokens, home

    async def call(self, role: str, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self.client.request(method, path, json=body, headers=bearer(self.tokens[role]))

    async def probes(self, role: str, namespace: str, body: Any = None, name: str = "web") -> httpx.Response:
        path = f"/api/sessions/{self.code}/probes/{namespace}/{name}"
        return await self.call(role, "GET" if body is None else "PUT", path, body)


@pytest.fixture
async def room() -> AsyncIterator[Class]:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code = session["code"]
        seat = await joined(client, session, "Stu")
        one = Class(client, code, {"teacher": session["token"], "student": seat["token"]}, seat["namespace"])
        for namespace, role in (("default", "teacher"), (one.home, "student")):
            path = f"/clusters/{code}/api/v1/namespaces/{namespace}/pods"
            body = {"metadata": {"name": "web"}, "spec": {"containers": CONTAINERS}}
            made = await one.call(role, "POST", path, body)
            assert made.status_code == 201, made.text
        yield one


async def test_a_word_on_one_container_and_on_all(room: Class) -> None:
    first = (await room.probes("teacher", "default")).json()["containers"]
    assert first == {"main": {"liveness": "succeed", "readiness": "succeed"}, "side": {"liveness": "succeed"}}
    told = await room.probes("teacher", "default", {"container": "side", "liveness": "fail"})
    assert told.status_code == 200, told.text
    assert told.json()["containers"]["side"] == {"liveness": "fail"}
    assert told.json()["containers"]["main"]["liveness"] == "succeed"
    await room.probes("teacher", "default", {"liveness": "fail", "readiness": "fail"})
    await room.probes("teacher", "default", {"container": "main", "liveness": "succeed"})
    pod = (await room.call("teacher", "GET", f"/clusters/{room.code}/api/v1/namespaces/default/pods/web")).json()
    assert pod["metadata"]["annotations"]["clustersim.io/failing-probes"] == "main/readiness,side/liveness"


async def test_students_click_at_home_alone(room: Class) -> None:
    body = {"liveness": "fail"}
    assert (await room.probes("student", room.home, body)).status_code == 200
    assert (await room.probes("student", "default", body)).status_code == 403
    assert (await room.probes("student", "default")).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "liveness"),
        ({"liveness": "maybe"}, "liveness"),
        ({"liveness": None}, "liveness"),
        ({"container": "side", "readiness": "fail"}, "readiness"),
        ({"container": 3, "liveness": "fail"}, "liveness"),
        ({"startup": "fail"}, "startup"),
        ({"alive": "fail"}, "alive"),
    ],
)
async def test_what_cannot_be_meant_is_refused(room: Class, body: Any, field: str) -> None:
    refused = await room.call("teacher", "PUT", f"/api/sessions/{room.code}/probes/default/web", body)
    assert refused.status_code == 422, refused.text
    assert refused.json()["details"]["causes"][0]["field"] == field
    assert (await room.probes("teacher", "default", name="none")).status_code == 404
