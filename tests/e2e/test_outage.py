"""A vote and a lesson that go on over the death of the server, and past phones that are locked meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state
from tests.e2e.test_accessible import PHONE
from tests.tools.lab import pod
from tests.tools.server import Server, child_pids, running, wait_for
from tests.tools.wire import Wire, wire_to

NAMES = ("Mei", "Lin", "Bo", "Ada", "Kim")
KEPT = "window.neverReloaded = true"
MINUTE_MS = 65_000


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def join(classroom: Classroom, wire: Wire, name: str) -> Page:
    """Come in by the join page on a phone, over a wire; its clock can be put forward."""
    page = classroom.watch(classroom.context(**PHONE).new_page())
    page.clock.install()
    page.goto(f"http://127.0.0.1:{wire.port}/join/{classroom.code}")
    page.get_by_test_id("join-name").fill(name)
    page.get_by_test_id("join-submit").click()
    page.wait_for_url("**/s/**")
    wait_state(page, lambda now: now["connection"] == "live" and now["revision"], f"{name} is in")
    page.evaluate(KEPT)
    return page


def vote(page: Page, option: str) -> None:
    page.get_by_test_id(f"vote-option-{option}").click()
    page.get_by_test_id("vote-send").click()


def is_in(page: Page, option: str) -> None:
    expect(page.get_by_test_id("vote-status")).to_contain_text(f"Your vote is in: {option}")


def test_five_phones_vote_while_web_worker_and_everything_are_killed(tmp_path: Path, chromium: Browser) -> None:
    with running(data=tmp_path) as server, wire_to(server.port) as wire:
        classroom = Classroom(server, chromium, "three-nodes")
        classroom.session("PATCH", "/clock", {"pace": 0, "paused": True})
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("asked"))
        phones = [join(classroom, wire, name) for name in NAMES]
        asked = classroom.session("POST", "/polls", {"kind": "node", "pod": "default/asked"})["id"]
        vote(phones[0], "n1")
        is_in(phones[0], "n1")

        # The web process dies: what is sent to nobody is sent to the next one.
        kill(server.pids("web"))
        vote(phones[1], "n1")
        is_in(phones[1], "n1")
        # The workers die: votes need none.
        kill(server.pids("worker"))
        vote(phones[2], "n2")
        is_in(phones[2], "n2")
        # Everything dies, and somebody changes their mind while nothing is there.
        kill([server.process.pid, *child_pids(server.process.pid)])
        server.process.wait()
        vote(phones[3], "n3")
        expect(phones[3].get_by_test_id("vote-status")).to_contain_text("Not sent yet: n3")
        phones[0].get_by_test_id("vote-option-n2").click()
        for phone in phones:
            expect(phone.locator("#banner")).to_contain_text("No connection.")
        picture(phones[3], "outage-phone")
        with running(data=tmp_path) as again:
            classroom.server = again
            wire.lead_to(again.port)
            is_in(phones[3], "n3")
            is_in(phones[0], "n2")
            vote(phones[4], "n3")
            is_in(phones[4], "n3")
            for phone in phones:
                expect(phone.locator("#banner")).to_be_hidden()
                assert phone.evaluate("window.neverReloaded === true"), "no reload was needed"
            poll = classroom.session("GET", f"/polls/{asked}")
            assert poll["voted"] == len(NAMES)
            assert sum(poll["counts"]["1"].values()) == len(NAMES), "nobody votes twice"
            assert poll["counts"]["1"]["n2"] == 2
            wait_for(again.ready, what="a worker has the session")
            classroom.session("POST", f"/polls/{asked}/close")
            classroom.session("POST", f"/polls/{asked}/reveal")
            for phone in phones:
                expect(phone.get_by_test_id("vote-answer")).to_be_visible()
        classroom.close()
        assert classroom.problems == []


def lock(page: Page, wire: Wire) -> None:
    """Put a phone into a pocket: its page stands still, and the network lets go of it."""
    page.context.new_cdp_session(page).send("Page.setWebLifecycleState", {"state": "frozen"})
    wire.cut()


def unlock(page: Page, wire: Wire) -> None:
    """Take it out of the pocket a minute later: its clock has gone on, and none of its timers has."""
    wire.mend()
    page.context.new_cdp_session(page).send("Page.setWebLifecycleState", {"state": "active"})
    before = page.evaluate("Date.now()")
    page.clock.fast_forward(MINUTE_MS)
    assert page.evaluate("Date.now()") >= before + MINUTE_MS
    # What a browser says when its page is seen again.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_a_phone_that_was_locked_is_where_the_class_is(live_server_up: Server, chromium: Browser) -> None:
    with wire_to(live_server_up.port) as wire:
        classroom = Classroom(live_server_up, chromium, "", lesson="preemption")
        classroom.session("POST", "/lesson", {"do": "start", "step": "which-node"})
        pocket = join(classroom, wire, "Mei")
        expect(pocket.get_by_test_id("lesson-title")).to_have_text("Which node?")

        # In the middle of a step: the question comes while it is locked, and has votes by then.
        lock(pocket, wire)
        classroom.session("POST", "/lesson", {"do": "next"})
        lin = classroom.student("Lin", **PHONE)
        vote(lin, "n3")
        is_in(lin, "n3")
        unlock(pocket, wire)
        expect(pocket.get_by_test_id("vote-question")).to_contain_text("vip")
        vote(pocket, "n1")
        is_in(pocket, "n1")

        # In the middle of a vote: a change of mind is not heard any more, and the class has gone on to the second vote.
        wire.cut()
        pocket.get_by_test_id("vote-option-n2").click()
        expect(pocket.get_by_test_id("vote-status")).to_contain_text("Not sent yet: n2")
        picture(pocket, "locked-not-sent")
        lock(pocket, wire)
        asked = classroom.session("GET", "/lesson")["poll"]
        classroom.session("POST", f"/polls/{asked}/close")
        classroom.session("POST", f"/polls/{asked}/reopen")
        unlock(pocket, wire)
        expect(pocket.get_by_test_id("vote-send")).to_be_visible()
        expect(pocket.get_by_test_id("vote-send")).to_have_text("Vote for n1")
        expect(pocket.get_by_test_id("vote-status")).to_contain_text("Not sent: the vote was closed")
        picture(pocket, "locked-second-vote")
        assert classroom.session("GET", f"/polls/{asked}")["counts"]["1"]["n1"] == 1, "what came in time is kept"
        pocket.get_by_test_id("vote-send").click()
        is_in(pocket, "n1")

        # Locked once more while the answer is told.
        lock(pocket, wire)
        classroom.session("POST", f"/polls/{asked}/close")
        classroom.session("POST", "/lesson", {"do": "next"})
        expect(lin.get_by_test_id("vote-answer")).to_have_text("It chose n2")
        unlock(pocket, wire)
        expect(pocket.get_by_test_id("vote-answer")).to_have_text("It chose n2")
        expect(pocket.locator("#banner")).to_be_hidden()
        assert pocket.evaluate("window.neverReloaded === true"), "no reload was needed"
        poll = classroom.session("GET", f"/polls/{asked}")
        assert [sum(poll["counts"][part].values()) for part in ("1", "2")] == [2, 1], "nobody votes twice"
        classroom.close()
        assert classroom.problems == []
