"""Web processes for the tests of the REST surface, one a database, with the engine off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apiserver.widgets import DEFINITIONS, definition
from tests.tools import postgres
from tests.tools.apiserver import Api, serving
from tests.tools.room import Room


@pytest.fixture(scope="session")
def sqlite_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("apiserver")) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with (
        postgres.running() as url,
        serving(tmp_path_factory.mktemp("apiserver"), {"DATABASE_URL": url}) as server,
    ):
        yield server


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest) -> Api:
    """Return a web process with one session and one person of each role."""
    server: Api = request.getfixturevalue(f"{request.param}_api")
    return server


@pytest.fixture
def namespace(api: Api) -> str:
    """Return a fresh namespace for one test."""
    status, document, _ = api.request("POST", "/api/v1/namespaces", {"metadata": {"generateName": "t-"}})
    assert status == 201
    return str(document["metadata"]["name"])


@pytest.fixture
def room(own_database: None) -> Room:
    """Return an open session with its control plane in this process."""
    return Room()


@pytest.fixture
def defined(room: Room) -> Room:
    """Return a session in which widgets are defined."""
    room.made(DEFINITIONS, definition())
    return room
