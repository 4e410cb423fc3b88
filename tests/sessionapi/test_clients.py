"""Clients over HTTP: what they are told to send, what came of it, and who may have how many."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster
from tests.sessionapi.test_roles import SIM, Class, room
from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for

__all__ = ["room"]

SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "store"},
    "spec": {"selector": {"app": "store"}, "ports": [{"port": 80}]},
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one", "labels": {"app": "store"}},
    "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
}


async def run(room: Class, seconds: float) -> None:
    """Let the session's time pass, as its owner does."""
    from asgiref.sync import sync_to_async

    from clustersim.store import open_store, sessions

    def advance() -> None:
        row = sessions.find(room.code)
        assert row is not None
        cluster = Cluster(open_store(row.id))
        cluster.start()
        cluster.advance(cluster.now_ms + round(1000 * seconds))

    await sync_to_async(advance)()


async def test_a_client_is_made_told_of_and_deleted(room: Class) -> None:
    for plural, document in (("services", SERVICE), ("pods", POD)):
        path = f"/api/v1/namespaces/default/{plural}"
        assert (await room.call("teacher", "POST", path, document)).status_code == 201
    made = await room.session("teacher", "POST", "/clients", {"name": "shop", "target": "http://store/", "rate": 10})
    assert made.status_code == 201
    asked = {
        "name": "shop",
        "createdBy": "teacher",
        "from": "cluster",
        "namespace": "default",
        "target": "http://store/",
        "rate": 10.0,
        "timeout": 1.0,
        "count": 0,
    }
    begun = {"state": "Waiting", "message": "", "sent": 0, "success": None, "results": {}}
    assert made.json() == {**asked, **begun}
    again = await room.session("teacher", "POST", "/clients", {"name": "shop", "target": "http://web/"})
    assert again.status_code == 409
    await run(room, 30)
    (listed,) = (await room.session("viewer", "GET", "/clients")).json()
    assert {key: listed[key] for key in asked} == asked
    assert (listed["state"], listed["success"]) == ("Sending", 1.0)
    assert listed["results"]["ok"] > 100
    assert "newest" not in listed
    whole = (await room.session("ann", "GET", "/clients/shop")).json()
    assert {key: whole[key] for key in listed} == listed
    assert whole["pods"][0]["name"] == "default/one"
    newest = whole["newest"]
    assert [one["number"] for one in newest] == list(range(listed["sent"], listed["sent"] - 20, -1))
    assert newest[0]["simTime"] == max(one["simTime"] for one in newest)
    assert (newest[0]["pod"], newest[0]["service"]) == ("default/one", "default/store")
    # The first ones met a Service whose pod was not ready yet.
    assert "refused" in whole["windows"][0]
    assert set(whole["windows"][-1]) == {"simTime", "ok"}
    shown = await room.call("ann", "GET", f"{SIM}/clients/shop")
    assert shown.json()["status"]["sent"] == listed["sent"]
    assert (await room.session("teacher", "DELETE", "/clients/shop")).status_code == 204
    assert (await room.session("teacher", "DELETE", "/clients/shop")).status_code == 404
    assert (await room.session("teacher", "GET", "/clients/shop")).status_code == 404
    assert (await room.session("teacher", "GET", "/clients")).json() == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "target"),
        ({"target": "http://web/", "rate": 51}, "rate"),
        ({"target": "http://web/", "rate": "fast"}, "rate"),
        ({"target": 7}, "target"),
        ({"target": "http://web/", "from": "moon"}, "from"),
        ({"target": "http://web/", "name": "No Name"}, "name"),
        ({"target": "http://web/", "name": 7}, "name"),
        ({"target": "http://web/", "speed": 1}, "speed"),
    ],
)
async def test_a_wrong_field_is_named(room: Class, body: dict[str, Any], field: str) -> None:
    answer = await room.session("teacher", "POST", "/clients", body)
    assert answer.status_code == 422, answer.text
    assert [cause["field"] for cause in answer.json()["details"]["causes"]] == [field]


async def test_a_student_sends_slowly_from_the_own_namespace(room: Class) -> None:
    target = {"target": "http://web.default/"}
    made = await room.session("ann", "POST", "/clients", {**target, "name": "mine"})
    assert (made.status_code, made.json()["namespace"], made.json()["createdBy"]) == (201, "s-ann", "ann")
    for body, word in (
        ({"rate": 6}, "at most 5 requests"),
        ({"namespace": "default"}, "s-ann"),
        ({"from": "node/node-1"}, "nodes are the teacher's"),
    ):
        answer = await room.session("ann", "POST", "/clients", {**target, **body})
        assert (answer.status_code, word in answer.json()["message"]) == (403, True), answer.text
    second = await room.session("ann", "POST", "/clients", {**target, "rate": 5, "from": "outside"})
    assert second.status_code == 201
    third = await room.session("ann", "POST", "/clients", target)
    assert (third.status_code, "at most 2 clients" in third.json()["message"]) == (403, True)
    assert (await room.session("bob", "DELETE", "/clients/mine")).status_code == 403
    assert (await room.session("ann", "DELETE", "/clients/mine")).status_code == 204
    assert (await room.session("teacher", "DELETE", f"/clients/{second.json()['name']}")).status_code == 204


@pytest.mark.parametrize("role", ["viewer", "component"])
async def test_others_make_and_delete_none(room: Class, role: str) -> None:
    assert (
        await room.session("teacher", "POST", "/clients", {"name": "x", "target": "http://web/"})
    ).status_code == 201
    assert (await room.session(role, "POST", "/clients", {"target": "http://web/"})).status_code == 403
    assert (await room.session(role, "DELETE", "/clients/x")).status_code == 403


async def test_kubectl_makes_none(room: Class) -> None:
    document = {
        "apiVersion": "clustersim.io/v1",
        "kind": "Client",
        "metadata": {"name": "x"},
        "spec": {"target": "web"},
    }
    for role in ("teacher", "ann"):
        assert (await room.call(role, "POST", f"{SIM}/clients", document)).status_code == 403


def test_a_client_sends_while_time_runs_and_its_page_is_told(live_server_up: Server) -> None:
    with PatientClient(live_server_up.url) as client:
        opened = client.post("/api/sessions", json={"title": "Clients", "template": "three-nodes"}).json()
        client.headers.update(bearer(opened["token"]))
        client.cookies.clear()
        path = f"/api/sessions/{opened['code']}"
        assert client.patch(f"{path}/clock", json={"paused": True, "rate": 20}).status_code == 200
        # It is taken while time stands, too.
        made = client.post(f"{path}/clients", json={"target": "https://kubernetes/", "rate": 5, "count": 40})
        assert made.status_code == 201, made.text
        name = made.json()["name"]
        assert name.startswith("client-")
        assert client.patch(f"{path}/clock", json={"paused": False}).status_code == 200

        def done() -> Any:
            told = client.get(f"{path}/clients/{name}").json()
            return told if told["state"] == "Done" else None

        told = wait_for(done, what="all requests to be sent")
        assert (told["sent"], told["results"]["ok"], told["success"]) == (40, 40, 1.0)
        assert told["newest"][0]["message"] == "the API server answers"
        (proxy,) = client.get(f"{path}/proxies").json()
        assert {rule["service"] for rule in proxy["rules"]} >= {"default/kubernetes"}
