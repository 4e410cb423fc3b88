"""A subresource has the verbs that upstream gives it, and no others: nothing is written by a detour."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.table import KINDS
from controllers.registry.kind import Kind, Subresource
from tests.tools.application import bearer, http, opened

VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
SUBRESOURCES = [(kind, subresource) for kind in KINDS for subresource in kind.subresources]
POD = {
    "metadata": {"name": "p", "labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
UPSTREAM = {
    "log": {"get"},
    "eviction": {"create"},
    "binding": {"create"},
    "status": {"get", "patch", "update"},
    "scale": {"get", "patch", "update"},
    "finalize": {"update"},
}


def path_of(kind: Kind, subresource: Subresource) -> str:
    prefix = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    home = "/namespaces/default" if kind.namespaced else ""
    return f"{prefix}{home}/{kind.plural}/p/{subresource.name}"


@pytest.mark.parametrize("name", UPSTREAM)
def test_the_table_says_what_upstream_says(name: str) -> None:
    found = {frozenset(subresource.verbs) for _, subresource in SUBRESOURCES if subresource.name == name}
    assert found == {frozenset(UPSTREAM[name])}


async def test_other_verbs_are_refused_on_every_subresource() -> None:
    async with http() as client:
        session = await opened(client)
        headers = bearer(session["token"])
        wrong: list[tuple[str, str, int]] = []
        for kind, subresource in SUBRESOURCES:
            for method, verb in VERBS.items():
                if verb in subresource.verbs or kind.group == "clustersim.io":
                    continue
                path = path_of(kind, subresource)
                answer = await client.request(
                    method, f"/clusters/{session['code']}{path}", json={"metadata": {"name": "p"}}, headers=headers
                )
                if answer.status_code != 405 or answer.json()["reason"] != "MethodNotAllowed":
                    wrong.append((method, path, answer.status_code))
        assert wrong == []


@pytest.mark.parametrize("subresource", ["log", "eviction", "binding", "exec", "attach", "portforward"])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_component_changes_no_labels_by_a_subresource(method: str, subresource: str) -> None:
    async with http() as client:
        session = await opened(client)
        teacher = bearer(session["token"])
        api = f"/api/sessions/{session['code']}"
        seat = await client.post(f"{api}/people", json={"role": "component", "name": "s"}, headers=teacher)
        component = bearer(seat.json()["token"])
        pods = f"/clusters/{session['code']}/api/v1/namespaces/default/pods"
        made: dict[str, Any] = (await client.post(pods, json=POD, headers=teacher)).json()
        body = {**made, "metadata": {**made["metadata"], "labels": {"a": "stolen"}}}
        for headers in (component, teacher):
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            answer = await client.request(
                method, f"{pods}/p/{subresource}", json=body, headers={**headers, "Content-Type": kind}
            )
            assert answer.status_code in (403, 405), answer.text
        assert (await client.get(f"{pods}/p", headers=teacher)).json()["metadata"] == made["metadata"]
