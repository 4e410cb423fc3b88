"""Times as the wire writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=256)
def wire_time(unix_ms: int) -> str:
    """Return RFC 3339 in whole seconds, as metav1.Time is written."""
    return written(_EPOCH + timedelta(milliseconds=unix_ms), micro=False)


def wire_micro_time(unix_ms: int) -> str:
    """Return RFC 3339 with microseconds, as metav1.MicroTime is written."""
    return written(_EPOCH + timedelta(milliseconds=unix_ms), micro=True)


@lru_cache(maxsize=1024)
def wire_form(text: str, *, micro: bool) -> str | None:
    """Return an RFC 3339 time as the server writes it (UTC), None where there is no such time."""
    try:
        moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return written(moment, micro=micro)


def written(moment: datetime, *, micro: bool) -> str:
    """Return a moment in UTC as the wire has it; years have four digits, the first ones too."""
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds" if micro else "seconds") + "Z"


@lru_cache(maxsize=8192)
def unix_ms_of(text: str) -> int:
    """Return Unix milliseconds of an RFC 3339 time.

    Raises:
        ValueError: the text is no time.
    """
    return unix_us_of(text) // 1_000


def unix_us_of(text: str) -> int:
    """Return Unix microseconds of an RFC 3339 time.

    Raises:
        ValueError: the text is no time.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - _EPOCH
    return (since.days * _DAY + since.seconds) * 1_000_000 + since.microseconds


def human_duration(seconds: int) -> str:
    """Return a duration as kubectl writes it (`duration.HumanDuration`): `45s 2m5s 12m 3h20m 26h 5d 2y60d`."""
    if seconds < -1:
        return "<invalid>"
    if seconds <= 0:
        return "0s"
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    minutes = seconds // _MINUTE
    if minutes < 10:
        rest = seconds % _MINUTE
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 3 * 60:
        return f"{minutes}m"
    hours = seconds // _HOUR
    if hours < 8:
        rest = minutes % 60
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days = hours // 24
    if hours < 24 * 8:
        rest = hours % 24
        return f"{days}d{rest}h" if rest else f"{days}d"
    if days < 365 * 2:
        return f"{days}d"
    years, rest = divmod(days, 365)
    if years < 8:
        return f"{years}y{rest}d" if rest else f"{years}y"
    return f"{years}y"
