"""Moments of the past: lists as of a revision, forks that go on from one, files that hold what was there."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest
from asgiref.sync import sync_to_async

from clustersim.classroom import limits
from clustersim.store import forking, hues, open_store, sessions
from tests.tools.application import bearer, http, joined, opened

PODS = "/api/v1/namespaces/default/pods"


def pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


async def make(client: httpx.AsyncClient, session: dict[str, Any], path: str, document: dict[str, Any]) -> int:
    """Create an object as the session's teacher and return its revision."""
    answer = await client.post(f"/clusters/{session['code']}{path}", json=document, headers=bearer(session["token"]))
    assert answer.status_code == 201, answer.text
    return int(answer.json()["metadata"]["resourceVersion"])


async def ask(client: httpx.AsyncClient, session: dict[str, Any], path: str, **options: Any) -> httpx.Response:
    headers = {**bearer(session["token"]), **options.pop("headers", {})}
    return await client.get(f"/api/sessions/{session['code']}/{path}", headers=headers, **options)


async def fork(client: httpx.AsyncClient, session: dict[str, Any], **body: Any) -> httpx.Response:
    path = f"/api/sessions/{session['code']}/fork"
    return await client.post(path, json=body, headers=bearer(session["token"]))


async def names(client: httpx.AsyncClient, session: dict[str, Any], path: str = PODS) -> list[str]:
    listed = await client.get(f"/clusters/{session['code']}{path}", headers=bearer(session["token"]))
    assert listed.status_code == 200, listed.text
    return [item["metadata"]["name"] for item in listed.json()["items"]]


@sync_to_async
def row_of(session: dict[str, Any]) -> sessions.SessionRow:
    row = sessions.find(session["code"])
    assert row is not None
    return row


@sync_to_async
def compact(session_id: int, revision: int) -> None:
    open_store(session_id).compact(revision)


@sync_to_async
def documents_at(session_id: int, resource: str, revision: int) -> list[bytes]:
    return [one.data for one in open_store(session_id).list_at(resource, revision)]


async def test_a_list_of_the_past_is_what_the_kubernetes_api_answered_then() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        first = await make(client, session, PODS, pod("a"))
        then = await client.get(f"/clusters/{session['code']}{PODS}")
        await make(client, session, PODS, pod("b"))
        gone = f"/clusters/{session['code']}{PODS}/a?gracePeriodSeconds=0"
        assert (await client.delete(gone, headers=bearer(session["token"]))).status_code == 200
        assert await names(client, session) == ["b"]
        for path in (f"at/{first}{PODS}", f"at/{first}/namespaces/default/pods"):
            answer = await ask(client, session, path)
            assert (answer.status_code, answer.json()) == (200, then.json())
        nodes = (await ask(client, session, f"at/{first}/nodes")).json()
        assert [item["metadata"]["name"] for item in nodes["items"]] == ["n1", "n2", "n3"]
        selected = await ask(client, session, f"at/{first}/api/v1/pods?fieldSelector=metadata.name=b")
        assert selected.json()["items"] == []
        single = await ask(client, session, f"at/{first}{PODS}/a")
        assert single.json()["metadata"]["resourceVersion"] == str(first)
        table = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
        shown = (await ask(client, session, f"at/{first}{PODS}", headers=table)).json()
        age = [column["name"] for column in shown["columnDefinitions"]].index("Age")
        assert [row["cells"][age] for row in shown["rows"]] == ["0s"], "an age is what it was then"


async def test_a_moment_that_is_not_there_is_told_apart() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        newest = await make(client, session, PODS, pod("a"))
        for wrong in ("0", "x", "-1", str(newest + 1), "9" * 30):
            answer = await ask(client, session, f"at/{wrong}/nodes")
            assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "revision"), wrong
        for wrong in ("dinosaurs", "apis/apps/v1", "api/v1/pods/a/b/c/d", "namespaces/default/pods/a/log"):
            answer = await ask(client, session, f"at/{newest}/{wrong}")
            assert (answer.status_code, answer.json()["kind"]) == (404, "Status"), wrong
        assert (await ask(client, session, f"at/{newest}{PODS}/nobody")).status_code == 404
        await compact((await row_of(session)).id, newest - 1)
        answer = await ask(client, session, f"at/{newest - 2}/nodes")
        assert (answer.status_code, answer.json()["reason"]) == (410, "Expired")
        assert str(newest - 1) in answer.json()["message"], "it says how far back the log reaches"


async def test_who_may_not_read_now_may_not_read_the_past() -> None:
    async with http() as client:
        session = await opened(client)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}}
        revision = await make(client, session, "/api/v1/namespaces/default/secrets", secret)
        student = {**session, **await joined(client, session, "Ann")}
        path = f"at/{revision}/namespaces/default/secrets"
        assert (await ask(client, session, path)).status_code == 200
        assert (await ask(client, student, path)).status_code == 403
        assert (await ask(client, student, f"at/{revision}/namespaces/default/pods")).status_code == 200


async def test_a_fork_answers_as_an_opening_and_holds_that_moment() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes", seed=42)
        first = await make(client, session, PODS, pod("a"))
        await make(client, session, PODS, pod("b"))
        parent = await row_of(session)
        await sync_to_async(hues.assign)(parent.id, [("owner", "Pod default/b"), ("owner", "Pod default/a")])
        answer = await fork(client, session, revision=first)
        assert answer.status_code == 201, answer.text
        made = answer.json()
        assert set(made) == {"code", "url", "joinUrl", "apiServer", "token", "role"}
        assert (made["role"], made["code"] == session["code"]) == ("teacher", False)
        assert f"clustersim-{made['code'].replace('-', '')}=" in answer.headers["set-cookie"]
        info = (await client.get(f"/api/sessions/{made['code']}", headers=bearer(made["token"]))).json()
        assert (info["revision"], info["seed"], info["template"]) == (first, 42, "three-nodes")
        assert [(person["name"], person["role"]) for person in info["people"]] == [("Teacher", "teacher")]
        assert await names(client, made) == ["a"]
        copy = await row_of(made)
        assert (copy.parent_id, copy.forked_at, copy.compacted) == (parent.id, first, first)
        assert not copy.hibernated
        load = sync_to_async(hues.load)
        assert await load(copy.id) == await load(parent.id) != {}
        for resource in ("clocks.clustersim.io", "replicas.clustersim.io", "schedulerconfigs.clustersim.io", "nodes"):
            assert await documents_at(copy.id, resource, first) == await documents_at(parent.id, resource, first) != []
        gone = await ask(client, made, f"at/{first - 1}/nodes")
        assert gone.status_code == 410


async def test_fork_and_parent_go_their_own_ways() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        await make(client, session, PODS, pod("a"))
        made = (await fork(client, session)).json()
        at = (await row_of(session)).revision
        assert await make(client, made, PODS, pod("forked")) == at + 1
        assert await make(client, session, PODS, pod("kept")) == at + 1
        assert (await names(client, session), await names(client, made)) == (["a", "kept"], ["a", "forked"])
        client.cookies.clear()
        for token, other in ((made["token"], session), (session["token"], made)):
            answer = await client.get(f"/clusters/{other['code']}{PODS}", headers=bearer(token))
            assert answer.status_code == 401, "a token of one opens nothing in the other"
        await sync_to_async(sessions.remove)((await row_of(session)).id)
        assert await names(client, made) == ["a", "forked"]


async def test_a_student_is_teacher_of_an_own_fork_without_the_secrets_of_others() -> None:
    async with http() as client:
        session = await opened(client)
        student = {**session, **await joined(client, session, "Ann")}
        for namespace in ("default", student["namespace"]):
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": namespace}, "stringData": {"k": "v"}}
            await make(client, session, f"/api/v1/namespaces/{namespace}/secrets", secret)
        made = (await fork(client, student)).json()
        assert made["role"] == "teacher"
        assert await names(client, made, "/api/v1/secrets") == [student["namespace"]]
        clock = await client.patch(
            f"/api/sessions/{session['code']}/clock", json={"rate": 2}, headers=bearer(student["token"])
        )
        assert clock.status_code == 403, "in the parent a student stays a student"
        seat = {"role": "viewer", "name": "V"}
        path = f"/api/sessions/{session['code']}/people"
        viewer = (await client.post(path, json=seat, headers=bearer(session["token"]))).json()
        client.cookies.clear()
        assert (await fork(client, {**session, "token": viewer["token"]})).status_code == 403


async def test_forks_are_bounded_for_each_person(no_refill: None) -> None:
    async with http() as client:
        session = await opened(client)
        answers = [(await fork(client, session)).status_code for _ in range(limits.FORKS.burst + 1)]
        assert answers == [201] * limits.FORKS.burst + [429]
        student = {**session, **await joined(client, session, "Ann")}
        assert (await fork(client, student)).status_code == 201


async def test_what_cannot_be_forked_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        revision = await make(client, session, PODS, pod("a"))
        for wrong in (0, revision + 1, "1", 1.5, True):
            answer = await fork(client, session, revision=wrong)
            assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "revision"), wrong
        session_id = (await row_of(session)).id
        await compact(session_id, revision - 1)
        count = len(await sync_to_async(sessions.every)())
        assert (await fork(client, session, revision=revision - 2)).status_code == 410
        monkeypatch.setattr(forking, "_copy", lambda *_: open_store(session_id).compact(revision))
        assert (await fork(client, session, revision=revision - 1)).status_code == 410, "compacted while it was copied"
        assert len(await sync_to_async(sessions.every)()) == count


def as_written(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a person wrote of it: without what a server sets, and without who brought it here."""
    left_out = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences")
    metadata = {name: value for name, value in document["metadata"].items() if name not in left_out}
    annotations = {name: text for name, text in metadata.pop("annotations", {}).items() if "created-by" not in name}
    written = {**document, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}
    if document["kind"] == "Node":
        # Wherever it comes from, a new node is tainted so until its kubelet has spoken.
        taints = [one for one in document["spec"].get("taints", []) if one["key"] != "node.kubernetes.io/not-ready"]
        written["spec"] = {**document["spec"], "taints": taints}
    return written


async def exported(client: httpx.AsyncClient, session: dict[str, Any], form: str) -> bytes:
    answer = await ask(client, session, "export", params={"format": form})
    assert answer.status_code == 200, answer.text
    assert f'clustersim-{session["code"]}.{form}"' in answer.headers["content-disposition"]
    return answer.content


async def put_together(client: httpx.AsyncClient, session: dict[str, Any]) -> None:
    """Make objects of several kinds, an owner among them, with texts that YAML may read as something else."""
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop", "labels": {"y": "yes", "time": "12.30", "exponent": "1e3"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx", "args": ["0o17", "", "ü\n#", " a ", "null"]}]},
            },
        },
    }
    await make(client, session, "/apis/apps/v1/namespaces/default/deployments", deployment)
    owner = await client.get(f"/clusters/{session['code']}/apis/apps/v1/namespaces/default/deployments/shop")
    uid = owner.json()["metadata"]["uid"]
    owned = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop", "uid": uid, "controller": True}
    replicaset = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "shop-1", "ownerReferences": [owned]},
        "spec": {**deployment["spec"]},  # type: ignore[dict-item]
    }
    await make(client, session, "/apis/apps/v1/namespaces/default/replicasets", replicaset)
    text = {"text": "12:30", "lines": "a\n  b\n\n", "odd": "\u2028\x7f\U0001f600: '\"", "no": "n", "hex": "0x1F"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}, "data": text}
    await make(client, session, "/api/v1/namespaces/default/configmaps", config)
    await make(client, session, PODS, pod("a"))


@pytest.mark.parametrize("form", ["yaml", "json"])
async def test_what_is_exported_can_be_imported_again(form: str) -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        await put_together(client, session)
        file = await exported(client, session, form)
        copy = await opened(client, "empty")
        imported = await client.post(
            f"/api/sessions/{copy['code']}/import", content=file, headers=bearer(copy["token"])
        )
        assert imported.json()["failed"] == 0, imported.text
        first, second = [msgspec.json.decode(await exported(client, one, "json"))["items"] for one in (session, copy)]
        assert len(first) > 10
        for one, other in zip(first, second, strict=True):
            assert as_written(other) == as_written(one)
        uids = {one["metadata"]["name"]: one["metadata"]["uid"] for one in second if one["kind"] == "Deployment"}
        owned = next(one for one in second if one["metadata"]["name"] == "shop-1")
        assert [owner["uid"] for owner in owned["metadata"]["ownerReferences"]] == [uids["shop"]]
        kinds = {one["kind"] for one in first}
        assert not kinds & {"Clock", "Replica", "Queue", "SchedulerConfig", "Lease", "Event"}


async def test_an_export_is_of_a_moment_and_of_what_one_may_read() -> None:
    async with http() as client:
        session = await opened(client)
        first = await make(client, session, PODS, pod("a"))
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}}
        await make(client, session, "/api/v1/namespaces/default/secrets", secret)
        await make(client, session, PODS, pod("b"))
        then = (await ask(client, session, f"export?format=json&revision={first}")).json()["items"]
        assert [one["metadata"]["name"] for one in then if one["kind"] in ("Pod", "Secret")] == ["a"]
        student = {**session, **await joined(client, session, "Ann")}
        kinds = {one["kind"] for one in (await ask(client, student, "export?format=json")).json()["items"]}
        assert ("Pod" in kinds, "Secret" in kinds) == (True, False)
        wrong = await ask(client, session, "export?format=docx")
        assert (wrong.status_code, wrong.json()["details"]["causes"][0]["field"]) == (422, "format")
