"""Time on the page: a moment is held, has an address that opens as it was sent, and is left again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, drawn, laid, picture, state, tells, wait_state
from tests.tools import axe

PODS = "/api/v1/namespaces/default/pods"


def small_pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "10m"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def bound(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda now: any(pod["name"] == name and pod["nodeName"] for pod in now["pods"])


def names(now: dict[str, Any]) -> set[str]:
    return {pod["name"] for pod in now["pods"]}


def test_a_moment_is_held_sent_and_left(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    page = classroom.teacher()
    classroom.cluster("POST", PODS, small_pod("first"))
    before = wait_state(page, bound("first"), "the first pod is bound")["revision"]
    classroom.cluster("DELETE", f"{PODS}/first?gracePeriodSeconds=0")
    classroom.cluster("POST", PODS, small_pod("second"))
    wait_state(page, lambda now: bound("second")(now) and "first" not in names(now), "the other pod came")

    # Opened as it was sent, by whoever has a seat.
    page.goto(f"{classroom.server.url}/s/{classroom.code}?rv={before}&pod=default/first&attempt=1&tab=decision")
    past = wait_state(page, lambda now: now["paintedRevision"] == before, "the page is held")
    assert "first" in names(past)
    assert "second" not in names(past)
    expect(page.get_by_test_id("inspector-name")).to_have_text("first")
    expect(page.get_by_test_id("past-title")).to_contain_text(f"revision {before:,}")
    expect(page.get_by_test_id("decision-scores")).to_be_visible()

    picture(page, "past")

    # Without its moment it says what has become of what was sent.
    page.goto(f"{classroom.server.url}/s/{classroom.code}?pod=default/first&tab=decision")
    title = page.locator(".inspector-empty h2")
    expect(title).to_have_text("There is no Pod first here: it is gone, or not made yet.")
    classroom.cluster("POST", PODS, small_pod("first"))
    expect(page.get_by_test_id("inspector-name")).to_have_text("first")
    classroom.cluster("DELETE", f"{PODS}/first?gracePeriodSeconds=0")
    expect(title).to_have_text("Pod first is gone.")

    # An address that names a tab that is not there opens the usual one.
    page.goto(f"{classroom.server.url}/s/{classroom.code}?rv={before}&pod=default/first&tab=model")
    wait_state(page, lambda now: now["paintedRevision"] == before, "the page is held again")
    expect(page.get_by_test_id("decision-scores")).to_be_visible()

    # What differs from now, on the stage and in sum; then what is there now.
    page.get_by_test_id("past-show-difference").click()
    expect(page.get_by_test_id("past-title")).to_contain_text("1 gone")
    fits = "() => document.querySelector('#past').scrollWidth <= document.querySelector('#past').clientWidth"
    tells(page, fits, True, "the bar ends where the inspector begins")
    expect(page.locator('.st-outline button[data-pod="default/first"]')).to_contain_text("gone since")
    expect(page.locator('.st-outline button[data-pod="default/second"]')).to_contain_text("came since")
    assert axe.problems(page) == []
    picture(page, "past-difference")
    page.keyboard.press("d")
    expect(page.get_by_test_id("past-show-now")).to_have_attribute("aria-pressed", "true")
    expect(page.locator('.st-outline button[data-pod="default/first"]')).to_have_count(0)
    page.get_by_test_id("past-show-then").click()
    expect(page.locator('.st-outline button[data-pod="default/second"]')).to_have_count(0)

    # Read only: nothing is made, and the page says why.
    expect(page.get_by_test_id("clock-step-cycle")).to_have_attribute("aria-disabled", "true")
    page.get_by_test_id("inspector-delete").dispatch_event("click")
    expect(page.locator(".toast")).to_contain_text("This is the past")

    # A neighbour, and the way back to now; the browser's own buttons know both.
    page.get_by_test_id("past_back").click()
    wait_state(page, lambda now: now["paintedRevision"] == before - 1, "one revision back")
    page.wait_for_url(f"**rv={before - 1}**")
    page.get_by_test_id("past-now").click()
    wait_state(page, lambda now: bound("second")(now), "now again")
    expect(page.locator("#past")).to_be_hidden()
    page.wait_for_url(lambda url: "rv=" not in url)
    page.go_back()
    wait_state(page, lambda now: now["paintedRevision"] == before - 1, "back to the moment")
    page.go_forward()
    wait_state(page, lambda now: bound("second")(now), "forward to now")

    # A node's address; back from a tab is the tab before, and the way forward stays.
    page.goto(f"{classroom.server.url}/s/{classroom.code}?node=n2")
    expect(page.get_by_test_id("inspector-name")).to_have_text("n2")
    page.get_by_test_id("inspector-tab-yaml").click()
    page.wait_for_url("**tab=yaml")
    page.go_back()
    expect(page.get_by_test_id("inspector-tab-summary")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.get_by_test_id("inspector-tab-yaml")).to_have_attribute("aria-selected", "true")
    assert state(page)["revision"] > before

    # Playing back goes through what happened, and ends where the log begins.
    page.goto(f"{classroom.server.url}/s/{classroom.code}?rv={before}")
    wait_state(page, lambda now: now["paintedRevision"] == before, "held again")
    page.get_by_test_id("play_back").click()
    wait_state(page, lambda now: "first" not in names(now), "before the first pod")
    page.keyboard.press("Escape")
    wait_state(page, lambda now: bound("second")(now), "Escape leads to now")

    # The timeline: marks in lanes, a moment that the keyboard moves, and one with a name that leads back to it.
    page.get_by_test_id("dock-timeline").click()
    page.locator(".lane-pods .tl-item").first.wait_for()
    page.get_by_test_id("bookmark-name").fill("both were there")
    page.get_by_test_id("bookmark-save").click()
    flag = page.get_by_test_id("bookmark-flag")
    expect(flag).to_have_text("both were there")
    slider = page.get_by_test_id("timeline-slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    held = wait_state(page, lambda now: f"rv={now['paintedRevision']}" in page.url, "the slider holds a moment")
    now = held["paintedRevision"]
    expect(slider).to_have_attribute("aria-valuenow", str(now))
    picture(page, "timeline")
    assert axe.problems(page) == []
    flag.dispatch_event("click")
    wait_state(page, lambda then: then["paintedRevision"] <= now, "the bookmark leads to its moment")
    # The list of named moments leads there, too; the strip leads anywhere in what is kept.
    named = classroom.session("GET", "/bookmarks")[0]["revision"]
    page.get_by_test_id("timeline-strip").click(position={"x": 2, "y": 8})
    wait_state(page, lambda then: then["paintedRevision"] < named, "the strip leads to the beginning")
    page.get_by_test_id("bookmark-list").click()
    page.locator(".tl-names").get_by_text("both were there").click()
    wait_state(page, lambda then: then["paintedRevision"] == named, "the list leads to the moment")
    page.locator(".tl-twin:has(.tl-list) summary").click()
    expect(page.locator(".tl-list li").first).to_be_visible()
    page.get_by_test_id("past-now").click()
    wait_state(page, lambda then: "rv=" not in page.url, "now")

    # A fork goes on from the moment.
    page.goto(f"{classroom.server.url}/s/{classroom.code}?rv={before}")
    wait_state(page, lambda now: now["paintedRevision"] == before, "held for the fork")
    page.get_by_test_id("past-fork").click()
    page.wait_for_url(lambda url: classroom.code not in url)
    wait_state(page, lambda now: now["connection"] == "live" and "first" in names(now), "the fork has the first pod")


def test_a_recording_opens_without_a_server(open_classroom: Callable[[str], Classroom], tmp_path: Path) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    page = classroom.teacher(viewport={"width": 1366, "height": 768})
    classroom.cluster("POST", PODS, small_pod("first"))
    before = wait_state(page, bound("first"), "the first pod is bound")["revision"]
    classroom.cluster("DELETE", f"{PODS}/first?gracePeriodSeconds=0")
    classroom.cluster("POST", PODS, small_pod("second"))
    wait_state(page, lambda now: bound("second")(now) and "first" not in names(now), "the other pod came")

    page.get_by_test_id("palette-save").click()
    assert axe.problems(page) == []
    with page.expect_download() as download:
        page.get_by_test_id("dialog-submit").click()
    file = tmp_path / "recording.html"
    download.value.save_as(file)

    watched = classroom.watch(classroom.context(viewport={"width": 1366, "height": 768}, offline=True).new_page())
    said: list[str] = []
    watched.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    watched.goto(file.as_uri())
    now = wait_state(watched, lambda now: now["paintedRevision"] > 0, "the end of the recording")
    assert "second" in names(now)
    assert "first" not in names(now)
    expect(watched.get_by_test_id("dock-timeline")).to_have_attribute("aria-selected", "true")
    # The stage has all the room that the inspector leaves, and that is read as it is everywhere.
    holds = "stage.left === dock.left && stage.width === dock.width && stage.width + inspector.width === 1366"
    laid(watched, holds, "stage and dock share what is left", stage="#stage", inspector="#inspector", dock="#dock")
    empty = watched.locator(".inspector-empty")
    expect(empty).to_have_css("writing-mode", "horizontal-tb")

    watched.goto(f"{file.as_uri()}?rv={before}&pod=default/first&tab=decision")
    past = wait_state(watched, lambda now: now["paintedRevision"] == before, "a moment of it")
    assert "first" in names(past)
    expect(watched.get_by_test_id("inspector-name")).to_have_text("first")
    expect(watched.get_by_test_id("inspector").get_by_role("table").first).to_be_visible()
    picture(watched, "recording")
    assert axe.problems(watched) == []
    watched.get_by_test_id("past_back").click()
    wait_state(watched, lambda now: now["paintedRevision"] == before - 1, "one revision back")
    assert said == []


def test_what_changed_since_stands_where_nothing_is_selected(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    page = classroom.teacher()
    classroom.cluster("POST", PODS, small_pod("first"))
    before = wait_state(page, bound("first"), "the first pod is bound")["revision"]
    classroom.session("POST", "/bookmarks", {"name": "one pod", "revision": before})
    classroom.cluster("POST", PODS, small_pod("second"))
    wait_state(page, bound("second"), "the second pod is bound")
    page.goto(f"{classroom.server.url}/s/{classroom.code}?rv={before}")
    since = page.get_by_test_id("since")
    expect(since.locator("h2")).to_have_text(f"What changed since revision {before:,}")
    expect(since.locator(".since-came b")).to_have_text("1")
    expect(since.locator(".since-names")).to_contain_text("one pod")
    expect(since.locator(".since-address code")).to_contain_text(f"rv={before}")
    expect(page.locator(".inspector-empty")).to_be_hidden()
    drawn(page)
    assert axe.problems(page) == []
    picture(page, "past-since")
    row = since.locator(".since-rows li", has_text="second").first
    revision = int((row.locator("button").text_content() or "").removeprefix("rv ").replace(",", ""))
    row.locator("button").click()
    wait_state(page, lambda now: now["paintedRevision"] == revision, "the row leads to its moment")
    page.get_by_test_id("past-now").click()
    since.wait_for(state="hidden")
    assert not classroom.problems


def test_all_lanes_are_seen_on_a_narrow_window(open_classroom: Callable[[str], Classroom]) -> None:
    page = open_classroom("three-nodes").teacher(viewport={"width": 1024, "height": 768})
    page.get_by_test_id("dock-timeline").click()
    page.locator(".tl-lane").last.wait_for()
    wait_state(
        page,
        lambda _: page.locator(".tl-lane").evaluate_all(
            """all => all.every((one) => {
              const { left, top, bottom } = one.getBoundingClientRect();
              return bottom <= innerHeight && one.contains(document.elementFromPoint(left + 4, (top + bottom) / 2));
            })"""
        ),
        "every lane is on the screen",
    )
    # Where nothing is selected at a held moment, an edge of one line says so.
    held = page.evaluate("() => window.clustersim.state().revision")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"{page.url.partition('?')[0]}?rv={held}&tab=dock-timeline")
    inside = "inspector.left <= word.left && word.right <= Math.min(inspector.right, innerWidth)"
    laid(page, inside, "no word is cut", inspector="#inspector", word=".inspector-empty h2")
