"""What a session is called: after a lesson in each language, and a copy of it with its moment."""

from __future__ import annotations

from typing import Any

from clustersim.classroom import lessons
from clustersim.classroom.opening import FORK_MOMENT
from clustersim.store.sessions import SessionRow
from controllers.lesson.reading import LANGUAGES


def session_told(session: SessionRow) -> dict[str, Any]:
    """Return the `session` of `hello` in docs/protocol.md."""
    told = {
        "code": session.display_code,
        "title": session.title,
        "template": session.template,
        "seed": session.seed,
    }
    titles = titles_of(session.title)
    return {**told, "titles": titles} if titles else told


def titles_of(title: str) -> dict[str, str]:
    """Return a title in each language, where it is a lesson's; empty: somebody gave the session this name."""
    name = FORK_MOMENT.sub("", title)
    for lesson in lessons.catalogue().values():
        titles = {language: getattr(lesson.package.title, language) for language in LANGUAGES}
        if name in titles.values():
            return {language: own + title.removeprefix(name) for language, own in titles.items()}
    return {}
