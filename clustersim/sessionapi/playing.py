"""The cluster of a task as a session of its own: everything on it runs, and time stands with the pod in hand."""

from __future__ import annotations

from typing import Final

from clustersim.classroom import opening
from clustersim.classroom.opening import Opened
from clustersim.classroom.templates import TEACHING_PACE_MS
from clustersim.classroom.writing import SESSION_ACTOR, refuse_first, write
from clustersim.runtime import commands
from clustersim.sessionapi.polling import is_held
from clustersim.store import SqlStore, open_store, sessions
from controllers.commands import CLOCK, CLOCKS
from controllers.log.stamps import wire_time
from controllers.rules.cases import Case
from controllers.rules.living import ASKED_KEY, Living
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

RUN_SECONDS: Final = 4.0
"""Real seconds that a cluster may take to come up; then the answer is 503, and nothing is made."""


def open_case(case: Case, title: str, seed: int, teacher_name: str) -> Opened:
    """Make a session of a drawn cluster; what happens next is what the engine was asked when the task was marked.

    Raises:
        ApiError: 503 too many sessions are awake, or nobody runs this one. Nothing is made then.
    """
    living = Living.of(case)

    def begin(store: SqlStore) -> None:
        refuse_first(write(store, list(living.beginning(wire_time(store.epoch_ms)))))

    opened = opening.open_cluster(title, living.objects, living.scheduler, seed, teacher_name, prepare=begin)
    try:
        _come_up(opened.session.id, living)
    except BaseException:
        sessions.remove(opened.session.id)
        raise
    return opened


def _come_up(session_id: int, living: Living) -> None:
    run = {"id": 1, "until": living.until, "seconds": RUN_SECONDS, "beganMs": 0}
    _command(session_id, {"paused": True, "run": run})
    clock = commands.wait_until(session_id, CLOCKS, CLOCK, _has_run)
    if clock is None or clock["status"]["run"]["state"] != "reached":
        raise ApiError(
            503,
            "ServiceUnavailable",
            said("session.notUp", "the cluster did not come up in time: try again"),
            retry_after_seconds=5,
        )
    refuse_first(write(open_store(session_id), list(living.asking())))
    _command(session_id, {"paused": False, "run": None, "hold": {"id": "task", "pod": ASKED_KEY}})
    commands.wait_until(session_id, CLOCKS, CLOCK, lambda document: is_held(document, ASKED_KEY))
    # Time stands there; it goes on as slowly as in every cluster that is to be looked at.
    _command(session_id, {"paused": True, "hold": None, "pace": TEACHING_PACE_MS})


def _has_run(clock: Document) -> bool:
    return ((clock.get("status") or {}).get("run") or {}).get("state") not in (None, "running")


def _command(session_id: int, wanted: Document) -> None:
    commands.ask(session_id, CLOCKS, CLOCK, lambda document: document["spec"].update(wanted), actor=SESSION_ACTOR)
