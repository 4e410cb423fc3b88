"""`manage.py simulate`: run a scenario headless, in memory, deterministically, and say what came of it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from clustersim import documents
from clustersim.classroom.templates import TEMPLATES
from clustersim.plugins import installed
from clustersim.runtime import extenders
from controllers.scenario import Start, read, run
from scheduler_core.api.errors import ApiError

SCENARIO_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of a scenario file; larger ones are refused."""


class Command(BaseCommand):
    """Run a scenario file; the last line printed is one JSON object."""

    help = "Run a scenario (docs/scenarios.md) headless: the same file and seed give the same log."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", type=Path, help="a YAML file; examples lie in clustersim/runtime/scenarios")
        parser.add_argument("--seed", type=int, default=0, help="chance is drawn from it (default 0)")
        parser.add_argument("--until", type=float, help="simulated seconds to run; the scenario's own by default")
        parser.add_argument("--json", action="store_true", help="print the summary alone")

    def handle(self, *args: Any, **options: Any) -> None:
        starts = {name: Start(tuple(each.objects()), each.replicas, each.pace) for name, each in TEMPLATES.items()}
        until = options["until"]
        if until is not None and until < 0:
            raise CommandError("--until must not be negative")
        try:
            plugins = installed().registry
            scenario = read(_load(options["scenario"]), starts, plugins)
            until_ms = None if until is None else round(until * 1000)
            call = lambda number, asked: extenders.call(asked)  # noqa: E731
            _, summary = run(scenario, seed=options["seed"], until_ms=until_ms, plugins=plugins, call=call)
        except ApiError as error:
            raise CommandError(str(error)) from error
        if not options["json"]:
            for key, value in summary.items():
                self.stdout.write(f"{key}: {value}")
        self.stdout.write(json.dumps(summary))


def _load(path: Path) -> Any:
    try:
        if path.stat().st_size > SCENARIO_BYTES_MAX:
            raise CommandError(f"{path} is larger than {SCENARIO_BYTES_MAX} bytes")
        return documents.one_yaml(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from error
    except ApiError as error:
        raise CommandError(f"{path}: {error.message}") from error
