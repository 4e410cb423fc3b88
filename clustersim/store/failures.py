"""What a failure of the database means for whoever asked for something: one table of causes, one sentence each."""

from __future__ import annotations

from typing import Final

from django.db import DatabaseError, InterfaceError, OperationalError

from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

FULL: Final = said("store.full", "disk full: nothing can be written before there is room where the database lies")
READ_ONLY: Final = said(
    "store.readOnly", "the database is read-only: let this process write its file and folder, or the role its tables"
)
DAMAGED: Final = said(
    "store.damaged", "the database file is damaged: stop Clustersim, then `manage.py check-store` tells what is whole"
)
AWAY: Final = said("store.away", "the database is busy or away; try again in a second")

_TEXTS: Final = {
    "database or disk is full": FULL,
    "attempt to write a readonly database": READ_ONLY,
    "database disk image is malformed": DAMAGED,
    "file is not a database": DAMAGED,
}
"""What SQLite says."""

_STATES: Final = {"53100": FULL, "25006": READ_ONLY, "XX001": DAMAGED, "XX002": DAMAGED}
"""SQLSTATE of PostgreSQL."""


def explain(error: Exception) -> str | None:
    """Return what a database failure comes from and what to do next; None: it is a fault of the program's own."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return None
    told = str(error)
    for text, cause in _TEXTS.items():
        if text in told:
            return cause
    state = getattr(error.__cause__, "sqlstate", None)
    if state in _STATES:
        return _STATES[state]
    return AWAY if isinstance(error, OperationalError | InterfaceError) else None


def unavailable(error: Exception) -> ApiError | None:
    """Return the 503 that a database failure is answered with; None: it is a fault of the program's own."""
    cause = explain(error)
    return None if cause is None else ApiError(503, "ServiceUnavailable", cause, retry_after_seconds=1)
