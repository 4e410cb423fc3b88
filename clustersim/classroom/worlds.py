"""The world under a rule: a fork that goes on from what an attempt saw, with the rule for a scheduler or an elector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from clustersim.classroom.auth import Principal
from clustersim.classroom.copies import handing
from clustersim.classroom.opening import Opened, fork_session
from clustersim.classroom.writing import SESSION_ACTOR, web_context, writes
from clustersim.store import SqlStore
from controllers.bootstrap import SCHEDULER
from controllers.commands import CLOCK, CLOCKS
from controllers.flags.table import ELECTIONS
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Create, Update
from controllers.log.store import Transaction, copy_object
from controllers.rules.rule import Rule
from controllers.scheduler.settings import DEFAULT_SPEC, NAME, RESOURCE
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

_STANDING: Final = ("hold", "run", "step")
"""What asks a clock to stand at a place of the session that the world was forked from."""


def open_world(forker: Principal, store: SqlStore, rule: Rule, revision: int, *, wall: bool = False) -> Opened:
    """Make a session in which the rule decides from a moment on; its time runs, and the forker is its teacher.

    With `wall` it tells nobody's name, and hangs there for the class to look at.

    Raises:
        ApiError: 422 the rule decides nothing; 410 the revision is no longer kept; 503 too many sessions are awake.
            Nothing is made then.
    """
    if not rule.decides:
        message = f'"{rule.title["en"]}" says nothing of where a pod goes or who leads, so no world can run under it'
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
            _change(made, transaction, RESOURCE, NAME, lambda spec: mistake.spec(spec or DEFAULT_SPEC))
        if rule.expiry is not None:
            text = rule.expiry
            _change(made, transaction, FLAGS, FLAGS_NAME, lambda spec: _with_expiry(spec, text))
        _change(made, transaction, CLOCKS, CLOCK, _running)


def _change(
    made: SqlStore, transaction: Transaction, resource: str, name: str, change: Callable[[Document], Document]
) -> None:
    """Change the spec of a command object, which is made where there is none."""
    stored = transaction.get(resource, "", name)
    context = web_context(SESSION_ACTOR, made)
    if stored is None:
        document: Document = {
            "apiVersion": "clustersim.io/v1",
            "kind": "Flags",
            "metadata": {"name": name},
            "spec": change({}),
        }
        REGISTRY.apply(transaction, Create(resource, "", document), context)
        return
    changed = copy_object(stored.object)
    changed["spec"] = change(changed.get("spec") or {})
    REGISTRY.apply(transaction, Update(resource, "", name, changed), context)


def _with_expiry(spec: Document, text: str) -> Document:
    name = ELECTIONS[SCHEDULER].expiry.name
    return {**spec, SCHEDULER: {**(spec.get(SCHEDULER) or {}), name: text}}


def _running(spec: Document) -> Document:
    return {**{name: value for name, value in spec.items() if name not in _STANDING}, "paused": False}
