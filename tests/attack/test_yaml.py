"""YAML that is made to hurt: nested, self-holding, exploding, slow. One reader refuses it on every way in, early."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from clustersim import documents
from scheduler_core.api.errors import ApiError
from tests.tools.application import bearer, http, joined, opened

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
TALL = "a0: &a0 1\n" + "".join(
    f"a{number + 1}: &a{number + 1} {'[' * 40}*a{number}{']' * 40}\n" for number in range(100)
)
LONG = "a: &a " + "x" * 10_000 + "\nb: [" + "*a, " * 4_000 + "]\n"
HOSTILE = {
    "80 KB of lists in lists": "[" * 40_000 + "]" * 40_000,
    "mappings in mappings": "{" * 100_000,
    "block lists on one line": "- " * 100_000,
    "block mappings": "\n".join(" " * depth + "a:" for depth in range(1_000)),
    "complex keys in complex keys": "{? " * 50_000,
    "an alias that holds itself": "a: &a [*a]",
    "a billion laughs": LAUGHS,
    "aliases that make each other deeper": TALL,
    "a long text thousands of times": LONG,
    "merges of merges": "a: &a {x: 1}\n"
    + "".join(f"m{n}: &m{n} {{<<: [{', '.join(['*m' + str(n - 1) if n else '*a'] * 10)}]}}\n" for n in range(9)),
    "directives that are compared with each other": "\n".join(f"%TAG !a{number}! x" for number in range(60_000)),
}


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE.keys())
def hostile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_is_refused_as_a_bad_request(hostile: str) -> None:
    with pytest.raises(ApiError) as refusal:
        list(documents.yaml_values(hostile))
    assert refusal.value.code == 400


def test_it_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nesting is refused where it begins: what comes behind costs nothing."""
    taken = 0
    parse = yaml.parse

    def counted(*arguments: Any, **options: Any) -> Iterator[yaml.Event]:
        nonlocal taken
        for event in parse(*arguments, **options):
            taken += 1
            yield event

    monkeypatch.setattr(documents.yaml, "parse", counted)
    for name in ("80 KB of lists in lists", "mappings in mappings", "block lists on one line", "block mappings"):
        taken = 0
        with pytest.raises(ApiError, match="nested deeper"):
            list(documents.yaml_values(HOSTILE[name]))
        assert taken < 4 * documents.DEPTH_MAX


async def test_every_way_in_refuses_it_and_goes_on(hostile: str) -> None:
    """80 KB of brackets once ended the process: the Kubernetes API, import, the template and the scheduler's route."""
    async with http() as client:
        session = await opened(client)
        student = await joined(client, session, "Ann")
        headers = {**bearer(student["token"]), "Content-Type": "application/yaml"}
        clusters = f"/clusters/{session['code']}/api/v1/namespaces/{student['namespace']}"
        api = f"/api/sessions/{session['code']}"
        answers = [
            await client.post(f"{clusters}/configmaps", content=hostile.encode(), headers=headers),
            await client.patch(
                f"{clusters}/configmaps/a?fieldManager=somebody",
                content=hostile.encode(),
                headers={**headers, "Content-Type": "application/apply-patch+yaml"},
            ),
            await client.post(f"{api}/import", content=hostile.encode(), headers=headers),
            await client.put(f"{api}/scheduler", content=hostile[:60_000].encode(), headers=bearer(session["token"])),
            await client.post("/api/sessions", json={"title": "x", "template": "import", "manifest": hostile}),
        ]
        assert [answer.status_code for answer in answers] == [400] * len(answers), [a.text[:200] for a in answers]
        assert all(answer.json()["kind"] == "Status" for answer in answers)
        assert (await client.get(api, headers=headers)).status_code == 200


def test_a_scenario_is_refused_too(hostile: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(hostile)
    with pytest.raises(CommandError):
        call_command("simulate", str(file), stdout=io.StringIO())


SAME = """
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {%s}
"""
TEXTS = ("12:30", "2024-01-01", "1.0.0", "'yes'", "=", "!own x", "&a b", "0x")


@pytest.mark.parametrize("text", TEXTS)
async def test_a_value_is_read_alike_by_every_door(text: str) -> None:
    async with http() as client:
        session = await opened(client)
        headers = {**bearer(session["token"]), "Content-Type": "application/yaml"}
        path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps"
        body = SAME % f"a: {text}"
        posted = await client.post(path, content=body, headers=headers)
        assert posted.status_code == 201, posted.text
        assert (await client.delete(f"{path}/same", headers=headers)).status_code == 200
        imported = await client.post(f"/api/sessions/{session['code']}/import", content=body, headers=headers)
        assert imported.json()["created"] == 1, imported.text
        assert (await client.get(f"{path}/same", headers=headers)).json()["data"] == posted.json()["data"]


@pytest.mark.parametrize(("text", "value"), [("1e3", 1000), ("0x10", 16), ("010", 8), ("1_0", 10)])
async def test_a_number_is_read_alike_by_every_door(text: str, value: int) -> None:
    async with http() as client:
        session = await opened(client)
        headers = {**bearer(session["token"]), "Content-Type": "application/yaml"}
        base = f"/clusters/{session['code']}/apis/apps/v1/namespaces/default/replicasets"
        body = """{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: %s}, spec: {replicas: %s, selector:
            {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
            spec: {containers: [{name: c, image: i}]}}}}"""
        posted = await client.post(base, content=body % ("one", text), headers=headers)
        assert posted.json()["spec"]["replicas"] == value, json.dumps(posted.json())
        await client.post(f"/api/sessions/{session['code']}/import", content=body % ("two", text), headers=headers)
        assert (await client.get(f"{base}/two", headers=headers)).json()["spec"]["replicas"] == value
