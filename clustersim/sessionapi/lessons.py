"""Routes of the lessons that are installed, and of one that somebody writes: what is wrong with it, and a preview."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import doors, lessons, limits
from clustersim.plugins import installed
from clustersim.sessionapi.http import Call, answer, flag_field, refuse
from clustersim.sessionapi.lesson import language_of, text
from controllers.lesson.checking import TooLong, check
from controllers.lesson.prose import PARTS
from controllers.lesson.reading import LANGUAGES, Lesson
from controllers.lesson.shape import Label
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said

TEXT_BYTES_MAX: Final = 512 * 1024
"""Bytes of a package's text that is sent to be checked; more is refused with 413."""

CHECK_COST: Final = 2
"""What having a package checked counts in `limits.OPENINGS`: it plays several sessions."""

CHECK_EVENTS_MAX: Final = 60_000
"""Events of the loop that playing a package that was sent may take; past it `manage.py lesson check` has to play it."""

CHECK_OBJECTS_MAX: Final = 400
"""Nodes and objects of a package that was sent; with more of them `manage.py lesson check` has to play it."""

FINDINGS_MAX: Final = 100
"""Findings that are told of one package."""


def show(call: Call) -> HttpResponse:
    """Answer `GET /api/lessons?lang=`: the lessons that are installed, in order of their numbers."""
    language = None if call.request.GET.get("lang") is None else language_of(call)
    return answer([_card(lesson, language) for lesson in lessons.catalogue().values()])


def _card(lesson: Lesson, language: str | None) -> dict[str, Any]:
    """Return a lesson's card, its words in one language, or (None) in each."""
    package = lesson.package
    return {
        "id": package.id,
        "number": package.number,
        "title": _said(package.title, language),
        "idea": _said(package.idea, language),
        "minutes": package.minutes,
        "minimumMinutes": package.minimum_minutes,
        "document": package.document,
        "languages": list(lesson.prose),
        "steps": len(package.steps),
        "minimumSteps": sum(1 for step in package.steps if step.minimum),
        "hasTicket": package.ticket is not None,
        "author": package.author,
        "art": _art(lesson),
    }


def _said(label: Label, language: str | None) -> str | dict[str, str]:
    return {"en": label.en, "zh": label.zh} if language is None else text(label, language)


def _art(lesson: Lesson) -> dict[str, Any] | None:
    art = lesson.package.art
    return None if art is None else {name: value for name, value in art.items() if name not in ("check", "step")}


def examine(call: Call) -> HttpResponse:
    """Answer `POST /api/lessons/check {"yaml", "en"?, "zh"?, "play"?, "passPhrase"?}`."""
    call.check_foreign_page()
    body = call.body(("yaml", *LANGUAGES, "play", "passPhrase"))
    phrase = body.get("passPhrase")
    doors.check_opening(call.address, call.here, phrase if isinstance(phrase, str) else "")
    for name in ("yaml", *LANGUAGES):
        if not isinstance(body.get(name, ""), str):
            raise refuse(Cause(name, said("give.file", "give the text of the file")))
    play = flag_field(body, "play")
    limits.spend(limits.OPENINGS, call.address, CHECK_COST if play else 1)
    texts = {name: body[name] for name in LANGUAGES if body.get(name)}
    try:
        lesson = lessons.from_text("lesson", body.get("yaml", ""), texts)
    except ApiError as wrong:
        causes = wrong.causes or [Cause("", wrong.said or wrong.message)]
        return answer({"problems": [_problem(one) for one in causes[:FINDINGS_MAX]], "played": False, "preview": None})
    problems = _played(lesson) if play else []
    return answer({"problems": problems, "played": play, "preview": _preview(lesson, language_of(call))})


def _problem(cause: Cause) -> dict[str, Any]:
    """Return what is wrong with a package that cannot be read; the sentence is named as a refusal's is."""
    told = {"step": "", "field": cause.field, "expected": "", "found": cause.message}
    return told if cause.said is None else {**told, "said": cause.said.document()}


def _played(lesson: Lesson) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    objects = sum(len(begin) for begin in lesson.begins.values())
    if objects > CHECK_OBJECTS_MAX:
        raise refuse(
            Cause(
                "yaml",
                said(
                    "lesson.tooLarge",
                    "{objects} nodes and objects are too many to be played here: use lesson check",
                    objects=objects,
                ),
            )
        )
    try:
        for finding in check(lesson, plugins=installed().registry, events_max=CHECK_EVENTS_MAX):
            found.append({name: value for name, value in finding.document().items() if name != "lesson"})
            if len(found) >= FINDINGS_MAX:
                break
    except TooLong as error:
        found.append({"step": "", "field": "", "expected": "can be played here", "found": str(error)})
    return found


def _preview(lesson: Lesson, language: str) -> dict[str, Any]:
    """Return what a class would see of a package, answers and all."""
    package = lesson.package
    steps = [*package.steps, *([] if package.ticket is None else [package.ticket])]
    prose = lesson.prose.get(language) or next(iter(lesson.prose.values()))
    return {
        **_card(lesson, language),
        "parts": [
            {
                "id": step.id,
                "title": text(step.title, language),
                "question": None if step.ask is None else text(step.ask.question, language),
                "options": [] if step.ask is None else [text(one.label, language) for one in step.ask.options],
                **{
                    part: [block.document() for block in blocks]
                    for part in PARTS
                    if (blocks := prose.get(step.id, {}).get(part, ()))
                },
            }
            for step in steps
        ],
    }
