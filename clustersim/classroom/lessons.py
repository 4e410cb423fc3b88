"""Lesson packages of this installation: folders with `lesson.yaml` and a text per language."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from clustersim import documents
from clustersim.classroom.templates import TEMPLATES
from clustersim.plugins import installed
from controllers.lesson import Files, read
from controllers.lesson.reading import LANGUAGES, Lesson
from controllers.rules.table import RULES
from controllers.scenario import Start
from scheduler_core.api.errors import ApiError, bad_request
from scheduler_core.api.said import said
from scheduler_core.framework.registry import PluginRegistry

FILE_BYTES_MAX: Final = 1024 * 1024
"""Bytes of one file of a package; larger ones are refused."""

_logger = logging.getLogger(__name__)

MAIN: Final = "lesson.yaml"


def templates() -> dict[str, Start]:
    """Return what lessons may begin with."""
    return {name: Start(tuple(each.objects()), each.replicas, each.pace) for name, each in TEMPLATES.items()}


def all_packages() -> list[Path]:
    """Return the folders of all installed lessons, in order of name."""
    found = [path.parent for root in settings.LESSONS for path in Path(root).glob(f"*/{MAIN}")]
    return sorted(found, key=lambda path: path.name)


def load(path: Path, starts: Mapping[str, Start], plugins: PluginRegistry | None = None) -> Lesson:
    """Return the lesson in a folder.

    Raises:
        ApiError: 400, with everything that is wrong.
    """
    folder = path.resolve()
    if not folder.is_dir():
        raise bad_request(said("package.noFolder", "{path} is no folder with a {main}", path=path, main=MAIN))
    texts: dict[str, str] = {}
    for language in LANGUAGES:
        file = folder / f"{language}.md"
        if file.exists():
            texts[language] = documents.text_of(_bytes(file))
    return read(Files(folder.name, _main(_bytes(folder / MAIN)), texts), starts, plugins=plugins, rules=RULES)


def catalogue() -> dict[str, Lesson]:
    """Return the lessons that can be read, by id, in the order of their numbers; changed files are read again.

    One that cannot be read is left out: `lesson check` says why.
    """
    found: dict[str, Lesson] = {}
    for path in all_packages():
        lesson = _known(path, _stamp(path))
        if lesson is not None:
            found.setdefault(lesson.package.id, lesson)
    return dict(sorted(found.items(), key=lambda one: (one[1].package.number, one[0])))


def find(name: str) -> Lesson | None:
    """Return an installed lesson; None where there is none of this id that can be read."""
    return catalogue().get(name)


def from_text(name: str, main: str, texts: Mapping[str, str]) -> Lesson:
    """Return the lesson that somebody has written.

    Raises:
        ApiError: 400, with everything that is wrong.
    """
    document = _main(main.encode("utf-8", "surrogatepass"))
    folder = document.get("id") if isinstance(document, dict) else None
    folder = folder if isinstance(folder, str) else name
    return read(Files(folder, document, texts), templates(), plugins=installed().registry, rules=RULES)


@lru_cache(maxsize=128)
def _known(path: Path, stamp: tuple[int, ...]) -> Lesson | None:
    try:
        return load(path, templates(), plugins=installed().registry)
    except ApiError as wrong:
        _logger.warning("the lesson %s cannot be read: %s", path.name, wrong.message)
        return None


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when one of a package's files does."""
    files = [path / MAIN, *(path / f"{language}.md" for language in LANGUAGES)]
    return tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in files)


def _main(data: bytes) -> Any:
    try:
        return documents.one_yaml(data)
    except ApiError as wrong:
        causes = [replace(cause, field=f"{MAIN}:{cause.field}") for cause in wrong.causes]
        raise ApiError(
            wrong.code,
            wrong.reason,
            said("package.main", "{main}: {message}", main=MAIN, message=wrong.said or wrong.message),
            causes=causes,
        ) from wrong


def _bytes(file: Path) -> bytes:
    try:
        if not file.is_file() or file.is_symlink():
            raise bad_request(said("package.missing", "{name} is missing, or no plain file", name=file.name))
        if file.stat().st_size > FILE_BYTES_MAX:
            raise bad_request(
                said(
                    "package.large",
                    "{name} is larger than {file_bytes_max} bytes",
                    name=file.name,
                    file_bytes_max=FILE_BYTES_MAX,
                )
            )
        return file.read_bytes()
    except OSError as error:
        raise bad_request(
            said("package.unread", "{name} cannot be read: {strerror}", name=file.name, strerror=error.strerror)
        ) from error
