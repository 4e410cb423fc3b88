"""Times as the wire writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=256)
def wire_time(unix_ms: int) -> str:
    """Return RFC 3339 in whole seconds, as metav1.Time is written."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).strftime("%Y-%m-%dT%H:%M:%SZ")


def wire_micro_time(unix_ms: int) -> str:
    """Return RFC 3339 with microseconds, as metav1.MicroTime is written."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unix_ms_of(text: str) -> int:
    """Return Unix milliseconds of an RFC 3339 time.

    Raises:
        ValueError: the text is no time.
    """
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)
