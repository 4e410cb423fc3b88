"""How a lesson is led: from phase to phase, with its polls opened, its scripts played by the session's owner.

Where it stands is one object in the log (`lessons.clustersim.io/lesson`), so that every page sees it, and rewind and
copies keep it. `controllers/lesson/course.py` knows where one can go from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from clustersim.classroom import lessons
from clustersim.classroom.polls import judging, votes
from clustersim.classroom.polls.models import Poll
from clustersim.classroom.roles import guard_for
from clustersim.runtime import commands
from clustersim.sessionapi import polling
from clustersim.sessionapi.http import Call
from controllers.commands import CLOCK, CLOCKS
from controllers.kinds.clustersim.lesson import NAME, RESOURCE
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.lesson.course import ASK, END, REVEAL, SCENE, SO, WAIT, Course, Place
from controllers.lesson.driving import DONE, FAILED, PLAYING
from controllers.lesson.judging import right_answers
from controllers.lesson.scripts import key_of, make_it_so_script, run_again, wait_script
from controllers.lesson.shape import Ask, Step
from controllers.log.store import Stored
from controllers.predicates import Moment, View
from controllers.registry.models.clustersim_v1 import ClockStatus, LessonSpec, LessonStatus, ScriptStatus
from controllers.registry.structs import read
from controllers.rules.table import RULES
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

MOVES: Final = ("next", "back", "restart", "makeItSo", "skip", "reveal", "hint", "start")
"""What can be done with a lesson."""


@dataclass(frozen=True)
class Standing:
    """Where a session's lesson stands.

    Attributes:
        spec, script: as the log has them.
        course: the way through the lesson.
    """

    spec: LessonSpec
    script: ScriptStatus
    course: Course

    @property
    def place(self) -> Place:
        """Return the step and the phase."""
        return Place(self.spec.step, self.spec.phase)

    @property
    def step(self) -> Step | None:
        """Return the step; None: the lesson is over."""
        return self.course.step(self.spec.step) if self.spec.step else None

    @property
    def is_playing(self) -> bool:
        """Return whether the owner has not performed the newest script to its end."""
        asked = self.spec.script.id if self.spec.script is not None else 0
        return asked > self.script.id or self.script.state == PLAYING


def course_of(spec: LessonSpec) -> Course:
    """Return the way through a session's lesson.

    Raises:
        ApiError: 410, the lesson is not installed any more.
    """
    found = lessons.find(spec.package)
    if found is None:
        why = said(
            "lesson.gone",
            "the lesson {package!r} is not installed here any more, or cannot be read",
            package=spec.package,
        )
        raise ApiError(410, "Gone", why, name=spec.package)
    again = lessons.find(spec.again) if spec.again else None
    return Course(found, minimum=spec.minimum, ticket=spec.ticket, again=again)


def standing(call: Call) -> Standing:
    """Return where the session's lesson stands.

    Raises:
        ApiError: 404, it has none.
    """
    stored = call.store.get(RESOURCE, "", NAME)
    if stored is None:
        raise ApiError(
            404, "NotFound", said("lesson.none", "this session has no lesson: open one from the start page"), name=NAME
        )
    return _standing(stored.object)


def _standing(document: Document) -> Standing:
    spec = read(document.get("spec"), LessonSpec)
    status = read(document.get("status"), LessonStatus)
    return Standing(spec, status.script or ScriptStatus(), course_of(spec))


def beginning(course: Course, *, package: str, minimum: bool, alone: bool, ticket: bool, again: str) -> Document:
    """Return the object with which a session's lesson begins: its first scene is to be played."""
    first = course.first
    spec = {
        "package": package,
        "minimum": minimum,
        "alone": alone,
        "ticket": ticket,
        "again": again,
        "step": first.step,
        "phase": first.phase,
        "asks": course.step(first.step).ask is not None,
        "script": {"id": 1, "path": first.step, "actions": course.entering(first.step)},
    }
    return {"apiVersion": "clustersim.io/v1", "kind": "Lesson", "metadata": {"name": NAME}, "spec": spec}


# -- moves ------------------------------------------------------------------------------------------------------------


def lead(call: Call, do: str, step: str = "") -> Standing:
    """Do one of MOVES and return where the lesson stands then.

    Raises:
        ApiError: 404 no lesson, or no such step; 409 it cannot be done now; 503 the owner does not obey.
    """
    now = standing(call)
    if do == "start":
        return _enter(call, now, Place(now.course.step(step).id, SCENE), None)
    if now.step is None:
        raise ApiError(409, "Conflict", said("lesson.over", "the lesson is over: start one of its steps"))
    match do:
        case "hint":
            return _move(call, {"hint": True})
        case "restart":
            return _enter(call, now, Place(now.spec.step, SCENE), None)
        case "back":
            return _enter(call, now, now.course.before(now.place), None)
        case "skip":
            return _enter(call, now, now.course.next_step(now.place), now.place)
        case "makeItSo":
            return _make_it_so(call, now, now.step)
        case _:
            return _forward(call, now, now.step, do)


def _forward(call: Call, now: Standing, step: Step, do: str) -> Standing:
    """Go to what follows: ask, let it happen, reveal, say what to write down, begin the next step."""
    if now.is_playing:
        raise ApiError(
            409,
            "Conflict",
            said(
                "lesson.playing",
                "{en}: what happens is still being played; wait for its end",
                en=step.title.en,
                zh=step.title.zh or step.title.en,
            ),
        )
    if now.script.state == FAILED and now.spec.phase in (SCENE, WAIT):
        help_ = (
            said("lesson.makeOrSkip", "make it so, or skip it")
            if now.spec.phase == WAIT
            else said("lesson.againOrSkip", "start the step again, or skip it")
        )
        raise ApiError(
            409, "Conflict", said("lesson.failed", "{message}: {help_}", message=now.script.message, help_=help_)
        )
    if now.spec.phase == WAIT:
        return _reveal(call, now, step)
    following = now.course.after(now.place)
    if do == "reveal" and following.phase not in (WAIT, REVEAL):
        raise ApiError(409, "Conflict", said("lesson.noReveal", "there is nothing to reveal now"))
    if following.step != now.spec.step or following.phase == END:
        return _enter(call, now, following, now.place)
    if following.phase == ASK:
        return _ask(call, step)
    if now.spec.phase == ASK:
        _end_votes(call, now)
    if following.phase == WAIT:
        return _wait(call, now, step, wait_script(step))
    return _reveal(call, now, step) if following.phase == REVEAL else _move(call, {"phase": following.phase})


def _enter(call: Call, now: Standing, place: Place, left: Place | None) -> Standing:
    """Begin a step, or come to the end; `left`: what is taken as it is; None: everything is played anew."""
    _put_away(call, now)
    done = now.spec.done
    over = left.step if left is not None else _told(now, place)
    if over and over not in done:
        done = [*done, over]
    wanted: Document = {"step": place.step, "phase": place.phase, "poll": "", "hint": False, "done": done}
    if place.phase == END:
        return _move(call, wanted)
    wanted["asks"] = now.course.step(place.step).ask is not None
    wanted["checkpoints"] = {**now.spec.checkpoints, place.step: call.store.revision}
    wanted["began"] = {**now.spec.began, place.step: call.store.session_ms()}
    return _play(call, wanted, place.step, now.course.entering(place.step, left))


def _told(now: Standing, place: Place) -> str:
    """Return the step that is left for another one after its reveal: a class has been through it."""
    return now.spec.step if now.spec.phase in (REVEAL, SO) and place.step != now.spec.step else ""


def _wait(call: Call, now: Standing, step: Step, script: list[Document]) -> Standing:
    """Let happen what the step waits for; where that takes no time, reveal it at once."""
    then = _play(call, {"phase": WAIT}, step.id, script)
    return _reveal(call, then, step) if not then.is_playing and then.script.state == DONE else then


def _make_it_so(call: Call, now: Standing, step: Step) -> Standing:
    if now.spec.phase != WAIT:
        raise ApiError(409, "Conflict", said("lesson.noWait", "there is nothing that the lesson waits for now"))
    script = make_it_so_script(step)
    if not script:
        raise ApiError(409, "Conflict", said("lesson.notMade", "this step cannot be made so: skip it, or wait"))
    return _wait(call, now, step, [*script, *run_again(step)])


def _play(call: Call, wanted: Document, path: str, script: list[Document]) -> Standing:
    """Have a script played; return when it has come to its end, or when that takes too long to wait for."""

    def mutate(spec: Document) -> None:
        number = int((spec.get("script") or {}).get("id") or 0) + 1
        spec.update(wanted, script={"id": number, "path": path, "actions": script})

    asked = _change(call, mutate)
    number = asked["spec"]["script"]["id"]

    def over(document: Document) -> bool:
        told = (document.get("status") or {}).get("script") or {}
        return bool(told.get("id", 0) >= number and told.get("state") != PLAYING)

    return _standing(commands.wait_until(call.principal.session_id, RESOURCE, NAME, over) or asked)


def _move(call: Call, wanted: Document) -> Standing:
    return _standing(_change(call, lambda spec: spec.update(wanted)))


def _change(call: Call, mutate: Any) -> Document:
    principal = call.principal
    guard = guard_for(principal, commands=True)

    def change(document: Document) -> None:
        mutate(document.setdefault("spec", {}))

    return commands.ask(principal.session_id, RESOURCE, NAME, change, actor=principal.actor, guard=guard)


# -- polls ------------------------------------------------------------------------------------------------------------


def _ask(call: Call, step: Step) -> Standing:
    """Open the step's poll."""
    assert step.ask is not None
    now = standing(call)
    ask = step.ask
    asked = polling.Asked(
        kind=ask.kind,
        pod=key_of(ask.pod) if ask.pod else "",
        question={"en": ask.question.en, "zh": ask.question.zh},
        options=[
            {
                "id": option.id,
                "label": {"en": option.label.en, "zh": option.label.zh},
                "right": option.right,
                "model": option.model,
            }
            for option in ask.options
        ],
        because=[{"id": name, "label": dict(RULES[name].because)} for name in reasons(ask)],
        hold=ask.hold,
        limit=ask.limit,
        models=dict(ask.models),
        alone=now.spec.alone,
        lesson={"step": step.id},
    )
    stored, _ = polling.open_poll(call, call.principal, asked)
    return _move(call, {"phase": ASK, "poll": stored.name})


def reasons(ask: Ask) -> list[str]:
    """Return the rules that a vote may give as its reason: those written, else those of the answers, and another."""
    models = [option.model for option in ask.options] + list(ask.models.values())
    found = ask.because or [name for name in models if name]
    return list(dict.fromkeys([*(name for name in found if name in RULES), "other"]))


def _poll(call: Call, now: Standing) -> tuple[Stored, Poll] | None:
    if not now.spec.poll:
        return None
    stored = call.store.get(POLLS, "", now.spec.poll)
    row = votes.find(call.principal.session_id, now.spec.poll)
    return None if stored is None or row is None else (stored, row)


def _end_votes(call: Call, now: Standing) -> None:
    """End the votes, and let go of what the poll held; what is asked about stays sealed."""
    found = _poll(call, now)
    if found is None:
        return
    stored, row = found
    if row.state in votes.DONE:
        return
    polling.check_learner(stored, row, call.principal)
    if row.state == votes.OPEN:
        polling.close(call, stored, row)
    if stored.object["spec"].get("hold") in polling.HOLDS:
        polling.release(call, stored.name, goes_on=False)


def _reveal(call: Call, now: Standing, step: Step) -> Standing:
    """Reveal the poll, and judge it by what came about."""
    found = _poll(call, now)
    if found is not None and step.ask is not None:
        stored, row = polling.reveal(call, *found, goes_on=False)
        told = _answer(step.ask, view(call, now))
        if told is not None:
            polling.note(call, stored, row, told)
    return _move(call, {"phase": REVEAL if REVEAL in now.course.phases(step) else SO})


def _answer(ask: Ask, seen: View) -> dict[str, Any] | None:
    """Return what is told of a question at its reveal; None: the engine has decided nothing."""
    if ask.kind in ("node", "victims"):
        trace = seen.answering(ask.pod)
        return None if trace is None else judging.answer_of(ask.kind, trace)
    trace = seen.answering(ask.pod, newest=ask.hold != polling.BEFORE_PREFILTER) if ask.pod else None
    return judging.answer_of_options(right_answers(ask, seen), "" if trace is None else trace["id"])


def _put_away(call: Call, now: Standing) -> None:
    """Take back the step's poll, or where it was revealed end its showing."""
    found = _poll(call, now)
    if found is None:
        return
    if found[1].state in votes.DONE:
        polling.end(call, *found)
    else:
        polling.remove(call, *found)


def view(call: Call, now: Standing) -> View:
    """Return what predicates look at, as time stands."""
    stored = call.store.get(CLOCKS, "", CLOCK)
    status = read(None if stored is None else stored.object.get("status"), ClockStatus)
    now_ms = call.store.session_ms() if status.sim_time_ms is None else status.sim_time_ms
    held = status.held or {}
    moment = Moment(
        now_ms, now.script.began_ms, str(held.get("pod", "")), str(held.get("point", "")), now.script.waits_ms
    )
    return View(call.store, moment)
