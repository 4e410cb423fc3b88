"""Objects as large as they may be, and as many: frames fit, pages live on, one student cannot fill the store."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from clustersim.classroom.allowance import STUDENT_BYTES_MAX, STUDENT_OBJECTS_MAX
from clustersim.feed.batch import FRAME_BYTES, Batch, encode
from clustersim.feed.slim import OBJECT_BYTES_MAX
from clustersim.feed.view import CHUNK_BYTES, SlimView
from controllers.log.memory import MemoryStore
from tests.tools.application import Socket, bearer, http, joined, opened

WEBSOCKET_BYTES_MAX = 1024 * 1024
"""Daphne's limit of one message: a longer one ends the socket with 1011."""

LABELS = {f"label-{number}": "x" * 60 for number in range(15_000)}
TEXTS: dict[str, Any] = {
    "many labels": {"metadata": {"labels": LABELS}},
    "many owners": {"metadata": {"ownerReferences": [{"kind": "x" * 200, "name": str(n)} for n in range(9_000)]}},
    "a long own annotation": {"metadata": {"annotations": {"clustersim.io/note": "ä" * 900_000}}},
    "long keys": {"metadata": {"labels": {"k" * 250 + str(number): "" for number in range(6_000)}}},
    "a long status": {"metadata": {}, "status": {"conditions": [{"type": "t", "message": "m" * 2_000_000}]}},
    "deep and wide": {"metadata": {}, "spec": {"taints": [{"key": "k" * 300, "value": "v" * 300}] * 9_000}},
}


def document(text: dict[str, Any], name: str = "large") -> dict[str, Any]:
    identity = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    return {**text, "metadata": {**text["metadata"], **identity}}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("resource", ["nodes", "configmaps", "replicas.clustersim.io"])
def test_an_object_fits_whatever_is_in_it(resource: str, text: dict[str, Any]) -> None:
    data = encode(resource, document(text), None)
    assert len(data) <= OBJECT_BYTES_MAX
    made = json.loads(data)
    assert (made["resource"], made["metadata"]["name"], made["metadata"]["uid"]) == (resource, "large", "uid-large")


def test_only_what_is_too_large_is_cut() -> None:
    small = {"metadata": {"name": "a", "labels": dict(list(LABELS.items())[:3_000])}}
    assert json.loads(encode("configmaps", small, None)) == {"resource": "configmaps", **small}
    assert json.loads(encode("configmaps", document(TEXTS["many labels"]), None))["cut"] is True


def test_frames_fit_and_join_without_a_gap() -> None:
    store = MemoryStore(seed=1)
    with store.transaction("session") as transaction:
        for number in range(40):
            name = f"c{number}"
            transaction.put("configmaps", "", name, document(TEXTS["many labels"], name))
    batch = Batch(0, store.revision, store.events(0))
    frames = [json.loads(frame) for frame in batch.frames]
    assert max(map(len, batch.frames)) < FRAME_BYTES + OBJECT_BYTES_MAX + 4_096 < WEBSOCKET_BYTES_MAX
    assert [frame["from"] for frame in frames] == [0, *(frame["to"] for frame in frames[:-1])]
    assert frames[-1]["to"] == store.revision
    assert len([event for frame in frames for event in frame["events"]]) == 40
    listed = SlimView.read(store).frames()
    assert max(map(len, listed)) < CHUNK_BYTES + OBJECT_BYTES_MAX + 4_096 < WEBSOCKET_BYTES_MAX


async def test_a_page_lives_on_beside_an_object_of_a_megabyte() -> None:
    """Every page's websocket once ended with 1011, and no new page got a list."""
    async with http() as client:
        session = await opened(client)
        student = await joined(client, session, "Ann")
        body = {"metadata": {"name": "large", "labels": LABELS}}
        async with Socket(session["code"], bearer(session["token"])) as page:
            await page.send(type="subscribe")
            while not (await page.until("list"))["last"]:
                pass
            path = f"/clusters/{session['code']}/api/v1/namespaces/{student['namespace']}/configmaps"
            made = await client.post(path, json=body, headers=bearer(student["token"]))
            assert made.status_code == 201, made.text[:300]
            names: list[str] = []
            while "large" not in names:
                frame = await page.until("events")
                assert len(json.dumps(frame)) < WEBSOCKET_BYTES_MAX
                names += [event["object"]["metadata"]["name"] for event in frame["events"]]
        async with Socket(session["code"], bearer(session["token"])) as page:
            await page.send(type="subscribe")
            found: list[dict[str, Any]] = []
            last = False
            while not last:
                frame = await page.until("list")
                assert len(json.dumps(frame)) < WEBSOCKET_BYTES_MAX
                found, last = found + frame["objects"], frame["last"]
            assert [thing["cut"] for thing in found if thing["metadata"]["name"] == "large"] == [True]


class Student:
    """Somebody who writes ConfigMaps without end."""

    def __init__(self, client: httpx.AsyncClient, session: dict[str, Any], seat: dict[str, Any]) -> None:
        self._client = client
        self._base = f"/clusters/{session['code']}"
        self.namespace = seat["namespace"]
        self.headers = bearer(seat["token"])

    async def write(self, name: str, size: int = 0, method: str = "POST") -> httpx.Response:
        path = f"{self._base}/api/v1/namespaces/{self.namespace}/configmaps"
        body = {"metadata": {"name": name}, "data": {"a": "x" * size}}
        return await self._client.request(
            method, path if method == "POST" else f"{path}/{name}", json=body, headers=self.headers
        )

    async def deploy(self, name: str, replicas: int) -> httpx.Response:
        template = {"metadata": {"labels": {"a": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": {"a": name}}, "template": template}
        path = f"{self._base}/apis/apps/v1/namespaces/{self.namespace}/deployments"
        return await self._client.post(path, json={"metadata": {"name": name}, "spec": spec}, headers=self.headers)


async def test_what_one_student_keeps_is_bounded_in_bytes() -> None:
    async with http() as client:
        session = await opened(client)
        ann = Student(client, session, await joined(client, session, "Ann"))
        bob = Student(client, session, await joined(client, session, "Bob"))
        codes = [(await ann.write(f"c{number}", 1_000_000)).status_code for number in range(4)]
        assert codes == [201] * 4
        refused = await ann.write("c4", 1_000_000)
        assert (refused.status_code, refused.json()["reason"]) == (403, "Forbidden")
        assert 'configmaps "c4" is forbidden: exceeded quota: student, requested: bytes=' in refused.json()["message"]
        assert f"limited: bytes={STUDENT_BYTES_MAX}" in refused.json()["message"]
        # What does not grow goes on, and so does everybody else.
        assert (await ann.write("c0", 10, "PUT")).status_code == 200
        assert (await bob.write("c0", 10)).status_code == 201
        many = {"apiVersion": "v1", "kind": "List", "items": []}
        many["items"] = [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"i{n}"}, "data": {"a": "x" * 900_000}}
            for n in range(2)
        ]
        path = f"/api/sessions/{session['code']}/import"
        imported = (await client.post(path, json=many, headers=ann.headers)).json()
        assert [result["action"] for result in imported["results"]] == ["created", "failed"], imported
        assert imported["results"][1]["error"]["code"] == 403


async def test_what_one_student_keeps_is_bounded_in_objects() -> None:
    async with http() as client:
        session = await opened(client)
        ann = Student(client, session, await joined(client, session, "Ann"))
        assert (await ann.deploy("small", STUDENT_OBJECTS_MAX - 100)).status_code == 201
        refused = await ann.deploy("large", 200)
        assert refused.status_code == 403
        assert f"limited: count/objects={STUDENT_OBJECTS_MAX}" in refused.json()["message"]
        assert (await ann.deploy("tiny", 5)).status_code == 201


async def test_a_student_who_rewrites_large_objects_is_slowed_down(no_refill: None) -> None:
    async with http() as client:
        session = await opened(client)
        ann = Student(client, session, await joined(client, session, "Ann"))
        assert (await ann.write("c", 1_000_000)).status_code == 201
        answers = [await ann.write("c", 1_000_000 - number, "PUT") for number in range(20)]
        slowed = [answer for answer in answers if answer.status_code == 429]
        assert slowed
        assert int(slowed[0].headers["retry-after"]) > 0


async def test_labels_have_upstreams_syntax_and_annotations_its_size() -> None:
    async with http() as client:
        session = await opened(client)
        path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps"
        headers = bearer(session["token"])
        wrong = {"metadata": {"name": "a", "labels": {"a": "x" * 64}}}
        answer = await client.post(path, json=wrong, headers=headers)
        assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "metadata.labels")
        heavy = {"metadata": {"name": "a", "annotations": {"a": "x" * 262_144}}}
        answer = await client.post(path, json=heavy, headers=headers)
        assert (answer.status_code, answer.json()["message"]) == (
            422,
            'ConfigMap "a" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
        )
