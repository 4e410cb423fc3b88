"""Many large files at once: read one by one, kept small, while others are answered."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from typing import Any

import httpx
import pytest

from clustersim.classroom import importing, manifests
from tests.tools.application import bearer, http, opened
from tests.tools.patience import PATIENCE_SECONDS

ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}}}\ndata: {{{pairs}}}\n"
PAIRS = ", ".join(f"k{number}: v" for number in range(60))
LARGE = "---\n".join(ONE.format(number=number, pairs=PAIRS) for number in range(2_000))


class Blocked:
    """Reading that goes on when it is let, and counts how many read at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.reading = 0
        self.most = 0
        self.began = threading.Event()
        self._lock = threading.Lock()

    def entries_of(self, data: bytes) -> list[importing.Entry]:
        with self._lock:
            self.reading += 1
            self.most = max(self.most, self.reading)
        self.began.set()
        assert self.go.wait(PATIENCE_SECONDS)
        with self._lock:
            self.reading -= 1
        return [importing.Entry.of(0, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})]


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> Blocked:
    made = Blocked()
    monkeypatch.setattr(importing, "entries_of", made.entries_of)
    return made


async def test_files_take_turns_and_the_crowd_is_sent_away(blocked: Blocked) -> None:
    """Twenty openings with a file at once grew the process by 5 GB, and another session waited 17 s."""
    crowd = importing.IMPORTS_WAITING_MAX + 4
    async with http() as client:
        session = await opened(client)
        other = await opened(client)
        headers = bearer(session["token"])

        async def bring(number: int) -> httpx.Response:
            if number % 2:
                body = {"title": "x", "template": "import", "manifest": "kind: X"}
                return await client.post("/api/sessions", json=body)
            return await client.post(f"/api/sessions/{session['code']}/import", content=b"kind: X", headers=headers)

        tasks = [asyncio.create_task(bring(number)) for number in range(crowd)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            # Those for whom there is no room hear it while the others wait.
            sent_away: list[httpx.Response] = []
            for first in asyncio.as_completed(tasks):
                sent_away.append(await first)
                if len(sent_away) == crowd - importing.IMPORTS_WAITING_MAX:
                    break
            assert {answer.status_code for answer in sent_away} == {429}
            assert all(int(answer.headers["retry-after"]) > 0 for answer in sent_away)
            # Meanwhile another session is answered.
            path = f"/api/sessions/{other['code']}"
            assert (await client.get(path, headers=bearer(other["token"]))).status_code == 200
            blocked.go.set()
            done = [answer for answer in await asyncio.gather(*tasks) if answer not in sent_away]
        assert {answer.status_code for answer in done} == {200, 201}
        assert blocked.most == importing.IMPORTS_AT_ONCE_MAX


def test_a_file_is_kept_as_text_not_as_values() -> None:
    data = LARGE.encode()
    tracemalloc.start()
    try:
        entries = importing.entries_of(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        kept = list(manifests.objects(data))
        _, as_values = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(entries) == len(kept) == 2_000
    assert peak < 6 * len(data) < as_values


async def test_a_file_is_applied_as_before() -> None:
    async with http() as client:
        session = await opened(client)
        headers = bearer(session["token"])
        text = "---\n".join(ONE.format(number=number, pairs="a: b") for number in range(3))
        answer = await client.post(f"/api/sessions/{session['code']}/import", content=text.encode(), headers=headers)
        found: dict[str, Any] = answer.json()
        assert (found["created"], [result["name"] for result in found["results"]]) == (3, ["c0", "c1", "c2"])
        broken = f"{text}---\na: b: c\n".replace("name: c", "name: d")
        answer = await client.post(f"/api/sessions/{session['code']}/import", content=broken.encode(), headers=headers)
        assert answer.status_code == 400
        path = f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps/d0"
        assert (await client.get(path, headers=headers)).status_code == 404, "nothing of a broken file is applied"
