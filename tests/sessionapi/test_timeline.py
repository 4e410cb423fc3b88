"""The log as marks on a timeline, bookmarks, and what differs between two moments."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from clustersim.store import open_store, sessions
from clustersim.store.history import LogRow
from clustersim.timeline.marks import ENDS, LANES, counted, marks, thinned
from clustersim.timeline.words import LANGUAGES, SENTENCES, text_of
from controllers.cluster import Cluster
from controllers.log.store import Verb
from tests.sessionapi.test_roles import POD, Class, pod, room

__all__ = ["room"]

PODS = "/api/v1/namespaces/default/pods"
MARK = {"rv", "simTime", "lane", "kind", "verb", "object", "actor", "text"}


@sync_to_async
def run(room: Class, seconds: float) -> None:
    """Let the session's time pass, as its owner does."""
    row = sessions.find(room.code)
    assert row is not None
    cluster = Cluster(open_store(row.id))
    cluster.start()
    cluster.advance(cluster.now_ms + round(1000 * seconds))


@sync_to_async
def compact(room: Class, revision: int) -> None:
    row = sessions.find(room.code)
    assert row is not None
    open_store(row.id).compact(revision)


async def newest(room: Class) -> int:
    return int((await room.session("teacher", "GET", "/clock")).json()["revision"])


async def timeline(room: Class, query: str = "", role: str = "teacher") -> list[dict[str, Any]]:
    answer = await room.session(role, "GET", f"/timeline{query}")
    assert answer.status_code == 200, answer.text
    return list(answer.json())


async def test_what_happened_stands_in_lanes_in_order_and_in_words(room: Class) -> None:
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": POD["spec"]["containers"]}}
    deployment = {
        "metadata": {"name": "shop"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    made = await room.call("teacher", "POST", "/apis/apps/v1/namespaces/default/deployments", deployment)
    assert made.status_code == 201
    nowhere = pod("nowhere", nodeSelector={"disk": "fast"})
    assert (await room.call("ann", "POST", "/api/v1/namespaces/s-ann/pods", nowhere)).status_code == 201
    await run(room, 30)
    scale = {"spec": {"replicas": 3}}
    patched = await room.call(
        "teacher",
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/shop",
        scale,
        headers={"Content-Type": "application/merge-patch+json"},
    )
    assert patched.status_code == 200
    await run(room, 30)
    found = await timeline(room, "?limit=2000")
    assert all(set(mark) == MARK for mark in found)
    assert [mark["rv"] for mark in found] == sorted({mark["rv"] for mark in found})
    assert {mark["lane"] for mark in found} == set(LANES)
    said = {(mark["lane"], mark["text"].partition(" ")[2]) for mark in found if mark["object"] == "default/shop"}
    assert {("people", "made"), ("people", "scaled from 2 to 3"), ("controllers", "has 2 of 2 ready")} <= said
    bound = [mark for mark in found if mark["object"].startswith("default/shop-") and " bound to n" in mark["text"]]
    assert len(bound) == 3
    told = {(mark["lane"], mark["kind"], mark["verb"], mark["actor"]) for mark in bound}
    assert told == {("scheduler", "Pod", "MODIFIED", "kube-scheduler-0")}
    refused = [mark for mark in found if mark["object"] == "s-ann/nowhere"]
    assert refused[0]["actor"] == "user:ann"
    assert any(mark["text"].startswith("s-ann/nowhere: 0/3 nodes are available: ") for mark in refused)
    chinese = await timeline(room, "?limit=2000&language=zh-hans")
    assert [mark["rv"] for mark in chinese] == [mark["rv"] for mark in found]
    assert all(one["text"] != other["text"] for one, other in zip(found, chinese, strict=True))
    some = await timeline(room, f"?from={bound[0]['rv']}&to={bound[-1]['rv']}")
    assert some == [mark for mark in found if bound[0]["rv"] <= mark["rv"] <= bound[-1]["rv"]]
    leases = await timeline(room, "?lane=leases&limit=2000")
    assert leases == [mark for mark in found if mark["lane"] == "leases"] != []
    assert (await room.session("teacher", "GET", "/timeline?lane=elections")).status_code == 422
    few = await timeline(room, "?limit=20")
    assert len(few) == 20
    assert [mark for mark in found if mark in few] == few
    counts = (await room.session("teacher", "GET", "/timeline/counts?slots=10")).json()
    assert {lane: sum(numbers) for lane, numbers in counts["lanes"].items()} == {
        lane: sum(mark["lane"] == lane for mark in found) for lane in LANES
    }
    assert all(len(numbers) == 10 for numbers in counts["lanes"].values())


async def test_a_question_that_cannot_be_is_refused_by_its_field(room: Class) -> None:
    top = await newest(room)
    for query, field in (
        ("from=0", "from"),
        (f"to={top + 1}", "to"),
        ("from=x", "from"),
        ("from=3&to=2", "to"),
        ("limit=0", "limit"),
        ("limit=2001", "limit"),
        ("limit=1e3", "limit"),
        ("language=fr", "language"),
    ):
        answer = await room.session("viewer", "GET", f"/timeline?{query}")
        assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, field), query
    assert (await room.session("viewer", "GET", "/timeline/counts?slots=601")).status_code == 422
    await compact(room, top - 2)
    assert (await room.session("viewer", "GET", "/timeline?from=1")).status_code == 410
    assert [mark["rv"] for mark in await timeline(room)] == [
        mark["rv"] for mark in await timeline(room, f"?from={top - 1}")
    ]
    await compact(room, top)
    assert await timeline(room) == []
    assert (await room.session("viewer", "GET", "/timeline/counts")).json()["compacted"] == top


async def test_nobody_hears_of_a_secret_that_they_may_not_list(room: Class) -> None:
    secret = {"metadata": {"name": "theirs"}, "stringData": {"password": "x"}}
    assert (await room.call("bob", "POST", "/api/v1/namespaces/s-bob/secrets", secret)).status_code == 201
    seen = {
        role: "s-bob/theirs" in {mark["object"] for mark in await timeline(room, "", role)}
        for role in ("teacher", "bob", "ann", "viewer")
    }
    assert seen == {"teacher": True, "bob": True, "ann": False, "viewer": False}


async def test_what_a_scheduler_of_ones_own_binds_is_no_persons_act(room: Class) -> None:
    assert (await room.call("teacher", "POST", PODS, pod("a", schedulerName="mine"))).status_code == 201
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}
    assert (await room.call("component", "POST", f"{PODS}/a/binding", body)).status_code == 201
    found = [mark for mark in await timeline(room) if mark["object"] == "default/a"]
    assert [(mark["lane"], mark["text"]) for mark in found] == [
        ("people", "default/a made"),
        ("scheduler", "default/a bound to n1"),
    ]


async def test_bookmarks_are_made_told_of_and_deleted(room: Class) -> None:
    top = await newest(room)
    first = await room.session("teacher", "POST", "/bookmarks", {"name": " before  the taint ", "revision": 3})
    assert first.status_code == 201, first.text
    told = {"name": "before the taint", "revision": 3, "createdBy": "teacher", "kept": True}
    assert {**first.json(), "simTime": 0} == {**told, "simTime": 0}
    second = await room.session("ann", "POST", "/bookmarks", {"name": "now"})
    assert second.json()["revision"] == top + 1, "a bookmark is a row of the log itself"
    listed = (await room.session("viewer", "GET", "/bookmarks")).json()
    assert [one["name"] for one in listed] == ["before the taint", "now"]
    assert all(" now" not in mark["text"] for mark in await timeline(room))
    for role, method, body, status in (
        ("viewer", "POST", {"name": "x"}, 403),
        ("component", "DELETE", {"name": "now"}, 403),
        ("bob", "POST", {"name": "now"}, 409),
        ("bob", "POST", {"name": ""}, 422),
        ("bob", "POST", {"name": "n" * 41}, 422),
        ("bob", "POST", {"name": "x", "revision": 10**9}, 422),
        ("bob", "POST", {"name": "x", "revision": "3"}, 422),
        ("bob", "POST", {"name": "x", "colour": 1}, 422),
        ("bob", "DELETE", {"name": "now"}, 403),
        ("ann", "DELETE", {"name": "before the taint"}, 403),
        ("ann", "DELETE", {"name": "nothing"}, 404),
        ("ann", "DELETE", {"name": "now", "revision": 3}, 404),
        ("ann", "DELETE", {"name": "now"}, 204),
        ("teacher", "DELETE", {"name": "before the taint", "revision": 3}, 204),
    ):
        answer = await room.session(role, method, "/bookmarks", body)
        assert answer.status_code == status, (role, method, body, answer.text)
    assert (await room.session("viewer", "GET", "/bookmarks")).json() == []


async def test_bookmarks_have_bounds_and_a_fork_takes_them_along(room: Class) -> None:
    for number in range(20):
        assert (await room.session("ann", "POST", "/bookmarks", {"name": f"m{number}"})).status_code == 201
    assert (await room.session("ann", "POST", "/bookmarks", {"name": "one more"})).status_code == 403
    assert (await room.session("teacher", "POST", "/bookmarks", {"name": "one more"})).status_code == 201
    forked = (await room.session("teacher", "POST", "/fork", {})).json()
    headers = {"Authorization": f"Bearer {forked['token']}"}
    room.client.cookies.clear()
    listed = await room.client.get(f"/api/sessions/{forked['code']}/bookmarks", headers=headers)
    assert len(listed.json()) == 21
    top = await newest(room)
    await compact(room, top)
    gone = await room.session("teacher", "POST", "/bookmarks", {"name": "late", "revision": 2})
    assert gone.status_code == 410
    kept = [one["kept"] for one in (await room.session("viewer", "GET", "/bookmarks")).json()]
    assert kept == [False] * 21


async def test_what_differs_between_two_moments_leads_from_the_one_to_the_other(room: Class) -> None:
    """Whatever happened: the one moment's cluster with the differences is the other moment's."""
    moments = [await newest(room)]
    chance = random.Random(7)
    for number in range(24):
        name = f"p{chance.randrange(5)}"
        if (await room.call("teacher", "POST", PODS, pod(name))).status_code != 201:
            await room.call("teacher", "DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        moments.append(await newest(room))
        if number == 12:
            await run(room, 3)

    async def pods_at(revision: int) -> dict[str, str]:
        listed = (await room.session("teacher", "GET", f"/at/{revision}/pods")).json()["items"]
        return {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in listed}

    for _ in range(30):
        there, here = chance.choice(moments), chance.choice(moments)
        answer = await room.session("viewer", "GET", f"/changes/{there}/{here}")
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert (told["from"], told["to"]) == (there, here)
        cluster = await pods_at(there)
        for one in told["objects"]:
            if one["resource"] == "pods":
                assert one["hues"]
                cluster[one["metadata"]["name"]] = one["metadata"]["resourceVersion"]
        for one in told["gone"]:
            if one["resource"] == "pods":
                cluster.pop(one["name"], None)
        assert cluster == await pods_at(here)
    for path, status in (("0/1", 422), (f"1/{moments[-1] + 9}", 422), ("x/1", 422)):
        assert (await room.session("viewer", "GET", f"/changes/{path}")).status_code == status
    await compact(room, moments[5])
    assert (await room.session("viewer", "GET", f"/changes/{moments[-1]}/{moments[4]}")).status_code == 410


async def test_the_way_back_leads_through_what_each_moment_was(room: Class) -> None:
    """Whatever happened: a page that folds the way back holds at each moment what was there then."""
    chance = random.Random(11)
    for number in range(18):
        name = f"p{chance.randrange(4)}"
        if (await room.call("teacher", "POST", PODS, pod(name))).status_code != 201:
            await room.call("teacher", "DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        if number % 3 == 2:
            await run(room, 2)
    top = await newest(room)

    async def there(resource: str, revision: int) -> dict[str, str]:
        listed = (await room.session("teacher", "GET", f"/at/{revision}/{resource}")).json()["items"]
        return {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in listed}

    paths = {"pods": "pods", "nodes": "nodes", "queues.clustersim.io": "apis/clustersim.io/v1/queues"}
    held = {resource: await there(path, top) for resource, path in paths.items()}
    answer = await room.session("viewer", "GET", f"/before/{top}?seconds=60&moments=30")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert len(told["moments"]) == 30
    assert (told["moments"][0]["from"], told["moments"][-1]["simTimeMs"]) == (top, told["fromMs"])
    assert any(moment["objects"] for moment in told["moments"])
    for moment in told["moments"]:
        for one in moment["objects"]:
            if one["resource"] in held:
                held[one["resource"]][one["metadata"]["name"]] = one["metadata"]["resourceVersion"]
        for one in moment["gone"]:
            if one["resource"] in held:
                held[one["resource"]].pop(one["name"], None)
        assert held == {resource: await there(path, moment["to"]) for resource, path in paths.items()}
    times = [moment["simTimeMs"] for moment in told["moments"]]
    assert times == sorted(times, reverse=True)
    assert times[0] < told["toMs"]
    lines = told["decisions"]
    assert [line["revision"] for line in lines] == sorted(line["revision"] for line in lines)
    assert lines[-1]["result"] == "scheduled"


async def test_the_way_back_is_bounded_and_ends_where_the_log_begins(
    room: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        assert (await room.call("teacher", "POST", PODS, pod(f"p{number}"))).status_code == 201
        await run(room, 2)
    top = await newest(room)
    for query, field in (("seconds=0", "seconds"), ("seconds=1000001", "seconds"), ("moments=241", "moments")):
        answer = await room.session("viewer", "GET", f"/before/{top}?{query}")
        assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, field), query
    assert (await room.session("viewer", "GET", f"/before/{top + 1}")).status_code == 422
    whole = (await room.session("viewer", "GET", f"/before/{top}?moments=40")).json()
    monkeypatch.setattr("clustersim.sessionapi.timeline.DOCUMENTS_MAX", 10)
    short = (await room.session("viewer", "GET", f"/before/{top}?moments=40")).json()
    assert 0 < len(short["moments"]) < len(whole["moments"]) == 40
    assert short["moments"] == whole["moments"][: len(short["moments"])]
    assert short["fromMs"] == short["moments"][-1]["simTimeMs"] > whole["fromMs"]
    assert len(short["decisions"]) < len(whole["decisions"])
    monkeypatch.undo()
    middle = whole["moments"][20]["to"]
    await compact(room, middle)
    rest = (await room.session("viewer", "GET", f"/before/{top}?moments=40")).json()
    assert rest["fromMs"] > whole["fromMs"]
    assert rest["moments"][-1]["to"] >= middle
    assert (await room.session("viewer", "GET", f"/before/{middle - 1}")).status_code == 410


def rows(seed: int, count: int) -> Iterator[LogRow]:
    """Yield rows of a log as it may be."""
    chance = random.Random(seed)
    at_ms = 0
    for revision in range(1, count + 1):
        at_ms += chance.choice((0, 0, 40, 2000))
        resource, actor = chance.choice(
            (
                ("pods", "kubelet/n1"),
                ("pods", "kube-scheduler-0"),
                ("pods", "kube-controller-manager-0/replicaset"),
                ("replicasets.apps", "kube-controller-manager-0/deployment"),
                ("nodes", "kubelet/n2"),
                ("nodes", "kube-controller-manager-0/nodelifecycle"),
                ("leases.coordination.k8s.io", f"kube-scheduler-{chance.random() < 0.05:d}"),
                ("events", "kube-scheduler-0"),
                ("queues.clustersim.io", "kube-scheduler-0"),
            )
        )
        if chance.random() < 0.02:
            actor = "user:ann"
        verb: Verb = chance.choice(("MODIFIED", "MODIFIED", "MODIFIED", "ADDED", "DELETED"))
        yield LogRow(revision, verb, resource, "", f"o{chance.randrange(9)}", 0, at_ms, actor)


@pytest.mark.parametrize("seed", range(12))
def test_thinning_is_the_same_each_time_and_keeps_what_matters(seed: int) -> None:
    log = list(rows(seed, 1500))
    found = marks(log)
    assert found == marks(log)
    assert all(mark.row.resource not in ("events", "queues.clustersim.io") or mark.lane == "people" for mark in found)
    assert thinned(found, len(found)) == found
    for limit in (1, 2, 13, 60, 200, 500, 900):
        kept = thinned(found, limit)
        assert kept == thinned(found, limit)
        assert len(kept) == min(limit, len(found))
        assert [mark.row.revision for mark in kept] == sorted({mark.row.revision for mark in kept})
        left = [mark for mark in found if mark not in kept]
        lowest = min(mark.rank for mark in kept)
        assert all(mark.rank <= lowest for mark in left), "nothing that matters more is left out"
        if limit >= 2 * len(LANES):
            for lane in LANES:
                of_lane = [mark for mark in found if mark.lane == lane]
                assert {of_lane[0], of_lane[-1]} <= set(kept)
        of_lowest = [mark for mark in found if mark.rank == lowest]
        kept_lowest = [mark for mark in kept if mark.rank == lowest]
        places = [of_lowest.index(mark) for mark in kept_lowest]
        gaps = {after - before for before, after in pairwise(places)}
        assert not gaps or max(gaps) - min(gaps) <= 1, "at equal distances"
    important = [mark for mark in found if mark.lane == "people"]
    assert set(important) <= set(thinned(found, 900))
    assert sum(mark.rank == ENDS for mark in found) == 2 * len(LANES)


def test_each_mark_is_counted_once_in_the_part_of_its_time() -> None:
    found = marks(rows(3, 400))
    first, last = found[0].row.now_ms, found[-1].row.now_ms
    for slots in (1, 7, 600):
        counts = counted(found, first, last, slots)
        assert sum(map(sum, counts.values())) == len(found)
        assert sum(numbers[0] for numbers in counts.values()) >= 1
        assert sum(numbers[-1] for numbers in counts.values()) >= 1


def test_every_sentence_is_said_in_both_languages() -> None:
    node: dict[str, Any] = {"spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    sick: dict[str, Any] = {"spec": {}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    held = {"spec": {"holderIdentity": "a"}}
    refused = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "no room"}]}}
    cases: list[tuple[Verb, str, dict[str, Any], dict[str, Any] | None, str]] = [
        ("ADDED", "nodes", {}, None, "o made"),
        ("DELETED", "nodes", {}, {}, "o deleted"),
        ("MODIFIED", "configmaps", {}, {}, "o changed"),
        ("MODIFIED", "pods", {"metadata": {"deletionTimestamp": "x"}}, {}, "o is told to end"),
        ("MODIFIED", "pods", {"spec": {"nodeName": "n1"}}, {}, "o bound to n1"),
        ("MODIFIED", "pods", {"status": {"nominatedNodeName": "n1"}}, {}, "o nominated to n1"),
        ("MODIFIED", "pods", {"status": {"phase": "Running"}}, {}, "o is Running"),
        ("MODIFIED", "pods", refused, {}, "o: no room"),
        ("MODIFIED", "nodes", node, sick, "o is ready"),
        ("MODIFIED", "nodes", sick, node, "o is not ready"),
        ("MODIFIED", "nodes", {"spec": {"unschedulable": True}}, {}, "o cordoned"),
        ("MODIFIED", "nodes", {}, {"spec": {"unschedulable": True}}, "o uncordoned"),
        ("MODIFIED", "nodes", {"spec": {"taints": [taint]}}, {}, "o has the taints gpu=yes:NoSchedule"),
        ("MODIFIED", "nodes", {}, {"spec": {"taints": [taint]}}, "o has no taints any more"),
        ("ADDED", "leases.coordination.k8s.io", held, None, "o held by a"),
        ("MODIFIED", "leases.coordination.k8s.io", held, held, "o renewed by a"),
        ("MODIFIED", "leases.coordination.k8s.io", {"spec": {}}, held, "o given up"),
        ("MODIFIED", "jobs.batch", {"spec": {"replicas": 3}}, {"spec": {"replicas": 1}}, "o scaled from 1 to 3"),
        (
            "MODIFIED",
            "replicasets.apps",
            {"spec": {"replicas": 3}, "status": {"readyReplicas": 1}},
            {"spec": {"replicas": 3}},
            "o has 1 of 3 ready",
        ),
        ("MODIFIED", "clocks.clustersim.io", {"spec": {"paused": True}}, {}, "time stands still"),
        ("MODIFIED", "clocks.clustersim.io", {"spec": {"paused": False, "rate": 2}}, {}, "time runs at 2 ×"),
    ]
    assert len(cases) == len(SENTENCES)
    for verb, resource, now, before, text in cases:
        assert text_of("en", verb, resource, "o", now, before) == text
        assert text_of("zh-hans", verb, resource, "o", now, before) != text
    assert all(len(sentences) == len(LANGUAGES) for sentences in SENTENCES.values())
