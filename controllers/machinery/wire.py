"""Wire timestamps: RFC 3339 of session epoch plus simulated time, made without asking any clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(unix_ms: int) -> str:
    """Return metav1.Time: whole seconds, UTC."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(unix_ms: int) -> str:
    """Return metav1.MicroTime: six digits of a second, UTC."""
    return (_EPOCH + timedelta(milliseconds=unix_ms)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unix_ms(text: str) -> int:
    """Return Unix milliseconds of a wire timestamp.

    Raises:
        ValueError: the text is no RFC 3339 timestamp.
    """
    moment = datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
    return (moment - _EPOCH) // timedelta(milliseconds=1)
