"""Expressions over HTTP: tried on the cluster, and as part of the scheduler's configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from clustersim.classroom.limits import EXPRESSIONS
from tests.tools.application import bearer, http, opened
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for


class Lab:
    """A session that no worker runs, with three nodes."""

    def __init__(self, client: httpx.AsyncClient, session: dict[str, Any]) -> None:
        self.client = client
        self.code = session["code"]
        self.headers = bearer(session["token"])

    async def ask(self, expression: Any, expect: int = 200, **more: Any) -> Any:
        body = {"expression": expression, "pod": {"metadata": {"name": "x", "labels": {"zone": "a"}}}} | more
        path = f"/api/sessions/{self.code}/expressions"
        answer = await self.client.post(path, json=body, headers=self.headers)
        assert answer.status_code == expect, answer.text
        return answer.json()

    async def create(self, name: str, on: str = "") -> None:
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "500m"}}}
        spec = {"containers": [container], **({"nodeName": on} if on else {})}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec}
        path = f"/clusters/{self.code}/api/v1/namespaces/default/pods"
        answer = await self.client.post(path, json=body, headers=self.headers)
        assert answer.status_code == 201, answer.text


@pytest.fixture
async def lab(application_database: None) -> AsyncIterator[Lab]:
    async with http() as client:
        session = await opened(client, "three-nodes")
        client.cookies.clear()
        yield Lab(client, session)


async def test_an_expression_is_tried_on_every_node(lab: Lab) -> None:
    await lab.create("web", on="n2")
    await lab.create("hopes")
    said = await lab.ask("requested.cpu + requests.cpu", kind="score", pod="default/hopes")
    assert said == {
        "kind": "score",
        "reads": ["requested", "requests"],
        "dependsOn": "pods",
        "nodes": [{"name": f"n{number}", "value": 1000 if number == 2 else 500} for number in (1, 2, 3)],
    }
    said = await lab.ask("pods.all(p, p.metadata.labels.app != 'web')", nodes=["n2", "nowhere"])
    assert said["nodes"] == [{"name": "n2", "value": False}, {"name": "nowhere", "error": "there is no such node"}]
    # A pod that has its node already is placed anew: it does not count beside itself.
    said = await lab.ask("pods.size()", kind="score", pod="default/web", nodes=["n2"])
    assert said["nodes"] == [{"name": "n2", "value": 0}]


async def test_what_has_no_value_is_told_node_by_node(lab: Lab) -> None:
    said = await lab.ask("node.metadata.labels.rack == 'r'", nodes=["n1"])
    assert said["nodes"] == [{"name": "n1", "error": 'Key not found in map : "rack"'}]
    said = await lab.ask("1.0 / 0.0", kind="score", nodes=["n1"])
    assert said["nodes"] == [{"name": "n1", "error": "it comes to inf"}]


@pytest.mark.parametrize(
    ("asked", "code", "field", "text"),
    [
        ({"expression": "pod.spec.x == 1"}, 422, "expression", "Invalid value: line 1, column 9: undefined field 'x'"),
        ({"expression": "true &&\n  foo()"}, 422, "expression", "Invalid value: line 2, column 3: there is no foo"),
        ({"expression": "1"}, 422, "expression", "Invalid value: line 1, column 1: it comes to the type int"),
        ({"expression": " "}, 422, "expression", "give a text"),
        ({"expression": "x" * 2001}, 422, "expression", "give a text of 1 to 2000"),
        ({"kind": "rule"}, 422, "kind", "give one of filter, score"),
        ({"pod": "web"}, 422, "pod", "give <namespace>/<name>"),
        ({"pod": {"spec": {"containers": [{"resources": {"requests": {"cpu": "x"}}}]}}}, 422, "pod", "x"),
        ({"nodes": [1]}, 422, "nodes", "give a list of names"),
        ({"nodes": ["n"] * 101}, 422, "nodes", "at most 100"),
        ({"pod": "default/gone"}, 404, "", "gone"),
        ({"pod": {"spec": 7}}, 400, "", "Pod cannot be read"),
        ({"speed": 1}, 422, "speed", "there is no such field"),
    ],
)
async def test_what_is_refused(lab: Lab, asked: dict[str, Any], code: int, field: str, text: str) -> None:
    refused = await lab.ask(**({"expression": "requests.cpu > 1"} | asked), expect=code)
    if field:
        assert refused["details"]["causes"][0]["field"] == field
        assert text in refused["details"]["causes"][0]["message"]
    else:
        assert text in refused["message"]


async def test_anybody_in_the_session_may_ask_but_not_for_ever(lab: Lab, no_refill: None) -> None:
    answer = await lab.client.post(f"/api/sessions/{lab.code}/expressions", json={"expression": "true"})
    assert answer.status_code == 401
    joined = await lab.client.post(f"/api/sessions/{lab.code}/join", json={"name": "Mei"})
    lab.headers = bearer(joined.json()["token"])
    lab.client.cookies.clear()
    body = {"expression": "true", "pod": {"metadata": {"name": "x"}}, "nodes": []}
    codes: list[int] = []
    for _ in range(EXPRESSIONS.burst + 1):
        answer = await lab.client.post(f"/api/sessions/{lab.code}/expressions", json=body, headers=lab.headers)
        codes.append(answer.status_code)
    assert codes == [200] * EXPRESSIONS.burst + [429]
    assert "expressions tried by one person" in answer.json()["message"]


def test_a_configuration_with_expressions_runs_and_a_wrong_one_is_refused_with_its_place(
    live_server_up: Server,
) -> None:
    with PatientClient(live_server_up.url) as client:
        session = client.post("/api/sessions", json={"title": "CEL", "template": "three-nodes"}).json()
        client.headers.update(bearer(session["token"]))
        client.cookies.clear()
        base = f"/api/sessions/{session['code']}"
        client.patch(f"{base}/clock", json={"pace": 0})
        wait_for(lambda: client.get(f"{base}/scheduler").json()["profiles"], what="the profiles")
        configuration = """
            profiles:
            - plugins: {multiPoint: {enabled: [{name: CEL}]}}
              pluginConfig:
              - name: CEL
                args:
                  filters:
                  - {name: odd, expression: "node.metadata.name != 'n2'", message: "node(s) were even"}
                  - name: small
                    expression: |-
                      requests.cpu
                        < 9999 %s
        """
        refused = client.put(f"{base}/scheduler", content=configuration % "&& pod.spec.colour == 'red'")
        assert refused.status_code == 422
        (cause,) = refused.json()["details"]["causes"]
        assert cause["field"] == "profiles[0].pluginConfig[0].args.filters[1].expression"
        assert cause["message"].startswith("Invalid value: line 2, column 21: undefined field 'colour'")
        answered = client.put(f"{base}/scheduler", content=configuration % "")
        assert answered.status_code == 200, answered.text
        pods = f"/clusters/{session['code']}/api/v1/namespaces/default/pods"
        spec = {"containers": [{"name": "c", "image": "nginx"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}
        assert client.post(pods, json=pod).status_code == 201
        found = wait_for(
            lambda: client.get(f"{base}/decisions", params={"pod": "default/web"}).json(), what="the decision"
        )
        filters = found[0]["result"]["filters"]
        assert "node(s) were even" in str(filters)
        assert found[0]["result"]["chosen"] in ("n1", "n3")


async def test_naming_one_node_many_times_buys_no_more_work(lab: Lab) -> None:
    ones = "[" + ", ".join(["1"] * 40) + "]"
    long = f"{ones}.all(a, {ones}.all(b, a * b > 0))"
    once = (await lab.ask(long, nodes=["n1"]))["nodes"]
    assert once == [{"name": "n1", "value": True}]
    assert (await lab.ask(long, nodes=["n1"] * 100))["nodes"] == once
