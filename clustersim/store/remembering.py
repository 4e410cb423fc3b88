"""What a process remembers of its sessions: what was read under a session's lock and has not changed since.

A create looks up its namespace, the quotas and limits there, the priority classes, webhooks, policies and flags: a
dozen statements for what changes once an hour, while everybody else waits for their turn. So the answers stay, with the
revision at which they were read; the next writer asks the log which resources have changed since then, and forgets
these. Only whoever holds the session's lock reads or adds here: nothing can change under it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final

from controllers.log.store import Stored

SESSIONS_MAX: Final = 100
"""Sessions remembered at once; who was written to longest ago goes."""

BYTES_MAX: Final = 131_072
"""Bytes of objects remembered of a session; what is larger is asked for each time."""

ANSWERS_MAX: Final = 1_000
"""Answers remembered of a session, those included that say there is nothing."""

REVISIONS_MAX: Final = 5_000
"""Rows of the log after which asking what has changed costs more than asking anew."""

Answer = Sequence[Stored] | Stored | None
Changed = Callable[[int, int], Iterable[str]]
"""(after a revision, until another) → the resources that have rows between them."""


class Remembered:
    """What is remembered of one session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = 0
        self._bytes = 0
        self._answers: dict[str, dict[tuple[str | None, ...], Answer]] = {}
        self._count = 0

    def catch_up(self, revision: int, compacted: int, changed: Changed) -> None:
        """Forget what has changed up to a revision, the newest one that is committed."""
        with self._lock:
            since = self._revision
            if since == revision:
                return
            if since < compacted or not 0 < revision - since <= REVISIONS_MAX:
                self._clear()
            elif self._answers:
                self._forget(changed(since, revision))
            self._revision = revision

    def committed(self, before: int, revision: int, resources: Iterable[str]) -> None:
        """Know of one's own commit, which went from one revision to another and wrote these resources."""
        with self._lock:
            # Otherwise the next writer was here first, and has asked the log.
            if self._revision == before:
                self._forget(resources)
                self._revision = revision

    def get(self, resource: str, place: tuple[str | None, ...], ask: Callable[[], Answer]) -> Answer:
        """Return the answer to a question about a resource; `ask` gets it from the database."""
        known = self._answers.get(resource)
        if known is not None and place in known:
            return known[place]
        answer = ask()
        size = _size(answer)
        if size <= BYTES_MAX:
            with self._lock:
                if self._bytes + size > BYTES_MAX or self._count >= ANSWERS_MAX:
                    self._clear()
                self._answers.setdefault(resource, {})[place] = answer
                self._bytes += size
                self._count += 1
        return answer

    def _forget(self, resources: Iterable[str]) -> None:
        for resource in resources:
            gone = self._answers.pop(resource, None)
            if gone is not None:
                self._bytes -= sum(map(_size, gone.values()))
                self._count -= len(gone)

    def _clear(self) -> None:
        self._answers.clear()
        self._bytes = self._count = 0


def _size(answer: Answer) -> int:
    if answer is None:
        return 0
    return answer.size if isinstance(answer, Stored) else sum(one.size for one in answer)


_sessions: Final[OrderedDict[Hashable, Remembered]] = OrderedDict()
_lock: Final = threading.Lock()


def remembered(key: Hashable) -> Remembered:
    """Return what is remembered of a session; the key names it and its database."""
    with _lock:
        found = _sessions.get(key)
        if found is None:
            found = _sessions[key] = Remembered()
            if len(_sessions) > SESSIONS_MAX:
                _sessions.popitem(last=False)
        else:
            _sessions.move_to_end(key)
        return found
