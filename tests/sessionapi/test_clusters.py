"""A session opened on a real cluster as kubectl tells it: held at a waiting pod's decision, and no Secret in it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command

from tests.tools.server import Server
from tests.whatif.test_why import CLUSTER

SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "door", "namespace": "shop"},
    "data": {"key": "b3Blbi1zZXNhbWU="},
}
OWNED = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "gone"}]}


def opened(server: Server, objects: list[Any], **query: str) -> tuple[int, Any]:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    return server.request("POST", f"/api/clusters?{urlencode(query)}", listed)


def test_a_cluster_opens_at_the_decision_about_its_waiting_pod(live_server_up: Server) -> None:
    server = live_server_up
    held = next(one for one in CLUSTER if one["metadata"]["name"] == "holder")
    owned = {**held, "metadata": {**held["metadata"], **OWNED}}
    objects = [owned if one is held else one for one in CLUSTER]
    status, session = opened(server, [SECRET, *objects, SECRET], title="shop.json")
    assert status == 201, session
    assert session["pod"] == "shop/report"
    call = lambda path: server.request("GET", path, None, session["token"])[1]  # noqa: E731
    at = f"/api/sessions/{session['code']}"
    assert call(f"{at}/clock")["paused"] is True
    (decision, *_) = call(f"{at}/decisions?pod=shop/report")
    assert decision["result"]["fitError"].startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 2 Insufficient cpu."
    )
    assert set(decision["result"]["preemption"]["candidates"]) == {"far", "near"}
    refusals = decision["explanation"]["refusals"]
    assert refusals["near"][0] | {"size": 0} == {
        "kind": "resource", "resource": "cpu", "asked": 1000, "free": 800, "missing": 200, "size": 0,
    }  # fmt: skip
    fits = call(f"{at}/decisions/{decision['id']}/fits")
    assert fits[0]["text"]["en"] == "ask for cpu 800m instead of cpu 1"
    cluster = f"/clusters/{session['code'].replace('-', '')}/api/v1"
    assert not [one for one in call(f"{cluster}/secrets")["items"] if one["metadata"]["name"] == "door"]
    # Owners that did not come along would have their pods collected once time runs.
    assert "ownerReferences" not in call(f"{cluster}/namespaces/shop/pods/holder")["metadata"]
    assert "b3Blbi1zZXNhbWU=" not in json.dumps(call(f"{at}/export?format=json"))


def test_the_command_opens_a_session_from_a_pipe_and_prints_its_address(live_server_up: Server, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}))
    out = io.StringIO()
    call_command("why", "shop/small", file=file, open=live_server_up.url, stdout=out)
    address = out.getvalue().strip()
    page, secret = address.split("#")
    assert page.startswith(f"{live_server_up.url}/s/")
    assert page.endswith("?pod=shop/small")
    assert secret
    for wanted, server, words in (
        ("shop/none", live_server_up.url, "there is no pod 'shop/none'"),
        ("-", "http://127.0.0.1:1", "cannot be reached"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("why", wanted, file=file, open=server)


def test_another_pod_is_asked_about_by_name_and_what_cannot_be_opened_says_why(live_server_up: Server) -> None:
    server = live_server_up
    assert opened(server, CLUSTER, pod="shop/small")[1]["pod"] == "shop/small"
    status, refused = opened(server, [one for one in CLUSTER if one["kind"] == "Node"])
    assert (status, refused["message"]) == (404, "no pod is pending: all of 0 pods have a node")
    assert opened(server, CLUSTER, pod="shop/web")[0] == 422
    assert opened(server, [])[0] == 400
