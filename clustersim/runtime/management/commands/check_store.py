"""`manage.py check-store`: say what is whole of the SQLite file, and save it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from clustersim.runtime import supervisor
from clustersim.store import checking


class Command(BaseCommand):
    """Check the SQLite file; exit 1 when something is missing."""

    help = "Say what is whole of the SQLite file; --save writes it into a new one. Stop Clustersim first."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--save`."""
        parser.add_argument("--save", metavar="PATH", type=Path, help="a new file for all that can be read")

    def handle(self, *args: Any, **options: Any) -> None:
        database = settings.DATABASES["default"]
        if "sqlite" not in database["ENGINE"]:
            raise CommandError("The database is PostgreSQL: check and save it with its own tools (pg_amcheck, pg_dump)")
        path, save = Path(database["NAME"]), options["save"]
        if not path.exists():
            raise CommandError(f"There is no database at {path}")
        try:
            held = supervisor.hold_data_folder(settings.DATA)
        except supervisor.Refused as error:
            raise CommandError(str(error)) from None
        try:
            with tempfile.TemporaryDirectory() as folder:
                report = checking.check(path, save or Path(folder) / "copy.sqlite3")
        except FileExistsError:
            raise CommandError(f"{save} is there already: name a new file") from None
        except sqlite3.DatabaseError as error:
            raise CommandError(f"Nothing of {path} can be read ({error}): take the last copy of it") from None
        finally:
            os.close(held)
        self._tell(report, path, save)
        if not report.is_whole:
            raise SystemExit(1)

    def _tell(self, report: checking.Report, path: Path, save: Path | None) -> None:
        for text in report.complaints:
            self.stdout.write(f"  {text}")
        for session in report.sessions:
            parts = []
            if session.lost:
                parts.append(f"{session.lost} objects lost")
            if session.older:
                parts.append(f"{session.older} objects in an earlier state")
            if session.history_from:
                parts.append(f"history only after revision {session.history_from}")
            said = ", ".join(parts) or "whole"
            code = f"{session.code[:3]}-{session.code[3:]}"
            self.stdout.write(f"{code}  {session.objects} objects, {said}  ({session.title})")
        self.stdout.write(f"{path} is whole." if report.is_whole else f"{path} is damaged.")
        if save is not None:
            self.stdout.write(
                f"Saved to {save}. To go on with it, put it in the place of {path} and remove {path}-wal."
            )
        elif not report.is_whole:
            self.stdout.write("`manage.py check-store --save PATH` writes all of this into a new file.")
