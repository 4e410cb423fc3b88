"""The handout of a session's lesson: its questions and the lines to write down, as a page that prints well.

Who leads a class has the whole lesson, for the printer; the others, and whoever learns alone, have what has been asked,
and a line only from its reveal on: before that nobody is told what would be the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpResponse
from django.template.loader import render_to_string

from clustersim.classroom.auth import TEACHER
from clustersim.sessionapi import teaching
from clustersim.sessionapi.http import Call
from clustersim.sessionapi.lesson import language_of, text
from clustersim.sessionapi.teaching import Standing
from controllers.lesson.course import END, REVEAL, SCENE, SO
from controllers.lesson.shape import Step

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "lesson": "Lesson",
        "name": "Name",
        "date": "Date",
        "write": "To write down",
        "mine": "My answer, and why",
        "nothing": "Nothing has been asked yet. This page fills as the lesson goes on.",
        "print": "Print it from your browser: Ctrl+P, on a Mac ⌘P.",
        "other": "中文",
    },
    "zh": {
        "lesson": "课程",
        "name": "姓名",
        "date": "日期",
        "write": "记下来",
        "mine": "我的答案和理由",
        "nothing": "还没有提过问题。课上到哪里，这一页就写到哪里。",
        "print": "用浏览器打印：Ctrl+P，Mac 上按 ⌘P。",
        "other": "English",
    },
}
"""What stands on the page beside the lesson's own texts."""

HTML_LANGUAGES: Final = {"en": "en", "zh": "zh-Hans"}


def show(call: Call) -> HttpResponse:
    """Answer `GET …/handout?lang=`."""
    principal = call.principal
    now = teaching.standing(call)
    language = language_of(call)
    whole = principal.role == TEACHER and not now.spec.alone
    package = now.course.lesson.package
    context = {
        "words": WORDS[language],
        "html_lang": HTML_LANGUAGES[language],
        "other": "zh" if language == "en" else "en",
        "number": package.number,
        "title": text(package.title, language),
        "steps": [_told(now, step, language, whole=whole) for step in now.course.steps if whole or _asked(now, step)],
    }
    response = HttpResponse(render_to_string("handout.html", context))
    response["Cache-Control"] = "no-store"
    return response


def _asked(now: Standing, step: Step) -> bool:
    """Return whether a step's question has been asked: it is done, or under way, past its scene."""
    here = step.id == now.spec.step and now.spec.phase != SCENE
    return here or step.id in now.spec.done or now.spec.phase == END


def _revealed(now: Standing, step: Step) -> bool:
    if step.id == now.spec.step:
        # A step that is begun again is asked again.
        return now.spec.phase in (REVEAL, SO)
    return step.id in now.spec.done or now.spec.phase == END


def _told(now: Standing, step: Step, language: str, *, whole: bool) -> dict[str, Any]:
    ask = step.ask
    return {
        "title": text(step.title, language),
        "question": "" if ask is None else text(ask.question, language),
        "options": [] if ask is None else [text(option.label, language) for option in ask.options],
        "so": now.course.text(step, "so", language) if whole or _revealed(now, step) else (),
    }
