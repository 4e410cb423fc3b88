"""The whole ASGI application in-process, over a SQLite file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from tests.tools import databases


@pytest.fixture(autouse=True)
def own_database(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Point Django at a fresh SQLite file; the application's threads share it."""
    with django_db_blocker.unblock(), databases.using("", tmp_path):
        yield
