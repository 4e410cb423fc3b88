"""Copies: handed out by seat, taken by a student, seen as tiles, gone into and come back from."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async

from clustersim.classroom import lectern, limits
from clustersim.classroom.copies import tiles
from clustersim.classroom.copies.tiles import IDLE_MS, reason_of
from clustersim.classroom.models import Copy
from clustersim.classroom.writing import web_context, writes
from clustersim.live import socket as socket_module
from clustersim.store import open_store, sessions
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Create, Patch
from controllers.registry.context import Context
from tests.tools.application import Socket, bearer, http, joined, opened

CODE = r"^[A-Z0-9]{3}-[A-Z0-9]{3}$"


@pytest.fixture(autouse=True)
def _application(application_database: None) -> None:
    limits.forget()


async def ask(
    client: httpx.AsyncClient, token: str, method: str, code: str, path: str, body: Any = None
) -> httpx.Response:
    client.cookies.clear()
    answer = await client.request(method, f"/api/sessions/{code}{path}", json=body, headers=bearer(token))
    client.cookies.clear()
    return answer


def newest_copy(code: str) -> Copy:
    return Copy.objects.select_related("fork", "participant").get(session__code=code.replace("-", ""))


async def test_everybody_gets_a_copy_of_the_moment_that_sleeps_until_they_go_in() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes", seed=7)
        code, teacher = session["code"], session["token"]
        students = [await joined(client, session, name) for name in ("Mei", "Ada")]
        answer = await ask(client, teacher, "POST", code, "/copies", {"people": "all", "seeds": "each"})
        assert answer.status_code == 201, answer.text
        made = answer.json()
        assert [one["person"] for one in made] == [one["id"] for one in students]
        rows = [await sync_to_async(sessions.find)(one["code"]) for one in made]
        assert all(row is not None and row.hibernated and row.parent_id for row in rows)
        seeds = [row.seed for row in rows if row]
        assert len(set(seeds)) == 2
        assert 7 not in seeds

        # Mei finds hers, goes in as its teacher, and the way back is told there.
        [own] = (await ask(client, students[0]["token"], "GET", code, "/copies")).json()
        assert own["code"] == made[0]["code"]
        entered = await ask(client, students[0]["token"], "POST", code, f"/copies/{own['code']}/enter")
        assert entered.status_code == 200, entered.text
        assert entered.json()["role"] == "teacher"
        assert f"clustersim-{own['code'].replace('-', '')}" in entered.headers["set-cookie"]
        info = (await ask(client, entered.json()["token"], "GET", own["code"], "")).json()
        assert info["parent"] == {"code": code, "title": "A class"}
        assert (await ask(client, teacher, "GET", code, "")).json()["parent"] is None
        assert info["me"]["name"] == "Mei"
        row = await sync_to_async(sessions.find)(own["code"])
        assert row is not None
        assert not row.hibernated, "who goes in wakes it"

        # The class's teacher looks, once by one seat, and changes nothing there.
        looks = [await ask(client, teacher, "POST", code, f"/copies/{own['code']}/enter") for _ in range(2)]
        assert [one.json()["role"] for one in looks] == ["viewer", "viewer"]
        people = (await ask(client, entered.json()["token"], "GET", own["code"], "/people")).json()
        assert [(one["name"], one["role"]) for one in people] == [("Mei", "teacher"), ("Teacher", "viewer")]
        refused = await ask(client, looks[0].json()["token"], "PATCH", own["code"], "/clock", {"paused": True})
        assert refused.status_code == 403
        # Nobody else gets in, and nobody hands out but the teacher.
        answer = await ask(client, students[1]["token"], "POST", code, f"/copies/{own['code']}/enter")
        assert answer.status_code == 403
        assert (await ask(client, teacher, "POST", code, f"/copies/{code}/enter")).status_code == 404

        # The same seeds again by seat; what was there before is kept as an earlier copy.
        again = (await ask(client, teacher, "POST", code, "/copies", {"people": "all", "seeds": "each"})).json()
        rows = [await sync_to_async(sessions.find)(one["code"]) for one in again]
        assert [row.seed for row in rows if row] == seeds
        mine = (await ask(client, students[0]["token"], "GET", code, "/copies")).json()
        assert [one["earlier"] for one in mine] == [False, True]


async def test_a_student_takes_a_copy_of_their_own_and_a_fork_is_one_too() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes", seed=7)
        code, teacher = session["code"], session["token"]
        mei, ada = [await joined(client, session, name) for name in ("Mei", "Ada")]
        answer = await ask(client, mei["token"], "POST", code, "/copies", {"people": "all"})
        assert [one["person"] for one in answer.json()] == [mei["id"]], "a student asks for nobody else"
        row = await sync_to_async(sessions.find)(answer.json()[0]["code"])
        assert row is not None
        assert row.seed == 7
        forked = await ask(client, ada["token"], "POST", code, "/fork", {})
        assert forked.status_code == 201
        room = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert [(one["name"], one["code"]) for one in room] == [
            ("Mei", answer.json()[0]["code"]),
            ("Ada", forked.json()["code"]),
        ]
        assert "name" not in (await ask(client, mei["token"], "GET", code, "/copies")).text


async def test_only_who_was_handed_a_copy_is_told_of_one() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei, ada = [await joined(client, session, name) for name in ("Mei", "Ada")]

        async def told() -> dict[str, int]:
            row = await sync_to_async(sessions.find)(code)
            assert row is not None
            return dict((await sync_to_async(lectern.state_of)(row.id)).told()["handed"])

        # What somebody takes for themselves is news to nobody.
        await ask(client, mei["token"], "POST", code, "/copies", {})
        await ask(client, mei["token"], "POST", code, "/fork", {})
        assert await told() == {}
        [made] = (await ask(client, teacher, "POST", code, "/copies", {"people": [ada["id"]]})).json()
        assert await told() == {ada["id"]: made["madeUnixMs"]}


async def test_what_cannot_be_handed_out_is_refused() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei = await joined(client, session, "Mei")
        me = (await ask(client, teacher, "GET", code, "")).json()["me"]["id"]
        for body, status in (
            ({"people": "some"}, 422),
            ({"people": [1]}, 422),
            ({"people": ["999999"]}, 404),
            ({"people": [me]}, 404),
            ({"seeds": "none"}, 422),
            ({"revision": 10**9}, 422),
        ):
            assert (await ask(client, teacher, "POST", code, "/copies", body)).status_code == status, body
        viewer = (await ask(client, teacher, "POST", code, "/people", {"role": "viewer", "name": "W"})).json()
        for method in ("GET", "POST"):
            assert (await ask(client, viewer["token"], method, code, "/copies", {})).status_code == 403
        await ask(client, teacher, "PUT", code, "/frozen", {"frozen": True})
        frozen = await ask(client, mei["token"], "POST", code, "/copies", {})
        assert "frozen by the teacher" in frozen.text
        assert (await ask(client, teacher, "GET", code, "/copies")).json() == []


async def test_while_a_poll_is_open_nobody_gets_a_copy() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei = await joined(client, session, "Mei")
        [copy] = (await ask(client, mei["token"], "POST", code, "/copies", {})).json()
        asked = {
            "kind": "choice",
            "question": "Will it?",
            "hold": "paper",
            "options": [{"label": "yes", "right": "true"}, {"label": "no", "right": "false"}],
        }
        poll = await ask(client, teacher, "POST", code, "/polls", asked)
        assert poll.status_code == 201, poll.text
        for token in (teacher, mei["token"]):
            answer = await ask(client, token, "POST", code, "/copies", {})
            assert answer.status_code == 409
            assert answer.json()["message"] == "something is asked: your copy opens at the reveal"
        assert (await ask(client, mei["token"], "POST", code, "/fork", {})).status_code == 409
        path = f"/copies/{copy['code']}/enter"
        assert (await ask(client, mei["token"], "POST", code, path)).status_code == 409, "it may run ahead"
        assert (await ask(client, teacher, "POST", code, path)).status_code == 200
        assert (await ask(client, teacher, "DELETE", code, f"/polls/{poll.json()['id']}")).status_code == 204
        assert (await ask(client, mei["token"], "POST", code, path)).status_code == 200


async def test_a_tile_tells_on_what_a_copy_is_stuck_and_when_somebody_last_acted() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei = await joined(client, session, "Mei")
        await ask(client, teacher, "POST", code, "/copies", {})
        [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert (tile["state"], tile["did"], tile["seat"], tile["name"]) == ("working", None, mei["color"], "Mei")
        assert [node["name"] for node in tile["nodes"]] == ["n1", "n2", "n3"]
        assert all(node["cpu"] == 4000 for node in tile["nodes"])
        copy = await sync_to_async(newest_copy)(code)
        assert copy.fork_id is not None
        late = copy.made_ms + IDLE_MS
        [idle] = await sync_to_async(tiles.tiles)([copy], late)
        assert idle["state"] == "idle"

        # Mei makes a pod that no node takes, and the scheduler says why.
        there = (await ask(client, mei["token"], "POST", code, f"/copies/{tile['code']}/enter")).json()
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "9"}}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "vip"}, "spec": {"containers": [container]}}
        path = f"/clusters/{tile['code']}/api/v1/namespaces/default/pods"
        made = await client.post(path, json=pod, headers=bearer(there["token"]))
        assert made.status_code == 201, made.text
        message = (
            "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: "
            "3 Preemption is not helpful for scheduling."
        )
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}

        def tell() -> None:
            store = open_store(copy.fork_id or 0)
            with writes(store, "kube-scheduler-0") as transaction:
                context = Context(
                    actor="kube-scheduler-0", epoch_ms=store.epoch_ms, new_uid=lambda: "u", new_suffix=lambda: "s"
                )
                patch = Patch("pods", "default", "vip", {"status": {"conditions": [condition]}}, subresource="status")
                REGISTRY.apply(transaction, patch, context)

        await sync_to_async(tell)()
        [stuck] = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert stuck["state"] == "stuck"
        reasons = {group["reason"]: group for group in stuck["pending"]}
        assert reasons["Preemption is not helpful for scheduling"] == {
            "reason": "Preemption is not helpful for scheduling",
            "n": 1,
            "pods": ["vip"],
        }
        assert (stuck["waiting"]["name"], stuck["waiting"]["node"]) == ("vip", ""), "it is drawn before the nodes"
        assert stuck["did"] == {"verb": "ADDED", "resource": "pods", "object": "vip"}
        assert stuck["since"] >= copy.made_ms
        # A copy that somebody has deleted is told as one that failed.
        await sync_to_async(sessions.remove)(copy.fork_id)


async def test_a_copy_is_read_again_only_when_something_of_it_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    read = tiles._read
    monkeypatch.setattr(tiles, "_read", lambda store, *rest: reads.append(store.session_id) or read(store, *rest))
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei = await joined(client, session, "Mei")
        [copy] = (await ask(client, teacher, "POST", code, "/copies", {})).json()
        there = (await ask(client, mei["token"], "POST", code, f"/copies/{copy['code']}/enter")).json()
        row = await sync_to_async(sessions.find)(copy["code"])
        assert row is not None

        def renew() -> None:
            lease = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"generateName": "kube-scheduler-"},
                "spec": {"holderIdentity": "kube-scheduler-0"},
            }
            store = open_store(row.id)
            with writes(store, "kube-scheduler-0") as transaction:
                context = web_context("kube-scheduler-0", store)
                REGISTRY.apply(transaction, Create("leases.coordination.k8s.io", "kube-system", lease), context)

        for _ in range(2):
            await ask(client, teacher, "GET", code, "/copies")
            await sync_to_async(renew)()
        assert reads == [row.id]
        path = f"/clusters/{copy['code']}/api/v1/namespaces/default/configmaps"
        assert (await client.post(path, json={"metadata": {"name": "a"}}, headers=bearer(there["token"]))).is_success
        [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert (tile["did"]["object"], reads) == ("a", [row.id, row.id])


async def test_a_copy_in_which_the_goal_holds_is_done_and_stays_so() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei = await joined(client, session, "Mei")
        wrong = await ask(client, teacher, "POST", code, "/copies", {"until": "pod('vip'"})
        assert (wrong.status_code, wrong.json()["details"]["causes"][0]["field"]) == (422, "until")
        goal = {"until": "count('configmaps', '') > 0"}
        [copy] = (await ask(client, teacher, "POST", code, "/copies", goal)).json()
        [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert (tile["state"], "seconds" in tile) == ("working", False)
        there = (await ask(client, mei["token"], "POST", code, f"/copies/{copy['code']}/enter")).json()
        path = f"/clusters/{copy['code']}/api/v1/namespaces/default/configmaps"
        assert (await client.post(path, json={"metadata": {"name": "a"}}, headers=bearer(there["token"]))).is_success
        [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert (tile["state"], tile["seconds"] >= 0) == ("done", True)
        assert (await client.delete(f"{path}/a", headers=bearer(there["token"]))).is_success
        [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert tile["state"] == "done"


async def test_who_watches_the_copies_is_told_when_one_looks_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket_module, "COPIES_EVERY_SECONDS", 0.02)
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei = await joined(client, session, "Mei")
        async with Socket(code, bearer(teacher)) as page, Socket(code, bearer(mei["token"])) as student:
            await page.send(type="follow", copies=True)
            await student.send(type="follow", copies=True)
            await page.until("copies")
            await ask(client, teacher, "POST", code, "/copies", {})
            await page.until("copies")
            [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
            there = (await ask(client, mei["token"], "POST", code, f"/copies/{tile['code']}/enter")).json()
            path = f"/clusters/{tile['code']}/api/v1/namespaces/default/configmaps"
            await client.post(path, json={"metadata": {"name": "one"}}, headers=bearer(there["token"]))
            await page.until("copies")
            [tile] = (await ask(client, teacher, "GET", code, "/copies")).json()
            assert tile["did"] == {"verb": "ADDED", "resource": "configmaps", "object": "one"}
            await ask(client, teacher, "PUT", code, "/frozen", {"frozen": True})
            kinds = []
            while "class" not in kinds[1:]:
                kinds.append((await student.next())["type"])
                kinds = [kind for kind in kinds if kind in ("class", "copies")]
            assert "copies" not in kinds, "what others are stuck on is the teacher's to know"
            await page.send(type="follow", copies="yes")
            assert (await page.until("close"))["code"] == 4400


async def test_what_somebody_came_to_hangs_on_the_wall_and_nobody_is_told_whose_it_is() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei, ada = [await joined(client, session, name) for name in ("Mei", "Ada")]
        viewer = (await ask(client, teacher, "POST", code, "/people", {"role": "viewer", "name": "W"})).json()
        [copy] = (await ask(client, mei["token"], "POST", code, "/copies", {})).json()
        there = (await ask(client, mei["token"], "POST", code, f"/copies/{copy['code']}/enter")).json()
        path = f"/clusters/{copy['code']}/api/v1/namespaces/default/configmaps"
        made = await client.post(path, json={"metadata": {"name": "accident"}}, headers=bearer(there["token"]))
        assert made.json()["metadata"]["annotations"] == {"clustersim.io/created-by": "mei"}
        assert (await ask(client, mei["token"], "POST", code, f"/copies/{copy['code']}/wall")).status_code == 403

        async with Socket(code, bearer(ada["token"])) as page:
            answer = await ask(client, teacher, "POST", code, f"/copies/{copy['code']}/wall")
            assert answer.status_code == 201, answer.text
            wall = answer.json()["code"]
            while (await page.until("class"))["wall"] != wall:
                pass
        # Everybody goes in as who they are, again by the same seat; nobody's name is in it but who came.
        for token, role in ((ada["token"], "student"), (ada["token"], "student"), (viewer["token"], "viewer")):
            seat = (await ask(client, token, "POST", code, f"/copies/{wall}/enter")).json()
            assert seat["role"] == role
        teaches = (await ask(client, teacher, "POST", code, f"/copies/{wall}/enter")).json()
        assert teaches["role"] == "teacher", "there the teacher asks"
        people = (await ask(client, teaches["token"], "GET", wall, "/people")).json()
        assert [one["name"] for one in people] == ["Teacher", "Ada", "W"]
        path = f"/clusters/{wall}/api/v1/namespaces/default/configmaps/accident"
        shown = (await client.get(path, headers=bearer(teaches["token"]))).json()
        assert shown["metadata"]["annotations"] == {"clustersim.io/created-by": "somebody"}
        row = await sync_to_async(sessions.find)(wall)
        assert row is not None
        events = await sync_to_async(lambda: open_store(row.id).events(row.compacted, 10_000))()
        assert not {event.actor for event in events} & {"user:mei", "user:teacher"}
        # It is no tile and nobody's own copy, and goes from the wall when it is taken down.
        room = (await ask(client, teacher, "GET", code, "/copies")).json()
        assert [tile["code"] for tile in room] == [copy["code"]]
        # Who comes while it hangs joins the class.
        shown = (await ask(client, teaches["token"], "GET", wall, "")).json()
        assert (shown["joinCode"], shown["joinUrl"].rpartition("/")[2]) == (code, code)
        assert (await ask(client, mei["token"], "GET", code, "")).json()["joinCode"] == code
        own = (await ask(client, there["token"], "GET", copy["code"], "")).json()
        assert own["joinCode"] == copy["code"]
        async with Socket(code, bearer(ada["token"])) as page, Socket(wall, bearer(seat["token"])) as hanging:
            assert (await page.until("class"))["wall"] == wall
            assert (await hanging.until("class"))["home"] == ""
            assert (await ask(client, teacher, "DELETE", code, f"/copies/{wall}/wall")).status_code == 204
            while (await page.until("class"))["wall"]:
                pass
            assert (await hanging.until("class"))["home"] == code


async def test_who_came_to_what_hangs_is_told_and_nobody_else() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        code, teacher = session["code"], session["token"]
        mei, ada = [await joined(client, session, name) for name in ("Mei", "Ada")]
        [copy] = (await ask(client, mei["token"], "POST", code, "/copies", {})).json()
        there = (await ask(client, mei["token"], "POST", code, f"/copies/{copy['code']}/enter")).json()
        looks = (await ask(client, teacher, "POST", code, f"/copies/{copy['code']}/enter")).json()
        async with (
            Socket(code, bearer(mei["token"])) as mine,
            Socket(code, bearer(ada["token"])) as others,
            Socket(copy["code"], bearer(there["token"])) as played_on,
            Socket(copy["code"], bearer(looks["token"])) as looked_into,
        ):
            for page in (mine, others, played_on, looked_into):
                assert (await page.until("class"))["yours"] is False
            wall = (await ask(client, teacher, "POST", code, f"/copies/{copy['code']}/wall")).json()["code"]
            told = [await page.until("class") for page in (mine, others)]
            assert [(frame["wall"], frame["yours"]) for frame in told] == [(wall, True), (wall, False)]
            assert (await played_on.until("class"))["yours"] is True
            assert (await ask(client, teacher, "DELETE", code, f"/copies/{wall}/wall")).status_code == 204
            for page in (mine, played_on):
                assert (await page.until("class"))["yours"] is False
            await ask(client, there["token"], "PUT", copy["code"], "/frozen", {"frozen": True})
            told = await looked_into.until("class")
            assert (told["frozen"], told["yours"]) == (True, False), "nothing was told of it"


TAINT = "node(s) had untolerated taint {a: b, c}"
NEVER = "not eligible due to preemptionPolicy=Never"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("", ""),
        ("0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.", "Too many pods, Insufficient cpu"),
        (f"0/3 nodes are available: 3 {TAINT}.", TAINT),
        (f"0/3 nodes are available: 3 {TAINT}. preemption: {NEVER}.", NEVER),
    ],
)
def test_a_reason_is_the_schedulers_own_without_its_counts(message: str, reason: str) -> None:
    assert reason_of(message) == reason
