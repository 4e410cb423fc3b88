"""The lesson that the editor begins with holds."""

from __future__ import annotations

from clustersim.classroom import lessons
from clustersim.pages.views import STARTER, STARTER_FILES
from controllers.lesson import check


def test_the_lesson_to_begin_from_holds() -> None:
    texts = {part: (STARTER / name).read_text() for part, name, _ in STARTER_FILES}
    main = texts.pop("yaml")
    assert list(check(lessons.from_text("my-lesson", main, texts))) == []
