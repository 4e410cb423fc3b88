"""`/healthz`, `/readyz`, `/metrics`: whether this installation answers, is complete, and what it counts."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable
from typing import Final

import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import Error as DatabaseFailure
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from clustersim.classroom import doors
from clustersim.store import workers
from clustersim.store.failures import explain

logger = logging.getLogger(__name__)

TAKING_UP: Final = "sessions are being taken up"
"""How the answer of `worker` begins while sessions wait for a worker, as after a restart of everything."""

PROBE_SECONDS: Final = 2.0
"""A part that has not answered by then is reported as not ok."""


async def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process serves requests."""
    return HttpResponse("ok", content_type="text/plain")


async def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 with `database`, `redis` and `worker` each `ok`, else 503 with the culprit's reason."""
    probes: dict[str, Callable[[], Awaitable[str]]] = {"database": _database, "redis": _redis, "worker": _worker}
    answers = await asyncio.gather(*(_probe(name, probe) for name, probe in probes.items()))
    body = dict(zip(probes, answers, strict=True))
    if body["database"] != "ok" and body["worker"] != "ok":
        body["worker"] = "waits for the database"
    response = JsonResponse(body, status=200 if all(answer == "ok" for answer in answers) else 503)
    # Asked every few moments while something is away: the part that is away logs that, not every question about it.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


async def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the counters of the web process and the workers in Prometheus' text format.

    They tell of everybody's sessions, so they are for this machine, and for who shows METRICS_TOKEN.
    """
    if not _may_read_metrics(request):
        text = "metrics are told to this machine alone; elsewhere send METRICS_TOKEN as a bearer token\n"
        return HttpResponse(text, content_type="text/plain; charset=utf-8", status=403)
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return HttpResponse(await sync_to_async(generate_latest)(registry), content_type=CONTENT_TYPE_LATEST)


def _may_read_metrics(request: HttpRequest) -> bool:
    if doors.is_here(request.META):
        return True
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").encode()
    return bool(settings.METRICS_TOKEN) and secrets.compare_digest(given, settings.METRICS_TOKEN.encode())


async def _probe(name: str, probe: Callable[[], Awaitable[str]]) -> str:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await probe()
    except (TimeoutError, OSError, redis.RedisError, DatabaseFailure) as error:
        logger.debug("%s is not ready: %s", name, error)
        cause = explain(error)
        if cause is not None:
            return f"{cause} ({error})"
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


async def _database() -> str:
    await sync_to_async(workers.probe)()
    return "ok"


async def _redis() -> str:
    client = redis.asyncio.Redis.from_url(settings.REDIS_URL)
    try:
        await client.ping()
    finally:
        await client.aclose()
    return "ok"


async def _worker() -> str:
    def ask() -> str:
        if not workers.alive():
            return "no worker has renewed its lease: look at the log of `manage.py up`"
        waiting = workers.waiting()
        return f"{TAKING_UP}: {waiting} still {'waits' if waiting == 1 else 'wait'}" if waiting else "ok"

    return await sync_to_async(ask)()
