"""A real Chromium against a real installation: sessions, pages and what they show."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.prepare import find_browser
from tests.tools.server import Server

ROOT = Path(__file__).resolve().parent.parent.parent
SCREENSHOTS = ROOT / "test-artifacts" / "screenshots"
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    # In a container shared memory may be too small for a page, which then crashes.
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
VIEWPORT = {"width": 1440, "height": 900}
TWENTY_PICTURES = """(() => {
  const ask = window.requestAnimationFrame.bind(window), cancel = window.cancelAnimationFrame.bind(window);
  const asked = new Map();
  let last = 0;
  window.requestAnimationFrame = (show) => {
    const id = ++last;
    const timer = setTimeout(() => {
      const frame = ask((timeMs) => {
        asked.delete(id);
        show(timeMs);
      });
      asked.set(id, () => cancel(frame));
    }, 34);
    asked.set(id, () => clearTimeout(timer));
    return id;
  };
  window.cancelAnimationFrame = (id) => { asked.get(id)?.(); asked.delete(id); };
})()"""
"""Has a page paint every third of a screen's sixty pictures a second, as it does on a slow machine: what it comes to is
the same, and painting is most of what these tests cost."""
ASKED_AGAIN_MS = 100
"""Each time a page is asked it writes all it knows as JSON: more often it is slower itself."""


expect.set_options(timeout=PATIENCE_SECONDS * 1000)


class Classroom:
    """One session and the people in it, each in a browser of their own."""

    def __init__(self, server: Server, browser: Browser, template: str, lesson: str = "", alone: bool = False) -> None:
        course = {"lesson": lesson, "alone": alone}
        wish = course if lesson else {"title": "Proof", "template": template, "seed": 42}
        status, created = server.request("POST", "/api/sessions", wish)
        assert status == 201, created
        self.server = server
        self.browser = browser
        self.created: dict[str, Any] = created
        self.code: str = created["code"]
        self.token: str = created["token"]
        self.contexts: list[BrowserContext] = []
        self.problems: list[str] = []

    def context(self, **options: Any) -> BrowserContext:
        """Return a fresh browser profile, closed with the classroom."""
        context = self.browser.new_context(**{"viewport": VIEWPORT, "locale": "en-GB", **options})
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        context.add_init_script(TWENTY_PICTURES)
        self.contexts.append(context)
        return context

    def watch(self, page: Page) -> Page:
        """Keep what goes wrong in a page: a test that passes over an exception proves little."""
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        return page

    def teacher(self, **options: Any) -> Page:
        """Open the session by the teacher's address, as the person who made it does."""
        page = self.watch(self.context(**options).new_page())
        page.goto(self.created["url"])
        wait_state(page, lambda state: state["connection"] == "live" and state["revision"] > 0, "the session is live")
        return page

    def student(self, name: str, **options: Any) -> Page:
        """Join by code with a name, through the join page."""
        page = self.watch(self.context(**options).new_page())
        page.goto(f"{self.server.url}/join/{self.code}")
        page.get_by_test_id("join-name").fill(name)
        page.get_by_test_id("join-submit").click()
        page.wait_for_url("**/s/**")
        wait_state(page, lambda state: state["connection"] == "live" and state["revision"] > 0, "the student is in")
        return page

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """Return the decoded answer of a request as the teacher; the request must succeed."""
        status, answer = self.server.obeyed(method, path, body, self.token)
        assert 200 <= status < 300, f"{method} {path}: {status} {answer}"
        return answer

    def session(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer of the session's own API."""
        return self.api(method, f"/api/sessions/{self.code}{path}", body)

    def cluster(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer of the session's Kubernetes API."""
        return self.api(method, f"/clusters/{self.code}{path}", body)

    def close(self) -> None:
        for context in self.contexts:
            context.close()


def state(page: Page) -> dict[str, Any]:
    """Return `window.clustersim.state()`; empty before the page has one, and while it goes from one to the next."""
    try:
        # As text: what a page knows of a hundred nodes takes Playwright's own encoding of objects a fifth of a second.
        told = page.evaluate("() => JSON.stringify(window.clustersim?.state({ counting: false }) ?? {})")
    except PlaywrightError as gone:
        if "Execution context was destroyed" not in gone.message:
            raise
        return {}
    known: dict[str, Any] = json.loads(told)
    return known


def wait_state(
    page: Page, condition: Callable[[dict[str, Any]], Any], what: str, seconds: float = PATIENCE_SECONDS
) -> dict[str, Any]:
    """Return the first state of a page for which the condition holds, once the page has drawn it.

    A page knows of the session before it has drawn it, and of a change up to a frame before it shows it.
    """
    deadline = time.monotonic() + seconds
    found: dict[str, Any] = {}
    while True:
        # Evaluating from outside works under the page's own content security policy; waiting inside it would not.
        current = state(page)
        if not found and current.get("revision") and condition(current):
            found = current
        if found and found["change"] <= current.get("paintedChange", 0):
            return found
        if found and current.get("change", 0) < found["change"]:
            found = {}  # Loaded anew meanwhile.
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds:g} s; the page shows {json.dumps(current)[:2000]}")
        page.wait_for_timeout(ASKED_AGAIN_MS)


def laid(page: Page, holds: str, what: str, **places: str) -> None:
    """Wait until things lie as told: `holds` is JavaScript over the rectangles of the first that each selector finds.

    All are measured in one frame: between two the layout may change. What is wider or higher than nothing is there.
    """
    measured = f"""(places) => {{
      const measure = ([name, one]) => [name, document.querySelector(one)?.getBoundingClientRect()];
      const {{ {", ".join(places)} }} = Object.fromEntries(Object.entries(places).map(measure));
      return [{", ".join(places)}].every((one) => one && one.width && one.height) && Boolean({holds});
    }}"""
    tells(page, measured, True, what, places)


def tells(place: Page | Locator, script: str, value: object, what: str = "", arg: object = None) -> None:
    """Wait until JavaScript over a page or an element tells a value: what was asked for may not be drawn yet."""
    page = place.page if isinstance(place, Locator) else place
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (told := place.evaluate(script, arg)) != value:
        assert time.monotonic() < deadline, f"{what or script}: {told!r} instead of {value!r}"
        page.wait_for_timeout(ASKED_AGAIN_MS)


def brought(place: Locator) -> None:
    """Scroll until a place is in view; what is drawn anew meanwhile is looked up again, unlike in Playwright's own."""
    tells(place, "one => { one.scrollIntoView({ block: 'nearest' }); return one.isConnected; }", True)


def drawn(page: Page) -> None:
    """Wait until a session's page shows all that it knows now."""
    wait_state(page, lambda now: True, "the page is drawn")


def picture(page: Page, name: str) -> None:
    """Keep a screenshot among the test artefacts, where somebody wants to look at them (`PICTURES=1 make test`).

    Nothing is judged by it, and four hundred of them are minutes of a processor.
    """
    if os.environ.get("PICTURES"):
        _kept(page, name)


def _kept(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    # Transitions that end are shown at their end.
    page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test has failed, for its fixtures."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Yield a Chromium. Made per module: Playwright's loop must not outlive it beside tests of the database."""
    path = find_browser()
    assert path, "these tests drive a real browser: install chromium (apt-get install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def open_classroom(
    request: pytest.FixtureRequest, live_server_up: Server, chromium: Browser
) -> Iterator[Callable[..., Classroom]]:
    """Yield a function that opens a session from a template, or of a lesson; no page of it may have raised.

    What the pages of a test showed when it failed is kept among the test artefacts.
    """
    opened: list[Classroom] = []

    def make(template: str, lesson: str = "", alone: bool = False) -> Classroom:
        opened.append(Classroom(live_server_up, chromium, template, lesson, alone))
        return opened[-1]

    yield make
    pages = [page for classroom in opened for context in classroom.contexts for page in context.pages]
    if request.node.stash.get(FAILED, False):
        for number, page in enumerate(pages):
            with contextlib.suppress(PlaywrightError):
                _kept(page, f"failed-{re.sub(r'[^a-z0-9]+', '-', request.node.name)}-{number}")
    for classroom in opened:
        classroom.close()
    # What runs on unseen takes the processor from the next test.
    live_server_up.let_sleep()
    problems = [problem for classroom in opened for problem in classroom.problems]
    assert problems == []
