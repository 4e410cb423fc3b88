"""The world under a rule: a fork that goes on from what an attempt saw, with the rule for a scheduler or an elector."""

from __future__ import annotations

from clustersim.classroom.auth import Principal
from clustersim.classroom.commanding import change, set_clock
from clustersim.classroom.copies import handing
from clustersim.classroom.opening import Opened, fork_session
from clustersim.classroom.writing import SESSION_ACTOR, writes
from clustersim.store import SqlStore
from controllers.bootstrap import SCHEDULER
from controllers.flags.table import ELECTIONS
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.rules.rule import Rule
from controllers.scheduler.settings import DEFAULT_SPEC, NAME, RESOURCE
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said


def open_world(forker: Principal, store: SqlStore, rule: Rule, revision: int, *, wall: bool = False) -> Opened:
    """Make a session in which the rule decides from a moment on; its time runs, and the forker is its teacher.

    With `wall` it tells nobody's name, and hangs there for the class to look at.

    Raises:
        ApiError: 422 the rule decides nothing; 410 the revision is no longer kept; 503 too many sessions are awake.
            Nothing is made then.
    """
    if not rule.decides:
        message = said(
            "rule.noWorld",
            '"{title}" says nothing of where a pod goes or who leads, so no world can run under it',
            title=rule.title["en"],
        )
        raise ApiError(422, "Invalid", message, name=rule.id)
    if wall:
        handing.check_unsealed(store)
    opened = fork_session(forker, store, revision, prepare=lambda made: _follow(made, rule, wall=wall))
    if wall:
        handing.hang(forker, opened.session.id, revision)
    return opened


def _follow(made: SqlStore, rule: Rule, *, wall: bool) -> None:
    if wall:
        handing.unname(made)
    with writes(made, SESSION_ACTOR) as transaction:
        if rule.mistake is not None:
            mistake = rule.mistake
            change(made, transaction, RESOURCE, NAME, lambda spec: mistake.spec(spec or DEFAULT_SPEC))
        if rule.expiry is not None:
            text = rule.expiry
            change(made, transaction, FLAGS, FLAGS_NAME, lambda spec: _with_expiry(spec, text))
        set_clock(made, transaction, paused=False)


def _with_expiry(spec: Document, text: str) -> Document:
    name = ELECTIONS[SCHEDULER].expiry.name
    return {**spec, SCHEDULER: {**(spec.get(SCHEDULER) or {}), name: text}}
