"""What the page costs: bytes, time to the first useful paint, frames a second in a busy cluster, memory over time.

`python -m tests.bench page`. Bytes are those over the wire, with a cold cache; the first useful paint is the first
frame in which nodes stand on the stage. The busy cluster has 1,000 nodes and takes in pods all the time; memory is the
page's heap, after a collection, at the beginning and at the end of the traffic.
"""

from __future__ import annotations

import os
import time
from statistics import median
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.browsers import FLAGS
from tests.tools.prepare import find_browser
from tests.tools.server import Server, running

VIEWPORT: Final = {"width": 1440, "height": 900}
COLD_STARTS: Final = 5
PODS: Final = 10_000
BATCH: Final = 500
"""Pods by which the busy cluster's Deployment grows at once."""

TRAFFIC_SECONDS: Final = int(os.environ.get("BENCH_TRAFFIC_SECONDS", "60"))
"""How long frames are counted; set it to 3600 for an hour."""

BOUND: Final = "() => window.clustersim.state().pods.filter((one) => one.nodeName).length"
FPS: Final = "() => window.clustersim.state().fps"

USEFUL: Final = """() => new Promise(done => {
  const look = () => {
    const now = window.clustersim?.state();
    if (now?.nodes.length && now.paintedRevision >= now.revision) done(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})"""


def run() -> list[dict[str, Any]]:
    """Return rows: weight and first paint of a small cluster, then frames and memory of a busy one."""
    with running() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        try:
            return [_first_paint(server, browser), _busy(server, browser)]
        finally:
            browser.close()


def _first_paint(server: Server, browser: Browser) -> dict[str, Any]:
    _, session = server.request("POST", "/api/sessions", {"title": "bench", "template": "three-nodes", "seed": 1})
    starts = [_cold_start(browser, session["url"]) for _ in range(COLD_STARTS)]
    waits = [wait for wait, _ in starts]
    return {
        "bench": "page, cold",
        "starts": COLD_STARTS,
        "p50UsefulPaintMs": round(median(waits)),
        "maxUsefulPaintMs": round(max(waits)),
        "kBWithoutPlotly": round(starts[-1][1] / 1000),
    }


def _cold_start(browser: Browser, url: str) -> tuple[float, int]:
    """Open the page with an empty cache; return milliseconds to the first useful paint, and bytes without Plotly."""
    page = browser.new_context(viewport=VIEWPORT, bypass_csp=True).new_page()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    addresses: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def answered(event: dict[str, Any]) -> None:
        addresses[event["requestId"]] = event["response"]["url"]

    def ended(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = int(event["encodedDataLength"])

    network.on("Network.responseReceived", answered)
    network.on("Network.loadingFinished", ended)
    page.goto(url, wait_until="commit")
    wait = float(page.evaluate(USEFUL))
    page.wait_for_load_state("networkidle")
    page.context.close()
    return wait, sum(size for number, size in sizes.items() if "plotly" not in addresses.get(number, ""))


def _busy(server: Server, browser: Browser) -> dict[str, Any]:
    _, session = server.request("POST", "/api/sessions", {"title": "bench", "template": "nodes-1000", "seed": 1})
    token, code = session["token"], session["code"]
    server.obeyed("PATCH", f"/api/sessions/{code}/clock", {"pace": 0}, token)
    page = browser.new_context(viewport=VIEWPORT, bypass_csp=True).new_page()
    page.goto(session["url"])
    page.evaluate(USEFUL)
    path = f"/clusters/{code}/apis/apps/v1/namespaces/default/deployments"
    requests = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    template = {
        "metadata": {"labels": {"app": "busy"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": requests}]},
    }
    spec = {"replicas": BATCH, "selector": {"matchLabels": {"app": "busy"}}, "template": template}
    server.obeyed(
        "POST", path, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "busy"}, "spec": spec}, token
    )
    begun, wanted = time.monotonic(), BATCH
    heap = _heap(page)
    frames: list[int] = []
    while time.monotonic() - begun < TRAFFIC_SECONDS:
        page.wait_for_timeout(1_000)
        frames.append(page.evaluate(FPS))
        if page.evaluate(BOUND) >= wanted:
            # Past the most that is asked for, the same pods go and come.
            wanted = wanted + BATCH if wanted < PODS else BATCH
            document = {"metadata": {"name": "busy"}, "spec": {**spec, "replicas": wanted}}
            server.obeyed("PUT", f"{path}/busy", {"apiVersion": "apps/v1", "kind": "Deployment", **document}, token)
    return {
        "bench": "page, busy",
        "nodes": 1_000,
        "pods": page.evaluate(BOUND),
        "seconds": round(time.monotonic() - begun),
        "p50Fps": median(frames),
        "minFps": min(frames),
        "heapMBBefore": heap,
        "heapMBAfter": _heap(page),
    }


def _heap(page: Page) -> int:
    return round(held(page)["JSHeapUsedSize"] / 1_000_000)


def held(page: Page) -> dict[str, float]:
    """Return what a page holds after a collection, as the browser counts; `performance.memory` tells older numbers."""
    tools = page.context.new_cdp_session(page)
    try:
        tools.send("HeapProfiler.collectGarbage")
        tools.send("Performance.enable")
        metrics = tools.send("Performance.getMetrics")["metrics"]
    finally:
        tools.detach()
    return {metric["name"]: metric["value"] for metric in metrics}
