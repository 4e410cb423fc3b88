"""Thirty people open their homework at once, and look for counterexamples: how long they wait, and others meanwhile.

Everything on loopback, all on the same machine. Whoever looks at nothing but the clock and the pods is timed beside it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from statistics import quantiles
from typing import Any, Final

import httpx

from tests.tools.server import Server, running

PEOPLE: Final = 30
BESIDE_SECONDS: Final = 0.1
"""Between two requests of somebody who does no homework."""

PATIENCE_SECONDS: Final = 300.0

Body = dict[str, Any]


async def measure(server: Server, people: int) -> list[Body]:
    """Return the rows: homework, and the finder."""
    limits = httpx.Limits(max_connections=2 * people)
    # Everybody shows a token of their own; a cookie would be that of whoever came last.
    none = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS, limits=limits, cookies=none) as client:
        made = (
            await client.post("/api/sessions", json={"title": "bench", "template": "three-nodes", "seed": 1})
        ).json()
        home = f"/api/sessions/{made['code']}"
        teacher = {"Authorization": f"Bearer {made['token']}"}

        async def joined(number: int) -> dict[str, str]:
            told = await client.post(f"{home}/join", json={"name": f"student {number}"})
            assert told.status_code == 201, told.text[:300]
            return {"Authorization": f"Bearer {told.json()['token']}"}

        seats = [await joined(number) for number in range(people)]
        wish = {"topic": "preemption", "title": "bench", "seed": 5}
        row = (await client.post(f"{home}/homework", json=wish, headers=teacher)).json()

        async def tasks(seat: dict[str, str]) -> float:
            return await timed(client, "GET", f"{home}/homework/{row['id']}", seat)

        async def search(seat: dict[str, str]) -> float:
            number = seats.index(seat)
            return await timed(client, "POST", f"{home}/rules/fewest-victims/find", seat, {"seed": number})

        rows = []
        for name, work in (("homework", tasks), ("finder", search)):
            done = asyncio.gather(*(work(seat) for seat in seats))
            beside: list[float] = []
            while not done.done():
                for path in (f"{home}/clock", f"/clusters/{made['code']}/api/v1/pods"):
                    beside.append(1000 * await timed(client, "GET", path, teacher))
                await asyncio.sleep(BESIDE_SECONDS)
            waits = await done
            rows.append(
                {
                    "bench": name,
                    "people": people,
                    "firstSeconds": round(min(waits), 1),
                    "lastSeconds": round(max(waits), 1),
                    "others": len(beside),
                    "othersP50Ms": round(quantiles(beside, n=20)[9]),
                    "othersP95Ms": round(quantiles(beside, n=20)[18]),
                    "othersMaxMs": round(max(beside)),
                }
            )
        return rows


async def timed(
    client: httpx.AsyncClient, method: str, path: str, who: dict[str, str], body: Body | None = None
) -> float:
    """Return the seconds that a request takes, which must be answered; sent away for a moment it comes again."""
    began = time.perf_counter()
    while True:
        told = await client.request(method, path, json=body, headers=who)
        if told.status_code not in (429, 503):
            assert told.status_code == 200, (path, told.status_code, told.text[:300])
            return time.perf_counter() - began
        await asyncio.sleep(float(told.headers.get("Retry-After", 1)))


def run(people: int = PEOPLE) -> list[dict[str, Any]]:
    """Return the rows of a class at its homework."""
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with running() as server:
        return asyncio.run(measure(server, people))
