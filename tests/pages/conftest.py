"""The whole ASGI application in this process, over the one database of such tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _application(application_database: None) -> None:
    """Every test here has a database."""
