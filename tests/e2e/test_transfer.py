"""What a page has to fetch, in bytes: a class of thirty opens it at once over the school's network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, wait_state

PHONE_BYTES_MAX = 150_000
"""With headers, as they come over the wire; the cluster's own state (the websocket) comes on top."""
DESK_BYTES_MAX = 300_000
"""The same without Plotly, with the dialogs that are fetched when nothing else is to be done."""
DESK_FILES_MAX = 40
NOT_FOR_PHONES = (
    "packs/desk.js",
    "packs/decision",
    "whatif",
    "plotly",
    "palette",
    "css/stage.css",
    "text/stage",
    "zh-hans",
    "packs/forms.js",
)


def count(page: Page) -> Callable[[], dict[str, int]]:
    """Count what a page fetches from now on; the function returned tells bytes by address."""
    network = page.context.new_cdp_session(page)
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
    return lambda: {addresses[number]: size for number, size in sizes.items() if number in addresses}


def test_a_phone_and_a_desk_fetch_little(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    phone = classroom.student(
        "Bo", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-GB"
    )
    page = classroom.watch(phone.context.new_page())
    of_phone = count(page)
    page.goto(f"{classroom.server.url}/s/{classroom.code}", wait_until="networkidle")
    wait_state(page, lambda now: now["connection"] == "live" and len(now["nodes"]) == 3, "the phone shows the cluster")
    # And what a vote needs, which comes when the class is asked.
    classroom.session("POST", "/polls", {"kind": "leader", "limit": 0})
    page.get_by_test_id("vote-option-none").click()
    page.get_by_test_id("vote-send").click()
    expect(page.get_by_test_id("vote-status")).to_contain_text("Your vote is in")
    page.wait_for_load_state("networkidle")
    fetched = of_phone()
    assert any(address.endswith("/page/main.js") for address in fetched), "the files were counted"
    assert [address for address in fetched if any(part in address for part in NOT_FOR_PHONES)] == []
    assert sum(fetched.values()) <= PHONE_BYTES_MAX, sorted(fetched.items(), key=lambda one: -one[1])[:20]

    page.set_viewport_size({"width": 1366, "height": 768})
    of_desk = count(page)
    page.reload()
    wait_state(page, lambda now: len(now["nodes"]) == 3 and now["paintedRevision"] >= now["revision"], "the desk, too")
    wait_state(page, lambda now: any("packs/forms" in one for one in of_desk()), "dialogs come when there is time")
    fetched = {address: size for address, size in of_desk().items() if "plotly" not in address}
    assert sum(fetched.values()) <= DESK_BYTES_MAX, sorted(fetched.items(), key=lambda one: -one[1])[:20]
    assert len(fetched) <= DESK_FILES_MAX, sorted(fetched)
