"""The three stores behind one handle. The owner's instances, which keep objects in memory, are held to the same."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from clustersim.store import forking, open_store, sessions
from controllers.log.memory import MemoryStore
from tests.tools import databases


@dataclass
class Session:
    """One session of a backend under test."""

    open: Callable[[], Any]
    """Return a store on the session; each database one has its own memory."""
    take_over: Callable[[], int]
    """Make somebody else the owner and return the new fencing epoch."""
    fork: Callable[..., Session]
    """Return a session that goes on from a revision of this one; `since`: with the log from there."""
    turn: Any = field(default_factory=contextlib.nullcontext)
    """What a thread holds while it uses a store: MemoryStore belongs to one thread at a time."""
    id: int = 0


@dataclass
class Backend:
    """A kind of store."""

    name: str
    new_session: Callable[[], Session]


def _memory() -> Session:
    return _in_memory(MemoryStore(seed=7))


def _in_memory(store: MemoryStore) -> Session:
    def fork(revision: int, since: int | None = None) -> Session:
        return _in_memory(store.fork(revision, "F0RK", since))

    return Session(open=lambda: store, take_over=store.take_over, fork=fork, turn=threading.Lock())


def _database(*, owner: bool) -> Callable[[], Session]:
    def handle(session_id: int) -> Session:
        def take_over() -> int:
            epoch = sessions.claim(session_id, "another", epoch=sessions.get(session_id).epoch)
            assert epoch is not None
            return epoch

        def fork(revision: int, since: int | None = None) -> Session:
            parent = open_store(session_id)
            made = forking.fork(parent, "fork", revision, since=revision if since is None else since)
            sessions.wake(made.id)
            return handle(made.id)

        return Session(open=lambda: open_store(session_id, owner=owner), take_over=take_over, fork=fork, id=session_id)

    return lambda: handle(sessions.create("contract", "empty", seed=7).id)


@pytest.fixture(params=["memory", "sqlite", "sqlite-owner", "postgresql", "postgresql-owner"])
def backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Iterator[Backend]:
    """Yield each kind of store."""
    kind, _, owner = request.param.partition("-")
    if kind == "memory":
        yield Backend(kind, _memory)
        return
    url = request.getfixturevalue("postgresql_url") if kind == "postgresql" else ""
    with django_db_blocker.unblock(), databases.using(url, tmp_path_factory.mktemp("contract")):
        yield Backend(request.param, _database(owner=bool(owner)))
