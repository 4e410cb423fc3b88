"""Routes of a session's lesson: where it stands, and its moves. See docs/lessons.md and docs/session-api.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.sessionapi import teaching
from clustersim.sessionapi.http import Call, answer, refuse
from clustersim.sessionapi.teaching import Standing
from controllers.commands import CLOCK, CLOCKS
from controllers.lesson.course import ASK, END, REVEAL, SCENE, SO, WAIT, Course, Place
from controllers.lesson.driving import FAILED
from controllers.lesson.reading import LANGUAGES
from controllers.lesson.scripts import make_it_so_script, until_of
from controllers.lesson.shape import Label, Step
from controllers.registry.models.clustersim_v1 import ClockStatus
from controllers.registry.structs import read
from scheduler_core.api.errors import ApiError, Cause, one_of
from scheduler_core.api.said import said

STEP_LENGTH_MAX: Final = 63
"""Characters of a step's id; a longer one is refused with 422."""

_LABELS: Final[Mapping[str, Mapping[str, str]]] = {
    SCENE: {"en": "Begin", "zh": "开始"},
    ASK: {"en": "Ask", "zh": "提问"},
    WAIT: {"en": "Let it happen", "zh": "让它发生"},
    REVEAL: {"en": "Reveal", "zh": "揭晓"},
    SO: {"en": "What to write down", "zh": "记下这一句"},
    END: {"en": "End the lesson", "zh": "结束这一课"},
}
"""What the next move is called, by the phase that it leads to."""

_NEXT: Final = {"en": "Next: {}", "zh": "下一步：{}"}


def show(call: Call) -> HttpResponse:
    """Answer `GET …/lesson?lang=&step=`."""
    _ = call.principal
    return answer(told(call, teaching.standing(call)))


def change(call: Call) -> HttpResponse:
    """Answer `POST …/lesson {"do", "step"?}`, when it has come about, or takes longer than some seconds."""
    call.require(TEACHER)
    body = call.body(("do", "step"))
    do, step = body.get("do"), body.get("step", "")
    if do not in teaching.MOVES:
        raise refuse(Cause("do", one_of(teaching.MOVES)))
    if not isinstance(step, str) or len(step) > STEP_LENGTH_MAX or (do == "start" and not step):
        raise refuse(Cause("step", said("lesson.stepId", "give the id of a step")))
    return answer(told(call, teaching.lead(call, do, step)))


def told(call: Call, now: Standing) -> dict[str, Any]:
    """Return the body of `GET …/lesson`, for whoever asks."""
    language = language_of(call)
    course, spec = now.course, now.spec
    package = course.lesson.package
    leads = call.principal.role == TEACHER
    ahead = course.steps[course.index(spec.step) :] if spec.step else ()
    return {
        "id": package.id,
        "number": package.number,
        "document": package.document,
        "title": text(package.title, language),
        "of": len(course.steps),
        "step": None if now.step is None else _step(call, now, now.step, language),
        "steps": [
            {
                "id": step.id,
                "title": text(step.title, language),
                "minutes": step.minutes,
                "minimum": step.minimum,
                "done": step.id in spec.done,
                "current": step.id == spec.step,
                # Once it is over, what was to be written down stands together.
                **({} if spec.step or step.id not in spec.done else _texts(now, step, language, ["so"])),
            }
            for step in course.steps
        ],
        "shown": _looked_at(call, now, language),
        "poll": spec.poll or None,
        "wait": None if now.step is None else _wait(call, now, now.step),
        "script": {
            "state": "playing" if now.is_playing else now.script.state,
            "done": now.script.done,
            "of": now.script.of,
            "message": now.script.message,
        },
        "next": _next(now, language) if leads else None,
        "alone": spec.alone,
        "minimum": spec.minimum,
        "ticket": spec.ticket,
        "hasTicket": package.ticket is not None,
        "again": _again(course, language),
        "minutesLeft": sum(step.minutes for step in ahead),
    }


def _again(course: Course, language: str) -> dict[str, str] | None:
    """Return the step that is another lesson's exit ticket, asked again, and that lesson's title."""
    if course.again is None:
        return None
    return {"step": course.steps[0].id, "title": text(course.again.package.title, language)}


def language_of(call: Call) -> str:
    """Return the language of texts that a request asks for: `lang`, else what the browser prefers, else English.

    Raises:
        ApiError: 422.
    """
    asked = call.request.GET.get("lang")
    if asked is None:
        accepted = call.headers.get("accept-language", "").split(",")
        preferred = (part.partition(";")[0].strip()[:2].lower() for part in accepted)
        return next((one for one in preferred if one in LANGUAGES), LANGUAGES[0])
    if asked not in LANGUAGES:
        raise refuse(Cause("lang", one_of(LANGUAGES)))
    return asked


def text(label: Label, language: str) -> str:
    """Return a label in a language."""
    return label.zh if language == "zh" else label.en


def _step(call: Call, now: Standing, step: Step, language: str) -> dict[str, Any]:
    """Return the present step; what tells the answer is there from the reveal on."""
    course, phase = now.course, now.spec.phase
    revealed = phase in (REVEAL, SO)
    parts = ["scene", "ask"] + (["hint"] if now.spec.hint else []) + (["reveal", "so"] if revealed else [])
    if phase == REVEAL and SO in parts and step.ask is not None:
        parts.remove("so")
    return {
        **_texts(now, step, language, parts),
        "id": step.id,
        "title": text(step.title, language),
        "index": course.index(step.id),
        "minutes": step.minutes,
        "minimum": step.minimum,
        "phase": phase,
        "phases": list(course.phases(step)),
        "hasHint": bool(course.text(step, "hint", language)),
        "view": step.reveal.view or step.scene.view if revealed else step.scene.view,
    }


def _texts(now: Standing, step: Step, language: str, parts: list[str]) -> dict[str, Any]:
    return {
        part: [block.document() for block in blocks]
        for part in parts
        if (blocks := now.course.text(step, part, language))
    }


def _looked_at(call: Call, now: Standing, language: str) -> dict[str, Any] | None:
    """Return the texts of a step that is done, which somebody looks at again.

    Raises:
        ApiError: 404 no such step; 409 it is not done.
    """
    name = call.request.GET.get("step")
    if name is None:
        return None
    step = now.course.step(name)
    if step.id not in now.spec.done:
        raise ApiError(
            409, "Conflict", said("lesson.stepAhead", "the step {id!r} has not been yet", id=step.id), name=step.id
        )
    return {
        **_texts(now, step, language, ["scene", "ask", "hint", "reveal", "so"]),
        "id": step.id,
        "title": text(step.title, language),
    }


def _wait(call: Call, now: Standing, step: Step) -> dict[str, Any] | None:
    if now.spec.phase != WAIT:
        return None
    stored = call.store.get(CLOCKS, "", CLOCK)
    run = read(None if stored is None else stored.object.get("status"), ClockStatus).run
    state = "running" if now.is_playing else "reached"
    if now.script.state == FAILED and not now.is_playing:
        state = run.state if run is not None and run.state in ("timeout", "failed") else "failed"
    return {
        # Whoever has not been told the answer yet could read it here.
        "until": until_of(step) if call.principal.role == TEACHER and not now.spec.alone else None,
        "seconds": step.wait.seconds if step.wait is not None else None,
        "state": state,
        "message": now.script.message,
        "makeItSo": bool(make_it_so_script(step)),
    }


def _next(now: Standing, language: str) -> dict[str, Any] | None:
    """Return the move that comes next, what it is called and where it leads; None: the lesson is over."""
    if now.step is None:
        return None
    following = _following(now)
    if following.step and following.step != now.spec.step:
        label = _NEXT[language].format(text(now.course.step(following.step).title, language))
    else:
        label = _LABELS[following.phase][language]
    return {"do": "next", "label": label, "step": following.step, "phase": following.phase}


def _following(now: Standing) -> Place:
    following = now.course.after(now.place)
    # What is waited for is revealed as soon as it has come about.
    return now.course.after(following) if now.spec.phase == ASK and following.phase == WAIT else following
