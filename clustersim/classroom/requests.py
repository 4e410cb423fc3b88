"""The newest API requests of this process and the marks that they left on their way (docs/adr: where marks are kept).

Requests that write are kept, and those that were refused; bounded in number, by session and in all.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any, Final

from controllers.registry.marks import Marks

KEPT_PER_SESSION: Final = 200
"""Requests of one session that a process remembers; the oldest is forgotten for a newer one."""

SESSIONS_MAX: Final = 200
"""Sessions whose requests a process remembers; those of the one that was silent longest are forgotten."""


@cache
def process() -> str:
    """Return who remembers, drawn when first asked for: another web process remembers its own, one forked later too."""
    return f"web-{os.getpid()}-{secrets.token_hex(2)}"


@dataclass(slots=True)
class Kept:
    """One request."""

    number: int
    user: str
    verb: str
    key: str
    code: int
    sim_time_ms: int
    rv_before: str = ""
    rv_after: str = ""
    rv_asked: str = ""
    """The resourceVersion that the request was made on; empty: it named none."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    path: str = ""
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as the session API tells it."""
        return {
            "id": f"{process()}-{self.number}",
            "process": process(),
            "user": self.user,
            "verb": self.verb,
            "path": self.path,
            "key": self.key,
            "code": self.code,
            "message": self.message,
            "simTime": self.sim_time_ms / 1000,
            "rvBefore": self.rv_before,
            "rvAfter": self.rv_after,
            "rvAsked": self.rv_asked,
            "steps": self.steps,
        }


class Requests:
    """What one process remembers."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, deque[Kept]] = OrderedDict()
        self._numbers = count(1)

    def keep(self, session_id: int, marks: Marks, **facts: Any) -> None:
        """Remember a request; `facts` are the fields of `Kept`."""
        one = Kept(number=next(self._numbers), steps=[mark.as_dict() for mark in marks.steps], **facts)
        with self._lock:
            own = self._kept.get(session_id)
            if own is None:
                own = self._kept[session_id] = deque(maxlen=KEPT_PER_SESSION)
                if len(self._kept) > SESSIONS_MAX:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(session_id)
            own.append(one)

    def newest(self, session_id: int, limit: int) -> list[dict[str, Any]]:
        """Return the newest requests of a session, the newest first."""
        with self._lock:
            own = list(self._kept.get(session_id) or ())
        return [one.as_dict() for one in own[::-1][:limit]]

    def find(self, session_id: int, name: str) -> dict[str, Any] | None:
        """Return a request by its id."""
        return next((one for one in self.newest(session_id, KEPT_PER_SESSION) if one["id"] == name), None)


REQUESTS: Final = Requests()
