"""Fixtures that more than one area uses."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from scheduler_core.kernels.collecting import collect_rarely
from tests.tools import databases, order, postgres
from tests.tools import server as server_module

# Tests never time: a busy machine makes no example wrong. A change is judged by the examples that the one before it
# was judged by; who looks for others asks for `--hypothesis-profile=explore`.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("clustersim", settings.get_profile("explore"), derandomize=True)
settings.load_profile("clustersim")


_living: list[server_module.Server] = []
"""The installation of this run, once a test has asked for it."""


@pytest.fixture(autouse=True)
def _counts_forgotten() -> None:
    """Tests ask from one address, in one minute, what a school asks in a year: each begins with full buckets."""
    from clustersim.classroom import limits

    limits.forget()


@pytest.fixture
def no_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the buckets of this process as they are left, however slow the machine."""
    from clustersim.classroom import limits

    now = time.monotonic()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now))


@pytest.fixture(autouse=True)
def _sessions_asleep(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the sessions of a test sleep when it ends: hundreds of tests in one process are no crowd of classes."""
    yield
    if "application_database" in request.fixturenames:
        from clustersim.store.models import Session

        Session.objects.filter(hibernated=False).update(hibernated=True)


@pytest.fixture(scope="session")
def server_tool() -> ModuleType:
    """Return tests/tools/server.py, for tests that start installations of their own."""
    return server_module


@pytest.fixture(scope="session")
def live_server_up() -> Iterator[server_module.Server]:
    """Yield one running installation (`manage.py up`, SQLite, embedded Redis) for the whole run."""
    with server_module.running() as server:
        _living.append(server)
        yield server
        _living.clear()


@pytest.fixture(scope="module", autouse=True)
def _classes_over() -> Iterator[None]:
    """Let the sessions of the installation sleep when a file of tests is over: hundreds would run on for minutes."""
    yield
    for server in _living:
        server.let_sleep()


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """Yield the DATABASE_URL of a real PostgreSQL, started for this run."""
    with postgres.running() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Iterator[str]:
    """Point Django at a real SQLite file or PostgreSQL, for tests with threads and processes; yield its URL."""
    url = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    folder = tmp_path_factory.mktemp("database")
    with django_db_blocker.unblock(), databases.using(url, folder):
        yield url or f"sqlite:///{folder / 'clustersim.sqlite3'}"


@pytest.fixture
def own_database(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Point Django at an empty SQLite file.

    pytest-django's own database is not used: it changes the settings that the application's threads are reading.
    """
    with django_db_blocker.unblock(), databases.using("", tmp_path):
        yield


@pytest.fixture(scope="session")
def application_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Point Django at one database for all tests that run the application in this process: SQLite, unless asked.

    The application's threads keep their connections, so these tests share one database and open sessions of their own.
    """
    on_postgresql = request.config.getoption("--postgresql")
    url = request.getfixturevalue("postgresql_url") if on_postgresql else ""
    with django_db_blocker.unblock(), databases.using(url, tmp_path_factory.mktemp("application")):
        yield


def pytest_sessionstart() -> None:
    """Look for reference cycles as rarely as a worker does, and not in the modules, which stay."""
    gc.freeze()
    collect_rarely()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin long files first, in each of the processes that a run has."""
    if hasattr(config, "workerinput"):
        items[:] = order.arranged(items)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that rewrites golden files (the difference is reviewed like code), and that of the database."""
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")
    parser.addoption("--postgresql", action="store_true", help="run the application's tests on PostgreSQL")
