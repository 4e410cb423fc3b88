"""Who may come in: opening sessions, trying codes, and a session's door for newcomers."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping
from typing import Final

from django.conf import settings

from clustersim.classroom import limits
from clustersim.classroom.models import Door
from clustersim.store import sessions
from clustersim.store.sessions import SessionRow
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said

PASSWORD: Final = "password"
LOCAL: Final = "local"


def is_here(meta: Mapping[str, object]) -> bool:
    """Return whether a request (its META) comes from the machine that serves it, not passed on by another server."""
    address, reached = str(meta.get("REMOTE_ADDR", "")), str(meta.get("SERVER_NAME", ""))
    if "HTTP_X_FORWARDED_FOR" in meta:
        return False
    try:
        return ipaddress.ip_address(address).is_loopback or address == reached
    except ValueError:
        return address == ""  # a unix socket


def phrase_needed(here: bool) -> bool:
    """Return whether opening a session takes the pass phrase."""
    chosen = settings.OPEN_SESSIONS
    return chosen == PASSWORD or (chosen == "" and not here)


def check_opening(address: str, here: bool, phrase: str) -> None:
    """Refuse who may not open a session.

    Raises:
        ApiError: 401 with the field `passPhrase`, 403, 429.
    """
    if settings.OPEN_SESSIONS == LOCAL and not here:
        raise ApiError(
            403,
            "Forbidden",
            said("opening.here", "sessions are opened on the machine that Clustersim runs on; ask who runs it"),
        )
    if not phrase_needed(here):
        return
    limits.check(limits.ENTRIES, address)
    given = phrase.strip().lower()
    if given and secrets.compare_digest(given.encode(), settings.PASS_PHRASE.encode()):
        return
    why = (
        said("opening.phraseOther", "is not the one that Clustersim printed when it started")
        if given
        else said("opening.phraseMissing", "is missing")
    )
    if given:
        limits.spend(limits.ENTRIES, address)
    raise ApiError(
        401,
        "Unauthorized",
        said("opening.phraseWrong", "the pass phrase {why}: who runs Clustersim finds it in its terminal", why=why),
        causes=[Cause("passPhrase", said("opening.phrase", "the pass phrase {why}", why=why))],
    )


def look_up(code: str, address: str) -> SessionRow | None:
    """Return the session with a code, for somebody who has not shown a token; codes that nobody has are counted.

    Raises:
        ApiError: 429, too many were tried: then a code that somebody has looks no different.
    """
    limits.check(limits.CODES, address)
    found = sessions.find(code)
    if found is None:
        limits.spend(limits.CODES, address)
    return found


def is_open(session_id: int) -> bool:
    """Return whether newcomers may take a seat."""
    return not Door.objects.filter(session_id=session_id, closed=True).exists()


def set_open(session_id: int, opened: bool) -> None:
    """Open or close the door for newcomers; who has a seat keeps it."""
    Door.objects.update_or_create(session_id=session_id, defaults={"closed": not opened})


def check_door(session_id: int) -> None:
    """Refuse a newcomer whom the door is closed to.

    Raises:
        ApiError: 403.
    """
    if not is_open(session_id):
        raise ApiError(
            403,
            "Forbidden",
            said("session.closed", "the teacher has closed this session to newcomers: ask them to open it"),
        )
