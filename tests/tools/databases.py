"""Points Django's default database at another one for the length of a test, in all threads."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from asgiref.local import Local
from django.core.management import call_command
from django.db import connections

from clustersim import environment


@contextlib.contextmanager
def using(url: str, data: Path, *, empty: bool = True) -> Iterator[None]:
    """Use DATABASE_URL `url` (empty: SQLite in `data`), with its tables made, and emptied unless told otherwise."""
    settings = environment.database(url, data)
    file = Path(settings["NAME"])
    if not url and not file.exists():
        # Tables are made once a process; a file is copied in a thousandth of the time.
        shutil.copyfile(_tables(), file)
        with _switched(settings):
            yield
        return
    with _switched(settings):
        call_command("migrate", verbosity=0, interactive=False)
        # One PostgreSQL serves the whole run.
        if empty:
            call_command("flush", verbosity=0, interactive=False)
        yield


_folder = tempfile.TemporaryDirectory(prefix="clustersim-tables-")


@cache
def _tables() -> Path:
    """Return an SQLite file with all tables, and nothing in them."""
    settings = environment.database("", Path(_folder.name))
    with _switched(settings):
        call_command("migrate", verbosity=0, interactive=False)
        with connections["default"].cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Path(settings["NAME"])


@contextlib.contextmanager
def _switched(database: dict[str, Any]) -> Iterator[None]:
    before = connections.settings["default"]
    _switch(connections.configure_settings({"default": database})["default"])
    try:
        yield
    finally:
        _switch(before)


def _switch(settings: dict[str, Any]) -> None:
    connections["default"].close()
    connections.settings["default"] = settings
    # Every thread's wrapper is made anew from the settings, those of threads that live on (the application's) too.
    connections._connections = Local(connections.thread_critical)
