"""Points Django's default database at another one for the length of a test, in all threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asgiref.local import Local
from django.core.management import call_command
from django.db import connections

from clustersim import environment


@contextlib.contextmanager
def using(url: str, data: Path, *, empty: bool = True) -> Iterator[None]:
    """Use DATABASE_URL `url` (empty: SQLite in `data`), with its tables made, and emptied unless told otherwise."""
    before = connections.settings["default"]
    after = connections.configure_settings({"default": environment.database(url, data)})["default"]
    _switch(after)
    try:
        call_command("migrate", verbosity=0, interactive=False)
        # One PostgreSQL serves the whole run.
        if empty:
            call_command("flush", verbosity=0, interactive=False)
        yield
    finally:
        _switch(before)


def _switch(settings: dict[str, Any]) -> None:
    connections["default"].close()
    connections.settings["default"] = settings
    # Every thread's wrapper is made anew from the settings, those of threads that live on (the application's) too.
    connections._connections = Local(connections.thread_critical)
