"""Sessions as rows: made, found by code, owned by a worker, put to sleep.

What other packages get is `SessionRow`, a value; the tables stay in here.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from clustersim.store.failures import explain
from clustersim.store.models import Hue, Object, Revision, Session, Trace

CODE_LETTERS: Final = "ACDEFGHJKMNPQRTWXY34679"
"""What codes are made with: letters and digits of which none is read as another (no 0/O, 1/I/L, 2/Z, 5/S, 8/B, U/V)."""

TITLE_LENGTH_MAX: Final = 120
"""Characters of a title that are kept; the rest is cut."""

TOUCH_EVERY_MS: Final = 30_000
"""A session's last use is written at most this often: it is read in minutes."""

TOUCH_SECONDS: Final = 5.0
"""A process asks the database about a session in use at most this often; one that sleeps is woken by any request."""

AWAKE_MAX: Final = 400
"""Sessions that may be awake at once; past it none is opened or woken (503) until one sleeps."""

CROWDED: Final = 200
"""Awake sessions from which on those that nobody uses sleep early."""


_touched: dict[int, float] = {}  # when this process last found the session awake, by the monotonic clock
_touched_lock: Final = threading.Lock()


class NoSession(Exception):
    """There is no session with this id."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as its row was when read. `epoch` is the fencing epoch, `owner` a worker's identity or empty."""

    id: int
    code: str
    title: str
    template: str
    seed: int
    epoch_ms: int
    revision: int
    compacted: int
    horizon_ms: int
    epoch: int
    owner: str
    touched_ms: int
    hibernated: bool
    parent_id: int | None
    forked_at: int
    created_at: datetime

    @property
    def display_code(self) -> str:
        """Return the code as people write it: `K7Q-M2X`."""
        return f"{self.code[:3]}-{self.code[3:]}"


_FIELDS: Final = tuple(field.name for field in fields(SessionRow))


def _row(session: Session) -> SessionRow:
    return SessionRow(**{name: getattr(session, name) for name in _FIELDS})


def real_ms() -> int:
    """Return Unix milliseconds of the wall clock."""
    return int(timezone.now().timestamp() * 1000)


def normal_code(code: str) -> str:
    """Return the code as it is stored: upper case, dashes and spaces dropped."""
    return "".join(letter for letter in code.upper() if letter not in "- ")


def new_seed() -> int:
    """Return a seed for a session that did not ask for one (31 bits: exact in every JSON reader)."""
    return secrets.randbelow(2**31)


def create(
    title: str,
    template: str,
    seed: int | None = None,
    *,
    parent_id: int | None = None,
    forked_at: int = 0,
    epoch_ms: int | None = None,
    horizon_ms: int = 0,
    last_ms: int = 0,
    compacted: int = 0,
    asleep: bool = False,
) -> SessionRow:
    """Make an empty session; its objects are the caller's to write (in the same `transaction.atomic()`).

    A fork starts with `revision` at `forked_at`: numbers go on; its history begins after `compacted`. One that is made
    `asleep` has no owner before `wake`.
    """
    now_ms = real_ms()
    while True:
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(6))
        try:
            with transaction.atomic():
                session = Session.objects.create(
                    code=code,
                    title=title.strip()[:TITLE_LENGTH_MAX],
                    template=template,
                    seed=new_seed() if seed is None else seed,
                    epoch_ms=now_ms // 1000 * 1000 if epoch_ms is None else epoch_ms,
                    revision=forked_at,
                    compacted=compacted,
                    horizon_ms=horizon_ms,
                    last_ms=last_ms,
                    hibernated=asleep,
                    touched_ms=now_ms,
                    parent_id=parent_id,
                    forked_at=forked_at,
                )
        except IntegrityError:
            if not Session.objects.filter(code=code).exists():
                raise
            continue
        _forget_touch(session.id)  # SQLite gives the number of a session whose making was undone once more
        return _row(session)


def find(code: str) -> SessionRow | None:
    """Return the session with this code (case and dash do not matter)."""
    normal = normal_code(code)
    # PostgreSQL refuses a text with NUL, which a path may hold.
    if len(normal) != 6 or not (normal.isascii() and normal.isalnum()):
        return None
    session = Session.objects.filter(code=normal).first()
    return _row(session) if session is not None else None


def get(session_id: int) -> SessionRow:
    """Return a session.

    Raises:
        NoSession: there is none with this id.
    """
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        raise NoSession(f"there is no session {session_id}")
    return _row(session)


def every() -> Sequence[SessionRow]:
    """Return all sessions, oldest first."""
    return [_row(session) for session in Session.objects.order_by("pk")]


def remove(session_id: int) -> None:
    """Delete a session with its log, objects and traces."""
    with transaction.atomic():
        for model in (Trace, Object, Revision, Hue):
            model.objects.filter(session_id=session_id).delete()
        Session.objects.filter(pk=session_id).delete()


def touch(session_id: int) -> bool:
    """Note that somebody uses the session; return whether that woke it from hibernation.

    Cheap enough for every request: see TOUCH_SECONDS. While AWAKE_MAX sessions are awake it sleeps on: it can be read,
    and commands are answered with 503. A use that the database cannot note refuses nobody either: whoever goes on to
    write is told what is wrong, and what is there can be read.
    """
    now = time.monotonic()
    with _touched_lock:
        if now - _touched.get(session_id, -TOUCH_SECONDS) < TOUCH_SECONDS:
            return False
    try:
        woke, awake = _note_use(session_id)
    except DatabaseError as error:
        if explain(error) is None:
            raise
        woke, awake = False, True
    if awake:
        with _touched_lock:
            for other in [key for key, at in _touched.items() if now - at >= TOUCH_SECONDS]:
                del _touched[other]
            _touched[session_id] = now
    return woke


def _forget_touch(session_id: int) -> None:
    with _touched_lock:
        _touched.pop(session_id, None)


def _note_use(session_id: int) -> tuple[bool, bool]:
    """Return (whether this woke the session, whether it is awake now)."""
    now_ms = real_ms()
    stale = Session.objects.filter(pk=session_id, touched_ms__lt=now_ms - TOUCH_EVERY_MS)
    stale.update(touched_ms=now_ms)
    asleep = Session.objects.filter(pk=session_id, hibernated=True)
    if not asleep.exists():
        return False, True
    if awake_count() >= AWAKE_MAX:
        return False, False
    return bool(asleep.update(hibernated=False, touched_ms=now_ms)), True


def wake(session_id: int) -> None:
    """Let a session that was made asleep have an owner."""
    Session.objects.filter(pk=session_id).update(hibernated=False, touched_ms=real_ms())


# -- ownership ---------------------------------------------------------------------------------------------------------


def awake_count() -> int:
    """Return how many sessions are awake."""
    return Session.objects.filter(hibernated=False).count()


def awake() -> Sequence[SessionRow]:
    """Return the sessions that some worker should own, oldest first."""
    return [_row(session) for session in Session.objects.filter(hibernated=False).order_by("pk")]


def claim(session_id: int, worker: str, *, epoch: int) -> int | None:
    """Make `worker` the owner if the fencing epoch still is `epoch`; return the new epoch, None when it has moved."""
    claimed = Session.objects.filter(pk=session_id, epoch=epoch, hibernated=False).update(
        owner=worker, epoch=F("epoch") + 1
    )
    return epoch + 1 if claimed else None


def release(session_id: int, worker: str, *, epoch: int, hibernate: bool = False) -> bool:
    """Let go of a session that is owned under `epoch`; return False when it was no longer."""
    changes: dict[str, Any] = {"owner": "", "epoch": F("epoch") + 1}
    if hibernate:
        changes["hibernated"] = True
        _forget_touch(session_id)
    return bool(Session.objects.filter(pk=session_id, owner=worker, epoch=epoch).update(**changes))


def unused(session_ids: Sequence[int], *, before_ms: int) -> list[int]:
    """Return those of the sessions that nobody has used since `before_ms` (Unix milliseconds)."""
    rows = Session.objects.filter(pk__in=session_ids, touched_ms__lt=before_ms)
    return list(rows.values_list("pk", flat=True))


def revisions(session_ids: Sequence[int]) -> dict[int, int]:
    """Return the newest revision of each session, in one query: what the feeds of a process poll."""
    return dict(Session.objects.filter(pk__in=session_ids).values_list("pk", "revision"))
