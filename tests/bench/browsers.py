"""Click → painted: one browser clicks a node into being, another one paints it.

Both pages run in one Chromium, so `Date.now()` is one clock. Painted means that `window.clustersim.state()` shows the
object at a revision the stage has painted.
"""

from __future__ import annotations

import shutil
from statistics import quantiles
from typing import Any, Final

from tests.tools.server import running

CLICKS: Final = 40
FLAGS: Final = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

WATCH: Final = """count => new Promise(done => {
  const look = () => {
    const now = window.clustersim.state();
    if (now.nodes.length >= count && now.paintedRevision >= now.revision) done(Date.now());
    else requestAnimationFrame(look);
  };
  look();
})"""

CLICK: Final = """() => {
  const at = Date.now();
  document.querySelector('[data-testid="palette-node-small"]').click();
  return at;
}"""


def run() -> list[dict[str, Any]]:
    """Return one row: p50, p95 and worst milliseconds over the clicks."""
    from playwright.sync_api import sync_playwright

    with running() as server, sync_playwright() as playwright:
        _, session = server.request("POST", "/api/sessions", {"title": "bench", "template": "empty", "seed": 1})
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        clicking = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True).new_page()
        clicking.goto(session["url"])
        clicking.wait_for_function("() => window.clustersim?.state().revision > 0")
        watching = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True).new_page()
        watching.goto(session["url"])
        watching.wait_for_function("() => window.clustersim?.state().revision > 0")
        waits: list[int] = []
        for count in range(1, CLICKS + 1):
            painted = watching.evaluate_handle(f"() => {{ window.painted = ({WATCH})({count}); }}")
            began = clicking.evaluate(CLICK)
            waits.append(watching.evaluate("() => window.painted") - began)
            painted.dispose()
        browser.close()
    cuts = quantiles(waits, n=20)
    return [
        {
            "bench": "click→painted",
            "browsers": 2,
            "clicks": CLICKS,
            "p50Ms": round(cuts[9]),
            "p95Ms": round(cuts[18]),
            "maxMs": max(waits),
        }
    ]
