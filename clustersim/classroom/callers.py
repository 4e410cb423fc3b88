"""Who reads the Kubernetes API through this process: watches that stand, and what was read last. None of it is stored.

Reads leave no marks (`requests.py`): there are too many of them. That somebody reads is told all the same, at most once
a second, and of each session the newest few are remembered.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

READS_PER_SESSION: Final = 20
SESSIONS_MAX: Final = 200
"""Sessions whose reads are remembered; those of the one that was silent longest are forgotten."""

TOLD_EVERY_SECONDS: Final = 1.0
AGENT_LENGTH_MAX: Final = 40


def agent_of(header: str) -> str:
    """Return the program's name of a User-Agent: kubectl of "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9"."""
    return (header.split() or [""])[0].split("/")[0][:AGENT_LENGTH_MAX]


@dataclass(slots=True, eq=False)
class Standing:
    """One watch that stands: whose it is, what it selects, what it was told."""

    session_id: int
    user: str
    name: str
    agent: str
    resource: str
    namespace: str | None
    revision: int
    """How far it has heard the log."""
    events: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """One read that was answered."""

    number: int
    user: str
    agent: str
    verb: str
    path: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as the session API tells it."""
        return {"id": self.number, "user": self.user, "agent": self.agent, "verb": self.verb, "path": self.path}


class Callers:
    """What one process knows of who reads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Know of nobody."""
        self._clock = clock
        self._lock = threading.Lock()
        self._standing: dict[int, dict[Standing, None]] = {}
        self._reads: OrderedDict[int, deque[Read]] = OrderedDict()
        self._told: dict[int, float] = {}
        self._numbers = count(1)

    def stands(self, standing: Standing) -> None:
        """Know of a watch from now on."""
        standing.number = next(self._numbers)
        with self._lock:
            self._standing.setdefault(standing.session_id, {})[standing] = None

    def ends(self, standing: Standing) -> None:
        """Know of it no more."""
        with self._lock:
            own = self._standing.get(standing.session_id, {})
            own.pop(standing, None)
            if not own:
                self._standing.pop(standing.session_id, None)

    def watches(self, session_id: int) -> list[Standing]:
        """Return the watches that stand, the oldest first."""
        with self._lock:
            return list(self._standing.get(session_id, ()))

    def read(self, session_id: int, **facts: str) -> bool:
        """Remember a read, whose facts are the fields of `Read`; return whether it is time to tell of it."""
        one = Read(next(self._numbers), **facts)
        now = self._clock()
        with self._lock:
            own = self._reads.get(session_id)
            if own is None:
                own = self._reads[session_id] = deque(maxlen=READS_PER_SESSION)
                if len(self._reads) > SESSIONS_MAX:
                    self._told.pop(self._reads.popitem(last=False)[0], None)
            self._reads.move_to_end(session_id)
            own.append(one)
            if now - self._told.get(session_id, float("-inf")) < TOLD_EVERY_SECONDS:
                return False
            self._told[session_id] = now
            return True

    def reads(self, session_id: int) -> list[dict[str, Any]]:
        """Return what was read last, the newest first."""
        with self._lock:
            return [one.as_dict() for one in reversed(self._reads.get(session_id, ()))]


CALLERS: Final = Callers()
