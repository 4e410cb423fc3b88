"""Whatever is sent, the answer is a result or a Status with a 4xx code, and a refusal changes nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.application import bearer, http, opened

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=60)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
FIELDS = st.sampled_from(
    [
        "title",
        "template",
        "seed",
        "name",
        "manifest",
        "secret",
        "role",
        "nodes",
        "pods",
        "limit",
        "seconds",
        "kind",
        "by",
    ]
)
ROUTES = st.sampled_from(
    ["", "/{code}/join", "/{code}/enter", "/{code}/people", "/{code}/import", "/{code}/replays", "/{code}/clock/step"]
)
OBJECTS = st.fixed_dictionaries(
    {
        "apiVersion": st.sampled_from(["v1", "apps/v1", "clustersim.io/v1"]) | SCALARS,
        "kind": st.sampled_from(["Pod", "Node", "Deployment", "Namespace", "ConfigMap", "Clock", "List"]) | SCALARS,
        "metadata": st.dictionaries(st.sampled_from(["name", "namespace", "labels", "annotations", "uid"]), JSON)
        | JSON,
    },
    optional={"spec": JSON, "status": JSON, "items": st.lists(JSON, max_size=3), "data": JSON},
)

patient = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def check(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        status = answer.json()
        assert (status["kind"], status["code"]) == ("Status", answer.status_code)
        assert status["message"]


async def revision(client: httpx.AsyncClient, session: dict[str, Any]) -> int:
    answer = await client.get(f"/api/sessions/{session['code']}", headers=bearer(session["token"]))
    return int(answer.json()["revision"])


@patient
@given(ROUTES, st.dictionaries(FIELDS | st.text(max_size=6), JSON, max_size=4) | JSON)
def test_any_body_is_answered(route: str, body: Any) -> None:
    async def story() -> None:
        async with http() as client:
            session = await opened(client)
            path = "/api/sessions" + route.format(code=session["code"])
            before = await revision(client, session)
            answer = await client.post(path, content=json.dumps(body), headers=bearer(session["token"]))
            check(answer)
            if answer.status_code >= 400:
                assert await revision(client, session) == before

    asyncio.run(story())


@patient
@given(st.lists(OBJECTS, max_size=4))
def test_any_object_is_applied_whole_or_refused(objects: list[dict[str, Any]]) -> None:
    async def story() -> None:
        async with http() as client:
            session = await opened(client)
            document = {"apiVersion": "v1", "kind": "List", "items": objects}
            answer = await client.post(
                f"/api/sessions/{session['code']}/import",
                content=json.dumps(document),
                headers=bearer(session["token"]),
            )
            check(answer)
            if answer.status_code == 200:
                for result in answer.json()["results"]:
                    assert ("error" in result) == (result["action"] == "failed")
                    if result["action"] == "failed":
                        assert 400 <= result["error"]["code"] < 500, result

    asyncio.run(story())


@patient
@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    async def story() -> None:
        async with http() as client:
            session = await opened(client)
            for path in ("import", "join", "replays"):
                check(
                    await client.post(
                        f"/api/sessions/{session['code']}/{path}", content=data, headers=bearer(session["token"])
                    )
                )

    asyncio.run(story())
