"""Every published path with bodies gone wrong: no fault of the server, nothing changed by what was refused."""

from __future__ import annotations

import logging

import pytest

from clustersim.apiserver import watching
from tests.attack.published import WATCH_SECONDS, Attack, resident
from tests.tools.application import bearer, http, opened

logging.getLogger("httpx").setLevel(logging.WARNING)

REQUESTS = 1_000
"""Requests of one seed, about five seconds of a processor."""

MEGABYTES = 256
"""How much more memory a run may take at most: models, schemas and sessions, and nothing for every request."""


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_the_published_paths_are_sent_nothing_breaks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "TIMEOUT_SECONDS_MAX", WATCH_SECONDS)
    before = resident()
    async with http() as client:
        attack = Attack(client, seed)
        await attack.run(REQUESTS)
    assert not attack.findings
    # It is no attack if all is turned away at the door.
    assert attack.statuses[200] > 100
    assert attack.statuses[201] > 3
    assert attack.statuses[422] > 30
    assert resident() - before < MEGABYTES << 20


async def test_a_fault_is_found() -> None:
    async with http() as client:
        attack = Attack(client, 1)
        answer = await client.get("/clusters/ABC-DEF/api/v1")
        attack.judge(answer, "asked", changed=True, dry=False)
        answer.status_code = 500
        attack.judge(answer, "asked", changed=False, dry=False)
        answer.status_code = 200
        attack.judge(answer, "asked", changed=True, dry=True)
        assert [finding.what for finding in attack.findings] == ["changed", "5xx", "changed"]


REVIEWS = (
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    "/apis/authentication.k8s.io/v1/tokenreviews",
    "/api/v1/namespaces/default/serviceaccounts/default/token",
)


@pytest.mark.parametrize("path", REVIEWS)
async def test_a_review_of_wrong_types_is_refused_as_upstream_refuses_it(path: str) -> None:
    async with http() as client:
        session = await opened(client)
        headers = bearer(session["token"])
        answer = await client.post(f"/clusters/{session['code']}{path}", json={"spec": 3}, headers=headers)
    assert answer.status_code == 400
    assert "cannot be handled as a" in answer.json()["message"]
    assert "json: cannot unmarshal number into Go struct field" in answer.json()["message"]


async def test_the_metadata_sent_with_a_status_is_read_as_all_metadata() -> None:
    async with http() as client:
        session = await opened(client)
        nodes, headers = f"/clusters/{session['code']}/api/v1/nodes", bearer(session["token"])
        assert (await client.post(nodes, json={"metadata": {"name": "n"}}, headers=headers)).status_code == 201
        merge = headers | {"Content-Type": "application/merge-patch+json"}
        patch = {"metadata": {"labels": {"a": 1.5}}}
        answer = await client.patch(f"{nodes}/n/status", json=patch, headers=merge)
        assert answer.status_code in (400, 422), answer.text
        good = await client.patch(f"{nodes}/n/status", json={"metadata": {"labels": {"a": "b"}}}, headers=merge)
        assert (good.status_code, good.json()["metadata"]["labels"]["a"]) == (200, "b")


async def test_bytes_that_are_no_base64_are_refused() -> None:
    async with http() as client:
        session = await opened(client)
        path = f"/clusters/{session['code']}/apis/apiregistration.k8s.io/v1/apiservices"
        spec = {"group": "a.dev", "version": "v1", "groupPriorityMinimum": 5, "versionPriority": 5, "caBundle": "a"}
        body = {"metadata": {"name": "v1.a.dev"}, "spec": spec}
        answer = await client.post(path, json=body, headers=bearer(session["token"]))
    assert (answer.status_code, "illegal base64 data" in answer.json()["message"]) == (400, True)


async def test_an_older_version_without_metadata_is_refused_for_what_it_lacks() -> None:
    async with http() as client:
        session = await opened(client)
        path = f"/clusters/{session['code']}/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
        answer = await client.post(path, json={}, headers=bearer(session["token"]))
    assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "metadata.name")
