"""Routes of the clock: how time runs, and steps. Answers come after the owner has obeyed."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom.auth import TEACHER
from clustersim.classroom.roles import guard_for
from clustersim.runtime import commands
from clustersim.sessionapi.http import Call, answer, number_field, refuse
from clustersim.store import sessions
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause

CLOCKS: Final = "clocks.clustersim.io"
CLOCK: Final = "clock"

RATE_MIN: Final = 0.1
RATE_MAX: Final = 100
"""Simulated seconds per real second; outside these the answer is 422."""

PACE_MAX_MS: Final = 60_000
"""Simulated milliseconds at an extension point; more is refused with 422."""

STEPS_MAX: Final = 10_000
"""Steps of one request; more are refused with 422."""

STEPS: Final = ("point", "cycle", "event", "seconds")


def current(call: Call, observed: Document | None = None) -> Document:
    """Return the body of `GET …/clock`; `observed` is the Clock object, read when it is not given."""
    session = sessions.get(call.session.id)
    if observed is None:
        stored = call.store.get(CLOCKS, "", CLOCK)
        if stored is None:
            raise ApiError(404, "NotFound", "this session has no clock")
        observed = stored.object
    spec, status = observed.get("spec") or {}, observed.get("status") or {}
    asked = {**spec, **status}
    return {
        "paused": bool(asked.get("paused", False)),
        "rate": asked.get("rate", 1),
        "pace": asked.get("pace", 0),
        "simTime": _sim_time_ms(status, session) / 1000,
        "revision": session.revision,
        "held": status.get("held"),
        "effectiveRate": status.get("effectiveRate", 0),
        "hibernated": session.hibernated,
        "narrated": status.get("narrated") or {"oneIn": 1},
    }


def _sim_time_ms(status: Document, session: sessions.SessionRow) -> int:
    """Return simulated time now: the newest in the log, or what the running clock has reached since its anchor."""
    anchored = int(status.get("simTimeMs") or 0)
    runs = session.owner and not session.hibernated and not status.get("paused") and not status.get("held")
    if runs and status.get("anchorUnixMs"):
        real_ms = max(0, sessions.real_ms() - int(status["anchorUnixMs"]))
        anchored += int(real_ms * float(status.get("effectiveRate") or status.get("rate") or 0))
    return max(session.horizon_ms, anchored)


def show(call: Call) -> HttpResponse:
    """Answer `GET …/clock`."""
    _ = call.principal
    return answer(current(call))


def change(call: Call) -> HttpResponse:
    """Answer `PATCH …/clock`."""
    principal = call.require(TEACHER)
    body = call.body(("paused", "rate", "pace"))
    wanted: Document = {}
    if body.get("paused") is not None:
        if not isinstance(body["paused"], bool):
            raise refuse(Cause("paused", "give true or false"))
        wanted["paused"] = body["paused"]
    for field, value in (
        ("rate", number_field(body, "rate", RATE_MIN, RATE_MAX)),
        ("pace", number_field(body, "pace", 0, PACE_MAX_MS, whole=True)),
    ):
        if value is not None:
            wanted[field] = value

    def mutate(document: Document) -> None:
        document.setdefault("spec", {}).update(wanted)

    observed = commands.ask(
        principal.session_id, CLOCKS, CLOCK, mutate, actor=principal.actor, guard=guard_for(principal, commands=True)
    )
    return answer(current(call, observed))


def step(call: Call) -> HttpResponse:
    """Answer `POST …/clock/step`."""
    principal = call.require(TEACHER)
    body = call.body(("by", "count"))
    if body.get("by") not in STEPS:
        raise refuse(Cause("by", f"give one of {', '.join(STEPS)}"))
    count = number_field(body, "count", 1, STEPS_MAX, whole=True)

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        number = int((spec.get("step") or {}).get("id") or 0) + 1
        spec.update(paused=True, step={"id": number, "by": body["by"], "count": 1 if count is None else count})

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


def _steps_on(document: Document) -> bool:
    return bool((document.get("status") or {}).get("stepping"))
