"""How much of a page a browser styles anew: what a small change costs, told without a clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

from tests.tools.server import wait_for


@contextmanager
def restyled(browser: Browser, page: Page) -> Iterator[list[int]]:
    """Yield a list that has, when the block is over, how many elements each recalculation of styles went through."""
    counts: list[int] = []
    over: list[bool] = []

    def note(told: dict[str, Any]) -> None:
        for event in told["value"]:
            if event["name"] == "UpdateLayoutTree" and event["ph"] == "X":
                counts.append(event["args"].get("elementCount", 0))

    session = browser.new_browser_cdp_session()
    session.on("Tracing.dataCollected", note)
    session.on("Tracing.tracingComplete", lambda _: over.append(True))
    session.send(
        "Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": ["devtools.timeline"]}}
    )
    yield counts
    session.send("Tracing.end")

    def ended() -> bool:
        page.wait_for_timeout(50)  # Events of the browser are heard while the page is waited for.
        return bool(over)

    wait_for(ended, what="the trace is there")
    session.detach()
