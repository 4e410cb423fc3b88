"""Asking a session's owner for something: change a command object, wait until the owner has observed it.

Synchronous; call it through `sync_to_async` from asynchronous code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from clustersim.classroom.writing import web_context, writes
from clustersim.feed import hints
from clustersim.store import open_store
from clustersim.store.sql import SqlStore
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Update
from controllers.log.store import copy_object
from controllers.registry.context import Context, Guard
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, not_found
from scheduler_core.api.said import said

OBEY_SECONDS: Final = 5.0
"""An owner that has not observed a command by then is taken to be away: the change is undone and the answer is 503."""

LOOK_EVERY_SECONDS: Final = 0.02
"""How often the status is looked at when no hint comes."""


def ask(
    session_id: int,
    resource: str,
    name: str,
    mutate: Callable[[Document], None],
    *,
    actor: str,
    guard: Guard | None = None,
    timeout: float | None = None,
) -> Document:
    """Change a cluster-scoped command object and return it as the owner left it after obeying.

    `mutate` gets a copy of the object and changes its `spec` in place. `timeout`: real seconds; None: `OBEY_SECONDS`.

    Raises:
        ApiError: 404 there is no such object; 403, 422 as the registry says; 503 the owner did not observe the change
            in time, and it is undone.
    """
    hints.touch(session_id)
    store = open_store(session_id)
    before, asked = _write(store, resource, name, mutate, web_context(actor, store, guard=guard))
    generation = int(asked["metadata"].get("generation", 0))

    def obeyed(document: Document) -> bool:
        return int((document.get("status") or {}).get("observedGeneration", 0)) >= generation

    seconds = OBEY_SECONDS if timeout is None else timeout
    observed = _wait(store, resource, name, obeyed, seconds)
    if observed is not None:
        return observed
    _undo(store, resource, name, before, asked, actor)
    raise ApiError(
        503,
        "ServiceUnavailable",
        said(
            "owner.late",
            "the session's owner did not obey within {timeout:g} s, so nothing was changed; try again in a moment",
            timeout=seconds,
        ),
        name=name,
        retry_after_seconds=1,
    )


def wait_until(session_id: int, resource: str, name: str, done: Callable[[Document], bool]) -> Document | None:
    """Return a command object once it is as asked for; None where it is not within `OBEY_SECONDS`.

    Raises:
        ApiError: 404 there is no such object.
    """
    return _wait(open_store(session_id), resource, name, done, OBEY_SECONDS)


def _write(
    store: SqlStore, resource: str, name: str, mutate: Callable[[Document], None], context: Context
) -> tuple[Document, Document]:
    with writes(store, context.actor) as transaction:
        stored = transaction.get(resource, "", name)
        if stored is None:
            raise not_found(resource, name)
        changed = copy_object(stored.object)
        mutate(changed)
        return stored.object, REGISTRY.apply(transaction, Update(resource, "", name, changed), context).object


def _wait(
    store: SqlStore, resource: str, name: str, done: Callable[[Document], bool], timeout: float
) -> Document | None:
    """Return the object once it is as asked for; None after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    grown = threading.Event()

    def listen(kind: str, session_id: int, revision: int) -> None:
        if session_id == store.session_id:
            grown.set()

    hints.listen(listen)
    try:
        while True:
            grown.clear()
            stored = store.get(resource, "", name)
            if stored is None:
                raise not_found(resource, name)
            if done(stored.object):
                return copy_object(stored.object)
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            grown.wait(min(left, LOOK_EVERY_SECONDS))
    finally:
        hints.unlisten(listen)


def _undo(store: SqlStore, resource: str, name: str, before: Document, asked: Document, actor: str) -> None:
    with writes(store, actor) as transaction:
        stored = transaction.get(resource, "", name)
        # Somebody else may have asked for something since: theirs stands.
        if stored is None or stored.object["metadata"].get("generation") != asked["metadata"].get("generation"):
            return
        document = copy_object(stored.object)
        document["spec"] = copy_object(before).get("spec", {})
        REGISTRY.apply(transaction, Update(resource, "", name, document), web_context(actor, store))
