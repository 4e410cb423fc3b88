"""Writes of one session that come at one moment share a transaction: one turn at the store, each with its own result.

Eight clients that write beside each other would take eight turns, and the threads that wait for theirs would take the
interpreter from the one that has it, again and again. So whoever comes while another one's transaction is under way
waits asleep, and the first of those who have gathered carries out what all of them want.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from django.db import connection
from django.utils import translation

from clustersim.store import SqlStore
from controllers.log.operations import Operation
from controllers.log.store import Stored
from controllers.registry.context import Context
from scheduler_core.api.errors import ApiError

GROUP: Final = 25
"""Operations of one transaction: a few milliseconds, so that nobody else's write waits long behind an import."""


class Job:
    """One write: what is asked, and what came of it."""

    __slots__ = ("_language", "called", "check", "context", "error", "leads", "operation", "stored")

    def __init__(self, operation: Operation, context: Context, check: Callable[[Stored], None] | None = None) -> None:
        self.operation = operation
        self.context = context
        self.check = check
        self.stored: Stored | None = None
        self.error: BaseException | None = None
        self.called = threading.Lock()
        """Held until it is done, or the next ones are its to carry out."""
        self.called.acquire()
        self.leads = False
        self._language = translation.get_language()

    @contextmanager
    def told(self) -> Iterator[None]:
        """Keep what goes wrong, for whoever asked, in their language: another one's thread may be at work."""
        try:
            if self._language == translation.get_language():
                yield
            else:
                with translation.override(self._language):
                    yield
        except ApiError as refusal:
            refusal.warnings = tuple(self.context.warnings)
            self.error = refusal.with_traceback(None)
        except Exception as error:
            self.error = error


Together = Callable[[SqlStore, Sequence[Job]], int]
"""Carries out jobs in one transaction, from the first on; returns how many."""


class _Line:
    """The writes of one session that wait in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        """Whose job is under way, then who waits for that: the first of them leads."""

    def join(self, job: Job) -> bool:
        """Wait in the line; return whether there is nobody before, and this one is to carry out what waits."""
        with self._lock:
            self._waiting.append(job)
            return len(self._waiting) == 1

    def taken(self) -> list[Job]:
        """Return who is at the head of the line; they stay there until they are done."""
        with self._lock:
            return [self._waiting[index] for index in range(min(GROUP, len(self._waiting)))]

    def done(self, count: int) -> None:
        """Let go of so many, and have the next one carry out what waits."""
        with self._lock:
            over = [self._waiting.popleft() for _ in range(count)]
            after = self._waiting[0] if self._waiting else None
        for job in over:
            job.called.release()
        if after is not None:
            after.leads = True
            after.called.release()

    @property
    def is_empty(self) -> bool:
        """Return whether nobody is in it."""
        return not self._waiting


class Batches:
    """The lines of all sessions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[Hashable, _Line] = {}

    def carry_out(self, store: SqlStore, job: Job, together: Together) -> Stored:
        """Carry a job out, alone or with others; return what is stored.

        Raises:
            ApiError: refused; nothing was written.
        """
        if connection.in_atomic_block:
            # Nobody else's write can be part of what is not known to be kept, and this one waits for nobody.
            together(store, [job])
            return _result(job)
        key = (connection.settings_dict["NAME"], store.session_id)
        with self._lock:
            line = self._lines.setdefault(key, _Line())
            leads = line.join(job)
        if not leads:
            job.called.acquire()
        if leads or job.leads:
            self._lead(store, line, together)
            with self._lock:
                if line.is_empty and self._lines.get(key) is line:
                    del self._lines[key]
        return _result(job)

    def _lead(self, store: SqlStore, line: _Line, together: Together) -> None:
        jobs = line.taken()
        count = len(jobs)
        try:
            count = together(store, jobs)
        except BaseException as error:
            # What one of them met before the commit failed is news no more.
            for job in jobs:
                job.stored, job.error = None, copy.copy(error)
                job.error.__cause__ = error
        finally:
            line.done(count)


def _result(job: Job) -> Stored:
    try:
        if job.error is not None:
            raise job.error
        assert job.stored is not None, "who is done has an object or a refusal"
        return job.stored
    finally:
        # The error's traceback holds this frame, and this frame would hold the error.
        del job


BATCHES: Final = Batches()
