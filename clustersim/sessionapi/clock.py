"""Routes of the clock: how time runs, and steps. Answers come after the owner has obeyed."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.classroom.roles import guard_for
from clustersim.runtime import commands
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse
from clustersim.store import sessions
from controllers.commands import RunTold
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.predicates import ExpressionError, Predicate
from controllers.registry.models.clustersim_v1 import ClockSpec, ClockStatus, PollSpec, PollStatus, Run, Step
from controllers.registry.structs import bounds, options, read
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, one_of
from scheduler_core.api.said import said

CLOCKS: Final = "clocks.clustersim.io"
CLOCK: Final = "clock"

STEPS: Final = options(Step, "by")


def current(call: Call, observed: Document | None = None) -> Document:
    """Return the body of `GET …/clock`; `observed` is the Clock object, read when it is not given."""
    session = sessions.get(call.session.id)
    if observed is None:
        stored = call.store.get(CLOCKS, "", CLOCK)
        if stored is None:
            raise ApiError(404, "NotFound", said("clock.none", "this session has no clock"))
        observed = stored.object
    spec, status = read(observed.get("spec"), ClockSpec), read(observed.get("status"), ClockStatus)
    return {
        "paused": spec.paused if status.paused is None else status.paused,
        "rate": spec.rate if status.rate is None else status.rate,
        "pace": spec.pace if status.pace is None else status.pace,
        "simTime": call.store.session_ms() / 1000,
        "revision": session.revision,
        "held": status.held,
        "effectiveRate": status.effective_rate or 0,
        "hibernated": session.hibernated,
        "epochMs": session.epoch_ms,
        "narrated": status.narrated or {"oneIn": 1},
        "run": None if (run := RunTold.of(status.run)) is None else run.document(),
    }


def show(call: Call) -> HttpResponse:
    """Answer `GET …/clock`."""
    _ = call.principal
    return answer(current(call))


def change(call: Call) -> HttpResponse:
    """Answer `PATCH …/clock`."""
    principal = call.require(TEACHER)
    body = call.body(("paused", "rate", "pace", "run"))
    wanted: Document = {}
    if body.get("paused") is not None:
        # Whoever stops time, or lets it go at its rate, calls off a run.
        wanted.update(paused=flag_field(body, "paused"), run=None)
    for field, value in (
        ("rate", number_field(body, "rate", *bounds(ClockSpec, "rate"))),
        ("pace", number_field(body, "pace", *bounds(ClockSpec, "pace"), whole=True)),
    ):
        if value is not None:
            wanted[field] = value
    if wanted.get("paused") is False:
        _check_no_poll(call)

    run = None if body.get("run") is None else _run(body["run"])
    began_ms = call.store.session_ms()

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        if run is not None:
            number = int((spec.get("run") or {}).get("id") or 0)
            told = int(((document.get("status") or {}).get("run") or {}).get("id") or 0)
            wanted.update(paused=True, run={**run, "id": max(number, told) + 1, "beganMs": began_ms})
        spec.update(wanted)

    observed = commands.ask(
        principal.session_id, CLOCKS, CLOCK, mutate, actor=principal.actor, guard=guard_for(principal, commands=True)
    )
    return answer(current(call, observed))


def _run(asked: Any) -> Document:
    """Return how far time is to go by itself, as the body asks.

    Raises:
        ApiError: 422.
    """
    until = asked.get("until") if isinstance(asked, dict) else None
    if not isinstance(until, str):
        raise refuse(
            Cause("run.until", said("give.predicate", "give a predicate, as pod('web').ready (docs/lessons.md)"))
        )
    try:
        Predicate.compile(until)
    except ExpressionError as wrong:
        raise refuse(*(Cause("run.until", str(problem)) for problem in wrong.problems)) from wrong
    seconds = number_field(asked, "seconds", 1, bounds(Run, "seconds")[1])
    return {"until": until, **({} if seconds is None else {"seconds": float(seconds)})}


def step(call: Call) -> HttpResponse:
    """Answer `POST …/clock/step`."""
    principal = call.require(TEACHER)
    body = call.body(("by", "count"))
    if body.get("by") not in STEPS:
        raise refuse(Cause("by", one_of(STEPS)))
    count = number_field(body, "count", 1, bounds(Step, "count")[1], whole=True)
    _check_no_poll(call)

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        number = int((spec.get("step") or {}).get("id") or 0) + 1
        spec.update(
            paused=True, run=None, step={"id": number, "by": body["by"], "count": 1 if count is None else count}
        )

    observed = commands.ask(
        principal.session_id, CLOCKS, CLOCK, mutate, actor=principal.actor, guard=guard_for(principal, commands=True)
    )
    if _steps_on(observed):
        # An extender has been called: the step has come to its point when that has answered.
        own = observed["status"].get("stepId")
        observed = (
            commands.wait_until(
                principal.session_id,
                CLOCKS,
                CLOCK,
                lambda document: not _steps_on(document) or document["status"].get("stepId") != own,
            )
            or observed
        )
    told = {"stepping": True} if _steps_on(observed) else {}
    return answer({**current(call, observed), "stepped": (observed.get("status") or {}).get("stepped") or 0, **told})


def _check_no_poll(call: Call) -> None:
    """Let nobody lead time on by mistake where a poll has it stand: what is asked would be decided.

    Raises:
        ApiError: 409.
    """
    for stored in call.store.list(POLLS)[0]:
        spec, status = read(stored.object["spec"], PollSpec), read(stored.object.get("status"), PollStatus)
        if not status.seals or spec.hold not in ("before-prefilter", "now"):
            continue
        clock = call.store.get(CLOCKS, "", CLOCK)
        held = None if clock is None else read(clock.object.get("status"), ClockStatus).held
        if spec.hold == "now" or (held is not None and held.get("pod") == spec.pod):
            why = said(
                "clock.heldByPoll",
                "a poll is open, and time stands for it: reveal it, or take it back, and time goes on",
            )
            raise ApiError(409, "Conflict", why, name=stored.name)


def _steps_on(document: Document) -> bool:
    return bool((document.get("status") or {}).get("stepping"))
