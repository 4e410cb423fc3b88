"""The Streams tab of the dock: charts that grow as the socket tells, hold still when asked, and can be taken along."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, brought, picture, tells, wait_state


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "nginx:1.27", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def bind(classroom: Classroom, page: Page, name: str, cpu: str = "100m") -> None:
    """Create a pod and wait until the page has it on a node."""
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod(name, cpu))
    wait_state(
        page, lambda now: any(one["name"] == name and one["nodeName"] for one in now["pods"]), f"{name} is bound"
    )


def read_size(page: Page) -> float:
    """Return the height of the charts' letters in CSS pixels, before the wall's enlargement."""
    return float(page.locator(".streams").evaluate("one => parseFloat(getComputedStyle(one).fontSize)"))


def enlarged(page: Page) -> float:
    """Return by how much the wall enlarges the page."""
    return float(page.locator(".session").evaluate("one => parseFloat(getComputedStyle(one).zoom)"))


def drawn(page: Page, chart: str) -> int:
    """Return how many points a chart shows."""
    return int(page.get_by_test_id(f"streams-{chart}").get_attribute("data-points") or 0)


def expect_points(page: Page, chart: str, count: int) -> None:
    expect(page.get_by_test_id(f"streams-{chart}")).to_have_attribute("data-points", str(count))


@pytest.mark.parametrize(("theme", "locale"), [("light", "en-GB"), ("dark", "zh-CN")])
def test_charts_grow_as_the_socket_tells(
    open_classroom: Callable[[str], Classroom], theme: str, locale: str, tmp_path: Path
) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    page = classroom.teacher(color_scheme=theme, locale=locale)
    bind(classroom, page, "before")
    page.get_by_test_id("dock-streams").click()
    for chart in ("queue", "waits", "scores", "preemptions", "heat", "fits"):
        page.locator(f'[data-testid="streams-{chart}"] .main-svg').first.wait_for()
    # Decisions from before the tab was opened are there, and the next one is added to the same plot.
    count = len([one for one in wait_state(page, lambda now: now["pods"], "pods")["pods"] if one["nodeName"]])
    shown = page.get_by_test_id("streams-table-scores")
    shown.locator("summary").click()
    expect(shown.locator("tbody")).to_contain_text("default/before")
    page.evaluate("() => { document.querySelector('[data-testid=streams-scores] .main-svg').dataset.same = 'yes'; }")
    before = drawn(page, "scores")
    assert 1 <= before <= count
    bind(classroom, page, "after")
    expect_points(page, "scores", before + 1)
    expect(shown.locator("tbody tr").first).to_contain_text("default/after")
    assert page.locator("[data-testid=streams-scores] .main-svg[data-same=yes]").count() == 1, "extended, not made anew"

    # Held charts stand still while the cluster goes on.
    page.get_by_test_id("streams-pause").click()
    expect(page.get_by_test_id("streams-live")).to_have_class("chip accent")
    bind(classroom, page, "meanwhile")
    behind = page.get_by_test_id("streams-live").inner_text()
    expect(page.get_by_test_id("streams-live")).not_to_have_text(behind)
    assert drawn(page, "scores") == before + 1
    page.keyboard.press("p")
    expect_points(page, "scores", before + 2)

    # A preemption has its row and its sentence.
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "vip"}, "value": 1000}
    classroom.cluster("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", high)
    for number in range(2):
        bind(classroom, page, f"full-{number}", "3")
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("vip", "3", priorityClassName="vip"))
    expect(page.get_by_test_id("streams-facts-last")).to_contain_text("vip")
    picture(page, f"streams-{theme}")

    page.get_by_test_id("streams-export").click()
    with page.expect_download() as taken:
        page.get_by_test_id("streams-csv-scores").click()
    file = tmp_path / "scores.csv"
    taken.value.save_as(file)
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert list(rows[0])[:2] == ["simulatedTime", "resourceVersion"]
    assert {"default/before", "default/after", "default/meanwhile"} <= {row["pod"] for row in rows}
    with page.expect_download() as taken:
        page.get_by_test_id("streams-png").click()
    file = tmp_path / "streams.png"
    taken.value.save_as(file)
    assert file.read_bytes().startswith(b"\x89PNG\r\n")


def test_a_chart_leads_to_its_decision_and_the_wall_shows_it(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    page = classroom.teacher(viewport={"width": 1366, "height": 768})
    bind(classroom, page, "seen")
    page.get_by_test_id("dock-streams").click()
    page.locator('[data-testid="streams-scores"] .main-svg').first.wait_for()
    picture(page, "streams-1366")
    tabs = page.get_by_role("tablist").locator("[data-testid^=dock-]")
    expect(tabs.nth(4)).to_be_attached()
    for index in range(tabs.count()):
        brought(tabs.nth(index))
        tells(tabs.nth(index), "one => one.scrollWidth <= one.clientWidth", True, "no word of a tab is cut")
    # The theme of the wall keeps the charts that were open, larger.
    assert read_size(page) == 12
    for theme in ("dark", "projector"):
        page.locator(".theme-button").click()
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
    wait_state(page, lambda _: read_size(page) * enlarged(page) >= 22, "the wall's letters are larger")
    picture(page, "streams-projector")
    page.get_by_test_id("streams-table-scores").locator("summary").click()
    expect(page.get_by_test_id("streams-table-scores").locator("tbody")).to_contain_text("default/seen")


def test_who_comes_late_sees_what_was_before(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0, "rate": 20})
    first = classroom.teacher()
    bind(classroom, first, "early")
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("too-large", "64"))
    begun = wait_state(first, lambda now: now["clock"] is not None, "clock")["clock"]["simTimeMs"]
    wait_state(first, lambda now: now["clock"]["simTimeMs"] > begun + 60_000, "a minute of the session goes by")
    # A revision lies where it was written: one of now is needed, not the last one of a quiet minute.
    written = classroom.cluster("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "now"}})
    moment = int(written["metadata"]["resourceVersion"])
    bind(classroom, first, "late")

    page = classroom.teacher(viewport={"width": 1366, "height": 768})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/before/" in request.url else None)
    page.get_by_test_id("dock-streams").click()
    wait_state(page, lambda _: drawn(page, "queue") > 60, "the queue has a past")
    wait_state(page, lambda _: drawn(page, "heat") > 30, "nodes have a past")
    table = page.get_by_test_id("streams-table-queue")
    table.locator("summary").click()
    expect(table.locator("tbody")).to_contain_text("1")
    bind(classroom, page, "after")
    assert len(asked) == 1, "asked once; what follows comes over the websocket"

    # A moment that is held: the charts end there, and tell what was so by then.
    page.goto(f"{page.url.partition('?')[0]}?rv={moment}&tab=dock-streams")
    expect(page.get_by_test_id("streams-live")).to_have_class("chip accent")
    # A moment each two seconds at the least, of a minute or more.
    wait_state(page, lambda _: drawn(page, "queue") > 20, "the queue until then")
    rows = page.get_by_test_id("streams-table-scores")
    rows.locator("summary").click()
    expect(rows.locator("tbody")).to_contain_text("default/early")
    expect(rows.locator("tbody")).not_to_contain_text("default/late")
