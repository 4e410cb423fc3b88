"""One whole installation for all clients that a worker tries: each opens a session of its own on it."""

from __future__ import annotations

import itertools
import urllib.request
from collections.abc import Iterator

import pytest

from tests.clients.places import Place
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import Server, running

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture(scope="module")
def place(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a session with three nodes, ten times as fast as a wall clock, and its kubeconfig as the page gives it."""
    asked = {"title": f"Client {next(_numbers)}", "template": "three-nodes", "seed": 5}
    status, made = server.request("POST", "/api/sessions", asked)
    assert status == 201, made
    clock = f"/api/sessions/{made['code']}/clock"
    assert server.obeyed("PATCH", clock, {"rate": 10, "pace": 0}, made["token"])[0] == 200
    file = tmp_path_factory.mktemp("client") / "config"
    request = urllib.request.Request(f"{server.url}/api/sessions/{made['code']}/kubeconfig")
    request.add_header("Authorization", f"Bearer {made['token']}")
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        file.write_bytes(answer.read())
    return Place(server, made["code"], made["token"], file)
