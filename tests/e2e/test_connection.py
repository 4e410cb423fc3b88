"""A page whose connection goes: it says so, what was done meanwhile is there afterwards, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, state, wait_state
from tests.e2e.test_accessible import PHONE, Judge
from tests.tools.lab import pod
from tests.tools.wire import Wire, wire_to

SILENCE_MS = 36_000
"""Longer than a page waits for a word."""


def on_the_wire(classroom: Classroom, wire: Wire, **options: Any) -> Page:
    """Open the session over a wire, as its teacher."""
    page = classroom.watch(classroom.context(**options).new_page())
    page.clock.install()
    page.goto(str(classroom.created["url"]).replace(f":{classroom.server.port}", f":{wire.port}"))
    wait_state(page, lambda now: now["connection"] == "live" and now["revision"], "the session is live")
    return page


def names(page: Page) -> set[str]:
    return {one["name"] for one in state(page)["pods"]}


def test_a_page_says_that_it_is_cut_off_and_goes_on_where_the_others_are(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"paused": True})
    judge = Judge()
    with wire_to(classroom.server.port) as wire:
        page = on_the_wire(classroom, wire)
        bar = page.locator("#banner")
        expect(bar).to_be_hidden()
        seen = state(page)["revision"]
        wire.cut()
        expect(bar).to_contain_text("No connection. What you see is revision")
        judge.look(page, "cut off")
        picture(page, "cut-off")
        # What others do goes on without it; what it does itself is refused in words, and is not done later.
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("while-away"))
        page.get_by_test_id("palette-pod-small").click()
        expect(page.locator("#toasts")).to_contain_text("nothing is lost, try again")
        assert names(page) & {"while-away"} == set()
        wire.mend()
        page.clock.fast_forward(10_000)
        expect(bar).to_be_hidden()
        wait_state(page, lambda now: "while-away" in {one["name"] for one in now["pods"]}, "what was made meanwhile")
        there = {one["metadata"]["name"] for one in classroom.cluster("GET", "/api/v1/pods")["items"]}
        wait_state(page, lambda now: {one["name"] for one in now["pods"]} == there, "all pods, and no other")
        assert state(page)["revision"] > seen
        # Nobody is too slow to read why not: it leaves when the person goes on.
        page.clock.fast_forward(60_000)
        expect(page.locator("#toasts")).to_contain_text("nothing is lost, try again")
        page.locator("#toasts .toast").hover()
        page.keyboard.press("Shift")
        expect(page.locator("#toasts")).to_contain_text("nothing is lost, try again")
        page.get_by_test_id("palette-pod-small").click()
        expect(page.locator("#toasts")).not_to_contain_text("nothing is lost, try again")
        wait_state(page, lambda now: len(now["pods"]) == len(there) + 1, "one more by a click")
    judge.rule()


def test_a_server_that_falls_silent_counts_as_lost_and_a_hanging_try_does_not_hide_it(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"paused": True})
    with wire_to(classroom.server.port) as wire:
        page = on_the_wire(classroom, wire, **PHONE)
        bar = page.locator("#banner")
        wire.silence()
        page.clock.fast_forward(SILENCE_MS)
        expect(bar).to_contain_text("No connection.")
        page.clock.fast_forward(10_000)  # It tries again, and nobody answers.
        expect(bar).to_contain_text("No connection.")
        picture(page, "cut-off-phone")
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("while-away"))
        wire.mend()
        page.clock.fast_forward(10_000)
        expect(bar).to_be_hidden()
        wait_state(page, lambda now: "while-away" in {one["name"] for one in now["pods"]}, "what was made meanwhile")
