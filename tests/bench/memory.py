"""What a page and its server hold while pods come and go: heap, nodes of the document, listeners, resident memory.

`BENCH_TRAFFIC_SECONDS=3600 python -m tests.bench memory` is the hour. A teacher's page shows *Streams*; some five pods
a second are made, and as many of the oldest are deleted, so that the cluster stays as large as it was: what grows is
what is kept of the past.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.browsers import FLAGS
from tests.bench.page import TRAFFIC_SECONDS, USEFUL, VIEWPORT, held
from tests.tools.prepare import find_browser
from tests.tools.server import Server, child_pids, running

PODS_A_SECOND: Final = 6
ALIVE: Final = 80
"""Pods that stand at a time; the oldest beyond that are deleted."""

BIG_ONE_IN: Final = 50
"""One pod in so many asks for more than any node has, so that there are refusals too."""

READINGS: Final = 6
"""Times that is looked, after the beginning: every ten minutes of an hour."""

DRAWN: Final = "[data-testid='streams-scores'] .main-svg"


def run() -> list[dict[str, Any]]:
    """Return a row for each reading."""
    with running() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        try:
            return _watched(server, browser)
        finally:
            browser.close()


def _watched(server: Server, browser: Browser) -> list[dict[str, Any]]:
    _, session = server.request("POST", "/api/sessions", {"title": "bench", "template": "zones", "seed": 1})
    token, code = session["token"], session["code"]
    server.obeyed("PATCH", f"/api/sessions/{code}/clock", {"pace": 0}, token)
    page = browser.new_context(viewport=VIEWPORT, bypass_csp=True).new_page()
    page.goto(session["url"])
    page.evaluate(USEFUL)
    page.get_by_test_id("dock-streams").click()
    page.locator(DRAWN).first.wait_for()
    rows: list[dict[str, Any]] = []
    made, alive, began = 0, deque[str](), time.monotonic()
    while len(rows) <= READINGS:
        second = time.monotonic()
        made = _traffic(server, f"/clusters/{code}/api/v1/namespaces/default/pods", token, alive, made)
        if second - began >= len(rows) * TRAFFIC_SECONDS / READINGS:
            rows.append(_reading(server, page, seconds=round(second - began), made=made))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        page.wait_for_timeout(max(0.0, second + 1 - time.monotonic()) * 1_000)
    return rows


def _traffic(server: Server, path: str, token: str, alive: deque[str], made: int) -> int:
    """Make a second's pods, delete the oldest; return how many were made in all."""
    for number in range(made, made + PODS_A_SECOND):
        cpu = "900" if number % BIG_ONE_IN == BIG_ONE_IN - 1 else "100m"
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
        metadata = {"name": f"p{number}", "labels": {"app": f"a{number % 5}"}}
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
        server.request("POST", path, document, token)
        alive.append(f"p{number}")
    while len(alive) > ALIVE:
        server.request("DELETE", f"{path}/{alive.popleft()}?gracePeriodSeconds=1", None, token)
    return made + PODS_A_SECOND


def _reading(server: Server, page: Page, *, seconds: int, made: int) -> dict[str, Any]:
    metrics = held(page)
    return {
        "bench": "memory",
        "seconds": seconds,
        "made": made,
        "pods": page.evaluate("() => window.clustersim.state().pods.length"),
        "heapMB": round(metrics["JSHeapUsedSize"] / 1_000_000, 1),
        "documentNodes": round(metrics["Nodes"]),
        "listeners": round(metrics["JSEventListeners"]),
        "serverMB": _resident(server),
    }


def _resident(server: Server) -> int:
    """Return the megabytes that the installation's processes have resident together, what they share counted once."""
    kilobytes = 0
    for pid in (server.process.pid, *child_pids(server.process.pid)):
        told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        kilobytes += sum(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:"))
    return round(kilobytes * 1_024 / 1_000_000)
