"""Attacks on the whole ASGI application in this process, over one database; engines are off.

Each test has a session of its own, so that what one of them stores or uses up is not another's.
"""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _application(application_database: None) -> None:
    """Every test here has a database."""
