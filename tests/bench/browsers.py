"""Click → painted in a class of thirty: one browser clicks a node into being, another paints it, 28 pages more follow.

Then the teacher presents: what is selected there is selected on the page of a student who follows.

Both pages run in one Chromium, so `Date.now()` is one clock. Painted means that `window.clustersim.state()` shows the
object at a revision the stage has painted. The other pages are their websockets, which are told all that a page is.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from statistics import quantiles
from typing import Any, Final

from tests.bench.classroom import Follower
from tests.tools.prepare import find_browser
from tests.tools.server import Server, running

CLICKS: Final = 40
PEOPLE: Final = 30
CLICK_EVERY_MS: Final = 200
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


NAMED: Final = "document.querySelector('[data-testid=\"inspector-name\"]')?.textContent"
FOLLOW: Final = f"""name => new Promise(done => {{
  const look = () => ({NAMED} === name ? requestAnimationFrame(() => done(Date.now())) : requestAnimationFrame(look));
  look();
}})"""

SELECT: Final = """name => {
  const at = Date.now();
  document.querySelector(`[data-testid="stage"] button[data-node="${name}"]`).click();
  return at;
}"""


def run() -> list[dict[str, Any]]:
    """Return two rows: p50, p95 and worst milliseconds over the clicks."""
    from playwright.sync_api import sync_playwright

    with running() as server, sync_playwright() as playwright:
        _, session = server.request("POST", "/api/sessions", {"title": "bench", "template": "empty", "seed": 1})
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        clicking = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True).new_page()
        clicking.goto(session["url"])
        clicking.wait_for_function("() => window.clustersim?.state().revision > 0")
        watching = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True).new_page()
        watching.goto(session["joinUrl"])
        watching.locator('[data-testid="join-name"]').fill("Mei")
        watching.locator('[data-testid="join-submit"]').click()
        watching.wait_for_function("() => window.clustersim?.state().revision > 0")
        waits: list[int] = []
        followed: list[int] = []
        with _followers(server, session["code"], PEOPLE - 2):
            for count in range(1, CLICKS + 1):
                painted = watching.evaluate_handle(f"() => {{ window.painted = ({WATCH})({count}); }}")
                began = clicking.evaluate(CLICK)
                waits.append(watching.evaluate("() => window.painted") - began)
                painted.dispose()
            clicking.locator('[data-testid="present"]').click()
            watching.locator('[data-testid="band-title"]').wait_for()
            for node in clicking.evaluate("() => window.clustersim.state().nodes.map(({ name }) => name)"):
                shown = watching.evaluate_handle(f"() => {{ window.shown = ({FOLLOW})({node!r}); }}")
                # No faster than a hand: a page that presents tells ten moments a second, so that a scrub is no flood.
                clicking.wait_for_timeout(CLICK_EVERY_MS)
                began = clicking.evaluate(SELECT, node)
                followed.append(watching.evaluate("() => window.shown") - began)
                shown.dispose()
        browser.close()
    return [_row("click→painted", waits), _row("presented→followed", followed)]


def _row(bench: str, waits: list[int]) -> dict[str, Any]:
    cuts = quantiles(waits, n=20)
    spread = {"p50Ms": round(cuts[9]), "p95Ms": round(cuts[18]), "maxMs": max(waits)}
    return {"bench": bench, "people": PEOPLE, "clicks": len(waits), **spread}


@contextlib.contextmanager
def _followers(server: Server, code: str, count: int) -> Iterator[None]:
    """Have so many students join and follow a session."""
    tokens = []
    for number in range(count):
        status, seat = server.request("POST", f"/api/sessions/{code}/join", {"name": f"student {number}"})
        assert status == 201, seat
        tokens.append(seat["token"])
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def follow() -> list[Follower]:
        return list(await asyncio.gather(*(Follower.of(server, code, token) for token in tokens)))

    async def leave(pages: list[Follower]) -> None:
        for page in pages:
            page.over = True
            await page.connection.close()

    pages = asyncio.run_coroutine_threadsafe(follow(), loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(leave(pages), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
