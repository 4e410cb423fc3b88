"""Fixtures that more than one area uses."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.tools import server as server_module


@pytest.fixture(scope="session")
def server_tool() -> ModuleType:
    """Return tests/tools/server.py, for tests that start installations of their own."""
    return server_module


@pytest.fixture(scope="session")
def live_server_up() -> Iterator[server_module.Server]:
    """Yield one running installation (`manage.py up`, SQLite, embedded Redis) for the whole run."""
    with server_module.running() as server:
        yield server
