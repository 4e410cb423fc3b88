"""What only the worker that owns a session knows, to whoever asks: through Redis, on request, nothing kept.

Schedulers' metrics and controllers' panels. A web process says through a hint that it wants them; the owner writes them
into a list of that question alone, where the web process waits. Nobody asks, nothing is rendered.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import cache
from typing import Final

import msgspec
import redis
from django.conf import settings

from clustersim.feed import hints
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

ANSWER_SECONDS: Final = 3.0
"""An owner that has not answered by then is taken to be away: the answer is 503."""

KEPT_SECONDS: Final = 10
"""How long an answer lies in Redis that nobody fetches."""

CONNECT_SECONDS: Final = 0.5
"""How long Redis is waited for; a scrape comes again."""


def ask(session_id: int, kind: str = hints.METRICS) -> Mapping[str, str]:
    """Return the text of every live scheduler (`METRICS`), controller manager (`PANELS`) or replica (`INSIDES`) of a
    session, by identity; one text under "" of what all watch (`WATCHES`).

    Raises:
        ApiError: 503, no owner answered, or Redis is away.
    """
    hints.touch(session_id)
    number = secrets.randbelow(1 << 53)
    try:
        hints.question(kind, session_id, number)
        found = _client().blpop([_key(session_id, number)], timeout=ANSWER_SECONDS)
    except (redis.RedisError, OSError) as error:
        raise _away(said("owner.redis", "Redis, through which the owner answers, is away")) from error
    if found is None:
        raise _away(
            said(
                "owner.silent",
                "the session's owner did not answer within {answer_seconds:g} s",
                answer_seconds=ANSWER_SECONDS,
            )
        )
    return msgspec.json.decode(found[1], type=dict[str, str])


def answer(session_id: int, number: int, texts: Mapping[str, str]) -> None:
    """Give the owner's answer; without Redis there is nobody to give it to."""
    key = _key(session_id, number)
    try:
        pipeline = _client().pipeline()
        pipeline.rpush(key, msgspec.json.encode(texts))
        pipeline.expire(key, KEPT_SECONDS)
        pipeline.execute()
    except (redis.RedisError, OSError):
        return


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=ANSWER_SECONDS + CONNECT_SECONDS
    )


def _key(session_id: int, number: int) -> str:
    return f"clustersim:metrics:{session_id}:{number}"


def _away(why: str) -> ApiError:
    return ApiError(
        503, "ServiceUnavailable", said("owner.again", "{why}; try again in a moment", why=why), retry_after_seconds=1
    )
