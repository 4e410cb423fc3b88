"""Opening sessions, getting in, and what each answer holds."""

from __future__ import annotations

import base64
import re

import httpx
import pytest
import yaml
from django.conf import settings

from clustersim.classroom import people
from clustersim.classroom.templates import TEMPLATES
from clustersim.sessionapi import addresses
from tests.tools.application import bearer, http, opened

CODE = re.compile(r"[ACDEFGHJKMNPQRTWXY234679]{3}-[ACDEFGHJKMNPQRTWXY234679]{3}")
ORIGIN = {"Origin": "http://127.0.0.1:8000"}


async def test_opening_answers_with_everything_to_go_on() -> None:
    async with http() as client:
        answer = await client.post("/api/sessions", json={"title": "Zones", "template": "zones", "seed": 42})
        assert answer.status_code == 201
        body = answer.json()
        code = body["code"]
        assert CODE.fullmatch(code)
        assert body["role"] == "teacher"
        assert body["url"].startswith(f"http://127.0.0.1:8000/s/{code}#")
        assert body["joinUrl"] == f"http://127.0.0.1:8000/join/{code}"
        assert body["apiServer"] == f"https://127.0.0.1:{settings.TLS_PORT}/clusters/{code}"
        cookie = answer.headers["set-cookie"]
        assert f"clustersim-{code.replace('-', '')}={body['token']}" in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        info = (await client.get(f"/api/sessions/{code}")).json()
        assert (info["title"], info["template"], info["seed"], info["role"]) == ("Zones", "zones", 42, "teacher")
        assert info["me"]["slug"] == "teacher"
        assert info["release"] == settings.RELEASE
        assert [person["name"] for person in info["people"]] == ["Teacher"]


@pytest.mark.parametrize("name", list(TEMPLATES))
async def test_every_template_opens_with_its_nodes_and_workloads(name: str) -> None:
    template = TEMPLATES[name]
    async with http() as client:
        session = await opened(client, name)
        api = f"/clusters/{session['code']}"
        nodes = (await client.get(f"{api}/api/v1/nodes")).json()["items"]
        deployments = (await client.get(f"{api}/apis/apps/v1/namespaces/default/deployments")).json()["items"]
        clock = (await client.get(f"{api}/apis/clustersim.io/v1/clocks/clock")).json()
        replicas = (await client.get(f"/api/sessions/{session['code']}/replicas")).json()
    assert len(nodes) == sum(group.count for group in template.nodes)
    assert all(node["status"]["allocatable"]["cpu"] for node in nodes)
    assert {item["metadata"]["name"]: item["spec"]["replicas"] for item in deployments} == {
        workload.name: workload.replicas for workload in template.workloads
    }
    assert clock["spec"]["pace"] == template.pace
    components = [replica["component"] for replica in replicas]
    assert components.count("kube-scheduler") == components.count("kube-controller-manager") == template.replicas


async def test_codes_forgive_case_and_dash() -> None:
    async with http() as client:
        session = await opened(client)
        for spelling in (
            session["code"].lower(),
            session["code"].replace("-", ""),
            session["code"].lower()[:3] + " " + session["code"][4:],
        ):
            answer = await client.get(f"/api/sessions/{spelling}", headers=bearer(session["token"]))
            assert answer.status_code == 200, spelling
            assert answer.json()["code"] == session["code"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"template": "empty"}, "title"),
        ({"title": "", "template": "empty"}, "title"),
        ({"title": "x" * 200, "template": "empty"}, "title"),
        ({"title": 7, "template": "empty"}, "title"),
        ({"title": "T"}, "template"),
        ({"title": "T", "template": "nodes-9"}, "template"),
        ({"title": "T", "template": "empty", "seed": -1}, "seed"),
        ({"title": "T", "template": "empty", "seed": 2**53}, "seed"),
        ({"title": "T", "template": "empty", "seed": "42"}, "seed"),
        ({"title": "T", "template": "empty", "seed": True}, "seed"),
        ({"title": "T", "template": "empty", "colour": "red"}, "colour"),
        ({"title": "T", "template": "import"}, "manifest"),
        ({"title": "T", "template": "import", "manifest": 3}, "manifest"),
        ({"title": "T", "template": "empty", "name": "   "}, "name"),
    ],
)
async def test_a_wrong_field_is_named(body: dict[str, object], field: str) -> None:
    async with http() as client:
        answer = await client.post("/api/sessions", json=body)
    assert answer.status_code == 422, answer.text
    status = answer.json()
    assert status["kind"] == "Status"
    assert status["details"]["kind"] in ("Request", "Session")
    assert [cause["field"] for cause in status["details"]["causes"]] == [field]


@pytest.mark.parametrize(
    ("content", "headers", "code"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b'"' + b"x" * 9_000_000 + b'"', {}, 413),
        (b"title=T", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
    ids=["no JSON", "no object", "too deep", "too large", "a form"],
)
async def test_a_body_that_cannot_be_read_is_refused(content: bytes, headers: dict[str, str], code: int) -> None:
    async with http() as client:
        answer = await client.post("/api/sessions", content=content, headers=headers)
    assert answer.status_code == code
    assert answer.json()["kind"] == "Status"


async def test_students_join_get_a_namespace_and_keep_their_seat() -> None:
    async with http() as teacher, http() as client, http() as other:
        session = await opened(teacher)
        path = f"/api/sessions/{session['code']}"
        first = await client.post(f"{path}/join", json={"name": "  Mei   K. "})
        assert first.status_code == 201
        student = first.json()
        assert (student["role"], student["name"], student["slug"], student["namespace"]) == (
            "student",
            "Mei K.",
            "mei-k",
            "s-mei-k",
        )
        again = await client.post(f"{path}/join", json={"name": "Mei"}, headers=ORIGIN)
        assert again.status_code == 200
        assert again.json()["token"] == student["token"]
        assert again.json()["id"] == student["id"]
        twin = (await other.post(f"{path}/join", json={"name": "mei k"})).json()
        assert twin["slug"] == "mei-k-2"
        quota = await client.get(f"/clusters/{session['code']}/api/v1/namespaces/s-mei-k/resourcequotas")
        assert [item["metadata"]["name"] for item in quota.json()["items"]] == ["student"]


@pytest.mark.parametrize(
    ("name", "slug"),
    [("José Ñandú", "jose-nandu"), ("<b>Bob</b>", "b-bob-b"), ("Session", "session-2"), ("A" * 40, "a" * 20)],
)
async def test_slugs_are_ascii(name: str, slug: str) -> None:
    async with http() as client, http() as other:
        session = await opened(client)
        answer = await other.post(f"/api/sessions/{session['code']}/join", json={"name": name})
    assert answer.json()["slug"] == slug
    assert answer.json()["name"] == name


async def test_a_name_without_ascii_gets_a_random_slug() -> None:
    async with http() as client, http() as other:
        session = await opened(client)
        answer = await other.post(f"/api/sessions/{session['code']}/join", json={"name": "梅"})
    assert re.fullmatch(r"p-[a-z0-9]{5}", answer.json()["slug"])


@pytest.mark.parametrize("name", ["", " ", "\u202e\u200b", "x" * 41, None, 5, ["a"]])
async def test_names_that_are_none_are_refused(name: object) -> None:
    async with http() as client, http() as other:
        session = await opened(client)
        answer = await other.post(f"/api/sessions/{session['code']}/join", json={"name": name})
    assert answer.status_code == 422
    assert answer.json()["details"]["causes"][0]["field"] == "name"


async def test_the_link_signs_in_until_it_is_rotated() -> None:
    async with http() as client, http() as fresh:
        session = await opened(client)
        path, secret = f"/api/sessions/{session['code']}", session["url"].partition("#")[2]
        entered = await fresh.post(f"{path}/enter", json={"secret": secret})
        assert entered.status_code == 200
        assert entered.json()["role"] == "teacher"
        assert (await fresh.get(path)).json()["role"] == "teacher"
        rotated = (await client.post(f"{path}/rotate", headers=ORIGIN)).json()["url"].partition("#")[2]
        assert rotated != secret
        assert (await fresh.post(f"{path}/enter", json={"secret": secret})).status_code == 401
        assert (await fresh.post(f"{path}/enter", json={"secret": rotated})).status_code == 200
        assert (await fresh.get(path)).status_code == 200


async def test_a_seat_keeps_so_many_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "TOKENS_PER_SEAT_MAX", 3)
    async with http() as client:
        session = await opened(client)
        path, secret = f"/api/sessions/{session['code']}", session["url"].partition("#")[2]
        tokens = [session["token"]]
        for _ in range(3):
            tokens.append((await client.post(f"{path}/enter", json={"secret": secret})).json()["token"])
        client.cookies.clear()
        codes = [(await client.get(path, headers=bearer(token))).status_code for token in tokens]
        assert codes == [401, 200, 200, 200]


async def test_leaving_withdraws_the_token_at_once() -> None:
    async with http() as client, http() as other:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}"
        token = (await other.post(f"{path}/join", json={"name": "Bo"})).json()["token"]
        assert (await other.get(path)).status_code == 200
        assert (await other.post(f"{path}/leave", headers=ORIGIN)).status_code == 204
        assert (await client.get(path, headers=bearer(token))).status_code == 401
        assert [person["name"] for person in (await client.get(f"{path}/people")).json()] == ["Teacher"]


async def test_people_are_renamed_added_and_removed() -> None:
    async with http() as client, http() as other:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}"
        student = (await other.post(f"{path}/join", json={"name": "Bo"})).json()
        renamed = await other.patch(f"{path}/people/{student['id']}", json={"name": "Bob"}, headers=ORIGIN)
        assert (renamed.json()["name"], renamed.json()["slug"]) == ("Bob", "bo")
        teacher_id = (await client.get(path)).json()["me"]["id"]
        refused = await other.patch(f"{path}/people/{teacher_id}", json={"name": "X"}, headers=ORIGIN)
        assert refused.status_code == 403
        wall = (await client.post(f"{path}/people", json={"role": "viewer", "name": "Wall"}, headers=ORIGIN)).json()
        assert (await other.get(path, headers=bearer(wall["token"]))).json()["role"] == "viewer"
        assert (await client.delete(f"{path}/people/{student['id']}", headers=ORIGIN)).status_code == 204
        assert (await client.get(path, headers=bearer(student["token"]))).status_code == 401
        assert (await client.delete(f"{path}/people/{teacher_id}", headers=ORIGIN)).status_code == 409


async def test_the_qr_is_the_join_address_on_white() -> None:
    async with http() as client:
        session = await opened(client)
        answer = await client.get(f"/api/sessions/{session['code']}/qr.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert "#fff" in answer.text


def _kubeconfig(answer: httpx.Response) -> dict[str, dict[str, object]]:
    document = yaml.safe_load(answer.text)
    return {
        "cluster": document["clusters"][0]["cluster"],
        "user": document["users"][0]["user"],
        "context": document["contexts"][0]["context"],
    }


async def test_the_kubeconfig_works_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from clustersim.runtime import certificates

    monkeypatch.setattr(settings, "DATA", tmp_path)
    certificates.ensure(settings.DATA, ["localhost"])
    async with http() as client, http() as other:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}"
        student = (await other.post(f"{path}/join", json={"name": "Bo"})).json()
        parts = _kubeconfig(await other.get(f"{path}/kubeconfig"))
        assert parts["cluster"]["server"] == session["apiServer"]
        assert parts["cluster"]["tls-server-name"] == "clustersim.internal"
        authority = base64.b64decode(str(parts["cluster"]["certificate-authority-data"]))
        assert authority == certificates.authority_path(settings.DATA).read_bytes()
        assert parts["user"] == {"token": student["token"]}
        assert parts["context"]["namespace"] == "s-bo"
        monkeypatch.setattr(settings, "TLS_PORT", 0)
        plain = _kubeconfig(await other.get(f"{path}/kubeconfig"))
        assert plain["cluster"] == {
            "server": f"http://clustersim:{student['token']}@127.0.0.1:8000/clusters/{session['code']}"
        }


async def test_a_host_that_is_not_ours_is_never_echoed() -> None:
    async with http() as client:
        answer = await client.post(
            "/api/sessions", json={"title": "T", "template": "empty"}, headers={"Host": "evil.example"}
        )
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/nowhere", 404),
        ("GET", "/api/sessions", 405),
        ("DELETE", "/api/sessions/{code}", 405),
        ("POST", "/api/sessions/{code}/scheduler", 405),
        ("GET", "/api/sessions/{code}/fly", 404),
        ("GET", "/api/sessions/ZZZ-ZZZ", 404),
        ("GET", "/api/sessions/ZZ%00ZZZ", 400),
        ("GET", "/api/sessions/{code}/decisions?uid=%00", 400),
        ("GET", "/api/sessions/\u0664\u0664\u0664\u0664\u0664\u0664", 404),
        ("GET", "/api/sessions/{code}/decisions/nothing-1", 404),
        ("GET", "/api/sessions/{code}/decisions?pod=default/none", 404),
        ("GET", "/api/sessions/{code}/decisions", 422),
        ("GET", "/api/sessions/{code}/decisions?pod=a/b&limit=0", 422),
        ("POST", "/api/sessions/{code}/replicas/nobody/fault", 422),
        ("POST", "/api/sessions/{code}/polls/none/close", 404),
        ("GET", "/api/sessions/{code}/model?pod=default/none", 404),
        ("POST", "/api/sessions/{code}/whatif", 422),
        ("POST", "/api/sessions/{code}/compare", 422),
        ("PUT", "/api/sessions/{code}/looks", 422),
        ("POST", "/api/sessions/{code}/homework", 422),
        ("GET", "/api/sessions/{code}/lesson", 404),
        ("POST", "/api/sessions/{code}/polls", 422),
        ("PUT", "/api/sessions/{code}/presenting", 422),
        ("POST", "/api/sessions/{code}/bookmarks", 422),
        ("PATCH", "/api/sessions/{code}/people/99999999999999999999999", 404),
    ],
)
async def test_every_refusal_is_a_status(method: str, path: str, code: int) -> None:
    async with http() as client:
        session = await opened(client)
        answer = await client.request(
            method, path.format(code=session["code"]), headers=bearer(session["token"]), json={}
        )
    assert answer.status_code == code, answer.text
    status = answer.json()
    assert (status["kind"], status["code"]) == ("Status", code)
    assert status["message"]
    # Each says which sentence it is, so that a page says it in its language.
    told = [status] if "said" in status else status["details"]["causes"]
    assert told
    assert all(one["said"]["key"] for one in told)


@pytest.mark.parametrize(
    ("listens_on", "lan", "join", "network"),
    [
        pytest.param(
            "127.0.0.1", "192.0.2.7", "http://127.0.0.1:8000", (False, "http://192.0.2.7:8000"),
            id="alone on this machine: nobody else, until it is opened",
        ),
        pytest.param("127.0.0.1", None, "http://127.0.0.1:8000", (False, None), id="no network at all"),
        pytest.param(
            "0.0.0.0", "192.0.2.7", "http://192.0.2.7:8000", (True, "http://192.0.2.7:8000"),
            id="open to the network: its address, though the teacher came over the loopback",
        ),
        pytest.param("0.0.0.0", None, "http://127.0.0.1:8000", (False, None), id="open, but on no network"),
    ],
)  # fmt: skip
async def test_the_join_address_says_whom_it_reaches(
    monkeypatch: pytest.MonkeyPatch,
    listens_on: str,
    lan: str | None,
    join: str,
    network: tuple[bool, str | None],
) -> None:
    monkeypatch.setattr(settings, "HOST", listens_on)
    monkeypatch.setattr(settings, "PORT", 8000)
    monkeypatch.setattr(addresses, "lan_address", lambda: lan)
    async with http() as client:
        code = (await opened(client))["code"]
        info = (await client.get(f"/api/sessions/{code}")).json()
    reachable, address = network
    assert info["joinUrl"] == f"{join}/join/{code}"
    assert info["network"] == {"reachable": reachable, "joinUrl": address and f"{address}/join/{code}"}
