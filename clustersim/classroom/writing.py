"""The one door for writes of people: their context, a transaction, and the word to those who read the log.

Writes of one session that come at one moment share a transaction (`batching`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any, Final, Literal

from clustersim.classroom.access import authorizer_for
from clustersim.classroom.auth import Principal
from clustersim.classroom.batching import BATCHES, Job
from clustersim.classroom.roles import guard_for
from clustersim.feed.hints import wake
from clustersim.store import SqlStore
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Operation, Result
from controllers.log.store import Stored
from controllers.log.transaction import BufferedTransaction
from controllers.registry.context import SESSION, Context
from controllers.registry.marks import Marks
from scheduler_core.api.draw import draw_suffix

SESSION_ACTOR: Final = SESSION
"""The author of what nobody did: a template's objects, a student's namespace."""


@contextmanager
def writes(store: SqlStore, actor: str) -> Iterator[BufferedTransaction]:
    """Open a transaction of somebody's writes; after its commit those who read the log are told how far it goes.

    Everybody but a session's owner writes through here. Keep it short: nobody else's write gets in between.
    """
    with store.transaction(actor) as transaction:
        yield transaction
        revision, written = transaction.revision, bool(transaction.rows)
    if written:
        wake(store.session_id, revision)


def web_context(actor: str, store: SqlStore, **more: Any) -> Context:
    """Return the registry's context of a write from outside the owner: random uids and name suffixes.

    `more`: what else a `Context` has, such as its guard.
    """
    return Context(
        actor=actor,
        epoch_ms=store.epoch_ms,
        new_uid=lambda: str(uuid.uuid4()),
        new_suffix=lambda: draw_suffix(uuid.uuid4().int, "generateName", ""),
        **more,
    )


def context_for(
    principal: Principal | None,
    store: SqlStore,
    *,
    field_validation: Literal["Ignore", "Warn", "Strict"] = "Warn",
    field_manager: str = "",
    dry_run: bool = False,
    commands: bool = False,
    explains: bool = False,
    marks: Marks | None = None,
) -> Context:
    """Return the registry's context of one write by a person, or by the session itself.

    `commands`: it may be of a command object, as a route of the session API. `explains`: whoever writes is told what
    this cluster does otherwise than a real one. `marks`: where its steps are noted.
    """
    return web_context(
        SESSION_ACTOR if principal is None else principal.actor,
        store,
        field_validation=field_validation,
        field_manager=field_manager,
        dry_run=dry_run,
        explains=explains,
        creator={} if principal is None else principal.creator,
        user=None if principal is None else principal.info,
        guard=None if principal is None else guard_for(principal, commands=commands, store=store, dry_run=dry_run),
        authorize=None if principal is None else authorizer_for(principal),
        marks=marks,
    )


def apply(
    store: SqlStore, operation: Operation, context: Context, check: Callable[[Stored], None] | None = None
) -> Stored:
    """Apply one person's operation, tell those who read the log; return what is stored.

    `check` refuses, before it is kept, what could not be answered.

    Raises:
        ApiError: refused; nothing was written.
    """
    return BATCHES.carry_out(store, Job(operation, context, check), _together)


def _together(store: SqlStore, jobs: Sequence[Job]) -> int:
    """Carry out jobs in one transaction until somebody else has waited long for it; return how many."""
    done = 0
    with writes(store, jobs[0].context.actor) as transaction:
        for job in jobs:
            if done and transaction.others_wait():
                break
            before = transaction.mark()
            with job.told():
                stored = REGISTRY.apply(transaction, job.operation, job.context)
                if job.check is not None:
                    job.check(stored)
                job.stored = stored
            if job.error is not None:
                transaction.undo(before)
            done += 1
        began = perf_counter_ns()
    for job in jobs[:done]:
        if job.stored is not None and job.context.marks is not None:
            job.context.marks.note("store", "commit", began)
    return done


def write(store: SqlStore, operations: Sequence[Operation], **context: Any) -> list[Result]:
    """Apply operations by the session itself in one transaction, each with its own result."""
    with writes(store, SESSION_ACTOR) as transaction:
        return [
            REGISTRY.attempt(transaction, operation, context_for(None, store, **context)) for operation in operations
        ]


def refuse_first(results: Iterable[Result]) -> None:
    """Raise the first refusal among the results.

    Raises:
        ApiError: that one.
    """
    for result in results:
        if result.error is not None:
            raise result.error
