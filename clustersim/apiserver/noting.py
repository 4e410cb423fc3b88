"""Noting the way of a request: which marks are kept, and what is told of it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from clustersim.apiserver.messages import Request
from clustersim.apiserver.routes import Target
from clustersim.classroom.auth import Principal
from clustersim.classroom.callers import CALLERS, agent_of
from clustersim.classroom.requests import REQUESTS
from clustersim.feed import hints
from clustersim.store import SqlStore, open_store, sessions
from controllers.flags.apiserver import ETCD_PREFIX
from controllers.flags.held import flags_of
from controllers.registry.marks import Mark, Marks, StepName
from scheduler_core.api.errors import ApiError

_READS = ("GET", "HEAD", "OPTIONS")
_UNREAD: Final = (400, 406, 413, 415)
"""Answers to a body that could not be read, or to one that could not be answered as was asked."""

PATH_LENGTH_MAX: Final = 500


class Noted:
    """One request under way, and who asks for what as far as that is known."""

    def __init__(self, request: Request) -> None:
        """Begin to note."""
        self.marks = Marks(time.perf_counter_ns)
        self.request = replace(request, marks=self.marks)
        self.principal: Principal | None = None
        self.target: Target | None = None
        self.verb = request.method.lower()
        self._kept = False
        self._store: SqlStore | None = None

    def open(self, session_id: int) -> SqlStore:
        """Return the session's store, which a request opens once.

        Raises:
            NoSession: there is none with this id.
        """
        if self._store is None:
            self._store = open_store(session_id)
        return self._store

    def refused(self, error: ApiError) -> None:
        """Keep a request that was refused; one for what is not there is no news where it only reads."""
        if not any(mark.result == "refused" for mark in self.marks.steps):
            plugin = "decode" if error.code in _UNREAD else ""
            self.marks.steps.append(Mark(self._step_of(error), plugin, result="refused", message=error.message))
        if self.request.method not in _READS or error.code in (401, 403):
            self._keep(error.code, error.message, error.name)

    def _step_of(self, error: ApiError) -> StepName:
        """Return where a request was refused that no step has noted: between two of them, or before the registry."""
        if error.code in (401, 403, 429):
            return "authentication" if self.principal is None else "authorization"
        return "store" if self.target is not None and error.code in (404, 409) else "registry"

    def answered(self, code: int) -> None:
        """Keep a request that has changed something, and know of one that reads."""
        if self.target is None or self.principal is None:
            return
        if self.request.method not in _READS:
            self._keep(code, "")
        elif CALLERS.read(
            self.principal.session_id,
            user=self.principal.slug,
            agent=agent_of(self.request.headers.get("user-agent", "")),
            verb=self.verb,
            path=self.request.path[:PATH_LENGTH_MAX],
        ):
            hints.wake_requests(self.principal.session_id)

    def _keep(self, code: int, message: str, name: str = "") -> None:
        row = None if self.principal is not None else sessions.find(self.request.code)
        session_id = self.principal.session_id if self.principal is not None else (row.id if row is not None else None)
        if session_id is None or self._kept:
            return
        self._kept = True
        marks = self.marks
        REQUESTS.keep(
            session_id,
            marks,
            user="" if self.principal is None else self.principal.slug,
            verb=self.verb,
            path=self.request.path[:PATH_LENGTH_MAX],
            key=self._key(session_id, name),
            code=code,
            message=message,
            sim_time_ms=self.open(session_id).session_ms() if marks.sim_ms is None else marks.sim_ms,
            rv_before=marks.before,
            rv_after=marks.stored,
            rv_asked=marks.asked,
        )
        hints.wake_requests(session_id)

    def _key(self, session_id: int, name: str) -> str:
        target = self.target
        if target is None:
            return ""
        root = self.marks.root or flags_of(self.open(session_id))[ETCD_PREFIX]
        return target.kind.key_of(root, target.namespace or "", target.name or self.marks.name or name)
