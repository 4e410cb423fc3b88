"""A session as one HTML file: what it holds, who may have it, and that nothing in it leads out."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from typing import Any

import httpx
import pytest

from clustersim.recording import document
from clustersim.sessionapi import recording
from tests.sessionapi.test_past import PODS, ask, compact, joined, make, pod, row_of
from tests.tools.application import http, opened

TITLE = 'A </script><img src="http://elsewhere.invalid/x"> "class"'


def unpacked(file: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/gzip" id="packed">([A-Za-z0-9+/=]+)</script>', file)
    assert match is not None
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(match[1])))
    return found


async def recorded(client: httpx.AsyncClient, session: dict[str, Any], **query: str) -> str:
    answer = await ask(client, session, "export", params={"format": "html", **query})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment;")
    return answer.text


def folded(found: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """Return the revision of every object after the last row."""
    rows = [(one["resource"], one, "ADDED") for one in found["objects"]]
    rows += [(row["resource"], row["object"], row["verb"]) for row in found["rows"]]
    there: dict[tuple[str, str, str], str] = {}
    for resource, one, verb in rows:
        metadata = one["metadata"]
        key = (resource, metadata.get("namespace", ""), metadata["name"])
        there[key] = metadata["resourceVersion"]
        if verb == "DELETED":
            del there[key]
    return there


async def test_list_and_rows_lead_to_what_there_is_now() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes", title=TITLE)
        await make(client, session, PODS, pod("a"))
        await make(client, session, PODS, pod("b"))
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "unheard-of"}}
        await make(client, session, "/api/v1/namespaces/default/secrets", secret)
        file = await recorded(client, session)
        found = unpacked(file)["recorded"]
        listed = (await client.get(f"/clusters/{session['code']}{PODS}")).json()["items"]
        now = {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in listed}
        held = {key[2]: rv for key, rv in folded(found).items() if key[:2] == ("pods", "default")}
        assert held == now
        assert found["hello"]["revision"] == found["rows"][-1]["revision"]
        assert found["hello"]["me"]["role"] == "viewer"
        assert {mark["object"] for mark in found["marks"]["en"]} >= {"default/a", "default/b"}
        assert [mark["rv"] for mark in found["marks"]["zh-hans"]] == [mark["rv"] for mark in found["marks"]["en"]]
        assert "unheard-of" not in json.dumps(found)
        assert base64.b64encode(b"unheard-of").decode() not in json.dumps(found)
        assert session["token"] not in json.dumps(found)


async def test_nothing_in_the_file_leads_out_and_only_its_own_script_runs() -> None:
    async with http() as client:
        session = await opened(client, "empty", title=TITLE)
        file = await recorded(client, session, language="zh-hans")
        assert '<html lang="zh-Hans"' in file
        assert "elsewhere.invalid/x&quot;&gt;" in file, "the title is text"
        head, _, body = file.partition("</head>")
        assert re.findall(r'(?:src|href|action)="(?!#)([^"]*)"', head + re.sub(r'id="packed">.*?<', "<", body)) == []
        scripts = re.findall(r"<script>(.*?)</script>", file, re.DOTALL)
        assert len(scripts) == 1
        digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', file)
        assert policy is not None
        assert f"script-src &#x27;sha256-{digest}&#x27; blob:" in policy[1]
        assert "default-src &#x27;none&#x27;" in policy[1]


async def test_everybody_may_have_it_and_a_wrong_language_is_named() -> None:
    async with http() as client:
        session = await opened(client, "empty")
        student = {**session, **await joined(client, session, "Ann")}
        assert [one["name"] for one in unpacked(await recorded(client, student))["recorded"]["people"]][-1] == "Ann"
        wrong = await ask(client, session, "export", params={"format": "html", "language": "tlh"})
        assert (wrong.status_code, wrong.json()["details"]["causes"][0]["field"]) == (422, "language")


async def test_a_compacted_session_begins_where_it_is_kept() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        kept = await make(client, session, PODS, pod("a"))
        await make(client, session, PODS, pod("b"))
        await compact((await row_of(session)).id, kept)
        found = unpacked(await recorded(client, session))["recorded"]
        assert found["base"] == kept
        assert {one["metadata"]["name"] for one in found["objects"] if one["resource"] == "pods"} >= {"a"}
        assert ("pods", "default", "b") in folded(found)


async def test_a_session_that_is_too_long_begins_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        for number in range(8):
            await make(client, session, PODS, pod(f"p{number}"))
        whole = await recorded(client, session)
        rows = len(unpacked(whole)["recorded"]["rows"])
        monkeypatch.setattr(recording, "DOCUMENT_BYTES_MAX", len(whole) - 1)
        short = await recorded(client, session)
        found = unpacked(short)["recorded"]
        assert len(short) < len(whole)
        assert 0 < len(found["rows"]) < rows
        assert ("pods", "default", "p7") in folded(found)
        assert document.DOCUMENT_BYTES_MAX == 3_000_000
