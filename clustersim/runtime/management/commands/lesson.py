"""`manage.py lesson check`: play lesson packages headless, and say what does not hold."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from clustersim.classroom.lessons import all_packages, load, templates
from clustersim.plugins import installed
from controllers.lesson import check
from controllers.lesson.checking import Finding
from controllers.lesson.reading import LANGUAGES
from scheduler_core.api.errors import ApiError


class Command(BaseCommand):
    """Check lessons; exit 1 where a statement does not hold."""

    help = "lesson check PATH…|--all: play lessons (docs/lessons.md) headless and check all that they state."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["check"])
        parser.add_argument("paths", nargs="*", type=Path, help="folders with a lesson.yaml")
        parser.add_argument("--all", action="store_true", help="all installed lessons")
        parser.add_argument("--language", choices=LANGUAGES, help="look at the text of one language only")
        parser.add_argument("--json", action="store_true", help="print one JSON object a finding")

    def handle(self, *args: Any, **options: Any) -> None:
        paths = all_packages() if options["all"] else options["paths"]
        if not paths:
            raise CommandError("name folders of lessons, or give --all")
        languages = [options["language"]] if options["language"] else []
        count = 0
        for path in paths:
            for finding in _checked(path, languages):
                count += 1
                told = finding.document()
                line = json.dumps(told, ensure_ascii=False) if options["json"] else _sentence(told)
                self.stdout.write(line)
            if not options["json"]:
                self.stdout.write(f"{path.name}: played")
        if count:
            raise SystemExit(1)


def _checked(path: Path, languages: list[str]) -> Any:
    try:
        plugins = installed().registry
        lesson = load(path, templates(), plugins=plugins)
    except ApiError as wrong:
        causes = wrong.causes or ()
        for cause in causes:
            yield Finding(path.name, "", cause.field, "can be read", cause.message)
        if not causes:
            yield Finding(path.name, "", "", "can be read", wrong.message)
        return
    yield from check(lesson, plugins=plugins, languages=languages)


def _sentence(told: dict[str, str]) -> str:
    place = " ".join(filter(None, (told["lesson"], told["step"], told["field"])))
    return f"{place}: expected {told['expected']}, found {told['found']}"
