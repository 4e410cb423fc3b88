"""A small package, as it lies in `packages/tiny`, and changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from clustersim import documents
from controllers.lesson import Files, read
from controllers.lesson.checking import Finding, check
from controllers.lesson.reading import Lesson
from controllers.scenario import Start

FOLDER: Final = Path(__file__).parent / "packages" / "tiny"
STARTS: Final = {"empty": Start((), 1, 0)}


def files(change: Callable[[Any], None] | None = None, **texts: str) -> Files:
    """Return the package's files, `lesson.yaml` changed in place, texts replaced."""
    document = documents.one_yaml((FOLDER / "lesson.yaml").read_bytes())
    if change is not None:
        change(document)
    known = {name: (FOLDER / f"{name}.md").read_text() for name in ("en", "zh")}
    return Files("tiny", document, {**known, **texts})


def lesson(change: Callable[[Any], None] | None = None, **texts: str) -> Lesson:
    """Return the package, read."""
    return read(files(change, **texts), STARTS)


def findings(change: Callable[[Any], None] | None = None, **texts: str) -> list[Finding]:
    """Return what does not hold of the package."""
    return list(check(lesson(change, **texts)))
