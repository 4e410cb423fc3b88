"""What a phone has to fetch, in bytes: a class of thirty opens the page at once over the school's network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, wait_state

PHONE_BYTES_MAX = 150_000
"""With headers, as they come over the wire; the cluster's own state (the websocket) comes on top."""
NOT_FOR_PHONES = ("/stage/", "/decision/", "/whatif/", "plotly", "palette", "css/stage.css", "zh-hans", "/forms/")


def test_a_phone_fetches_little(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    phone = classroom.student(
        "Bo", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-GB"
    )
    page = classroom.watch(phone.context.new_page())
    network = phone.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def answered(event: dict[str, Any]) -> None:
        addresses[event["requestId"]] = event["response"]["url"]

    def ended(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = int(event["encodedDataLength"])

    network.on("Network.responseReceived", answered)
    network.on("Network.loadingFinished", ended)
    page.goto(f"{classroom.server.url}/s/{classroom.code}", wait_until="networkidle")
    wait_state(page, lambda now: now["connection"] == "live" and len(now["nodes"]) == 3, "the phone shows the cluster")
    # And what a vote needs, which comes when the class is asked.
    classroom.session("POST", "/polls", {"kind": "leader", "limit": 0})
    page.get_by_test_id("vote-option-none").click()
    page.get_by_test_id("vote-send").click()
    expect(page.get_by_test_id("vote-status")).to_contain_text("Your vote is in")
    page.wait_for_load_state("networkidle")

    fetched = {addresses[number]: size for number, size in sizes.items() if number in addresses}
    assert any(address.endswith("/js/main.js") for address in fetched), "the files were counted"
    assert [address for address in fetched if any(part in address for part in NOT_FOR_PHONES)] == []
    assert sum(fetched.values()) <= PHONE_BYTES_MAX, sorted(fetched.items(), key=lambda one: -one[1])[:20]
