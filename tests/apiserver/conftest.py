"""One web process for the tests of the REST surface, with the engine off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tools.apiserver import Api, serving


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("apiserver")) as server:
        yield server


@pytest.fixture
def namespace(api: Api, request: pytest.FixtureRequest) -> str:
    """Return a fresh namespace for one test."""
    status, document, _ = api.request("POST", "/api/v1/namespaces", {"metadata": {"generateName": "t-"}})
    assert status == 201
    return str(document["metadata"]["name"])
