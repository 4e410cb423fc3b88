"""What is looked at has the room: the inspector over the page, What if beside the nodes, words that stand whole."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, laid, picture, tells, wait_state
from tests.tools import axe

#: What a machine without Noto, Segoe or Roboto draws with: the widest letters among the usual ones.
WIDE_LETTERS = ":root, body, button, input, select { font-family: 'DejaVu Sans', Verdana, sans-serif !important }"

CUT = """selector => [...document.querySelectorAll(selector)].filter(one => one.clientWidth && (
    one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth)).map(one => one.textContent)"""
LOW = """selector => [...document.querySelectorAll(selector)]
    .filter(one => one.scrollHeight > one.clientHeight).map(one => one.textContent)"""


def selected(classroom: Classroom, page: Page, tab: str) -> None:
    placed = wait_state(page, lambda now: any(pod["nodeName"] for pod in now["pods"]), "a pod is placed")
    pod = next(pod for pod in placed["pods"] if pod["nodeName"])
    address = f"?pod={pod['namespace']}/{pod['name']}&tab={tab}"
    page.goto(f"{classroom.server.url}/s/{classroom.code}{address}")
    wait_state(page, lambda now: now["connection"] == "live" and now["revision"] > 0, "the session is live")


def test_a_decision_is_enlarged_over_the_page_and_goes_back_beside_the_stage(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("zones")
    page = classroom.teacher()
    classroom.session("PATCH", "/clock", {"pace": 0})
    selected(classroom, page, "decision")
    page.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()
    points = page.locator(".dc-points")
    expect(points).to_be_hidden()
    button = page.get_by_test_id("inspector-enlarge")
    button.focus()
    page.keyboard.press("Enter")
    expect(points).to_be_visible()
    expect(page.locator("#stage")).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-pressed", "true")
    laid(page, "heat.right <= scores.left", "scores stand beside the verdicts", heat=".dc-heat", scores=".dc-scores")
    drawn(page)
    assert axe.problems(page) == []
    picture(page, "decision-enlarged")
    page.keyboard.press("Escape")
    expect(page.locator("#stage")).to_be_visible()
    expect(points).to_be_hidden()
    expect(page.get_by_test_id("inspector-name")).to_be_visible()


def test_what_if_has_the_palettes_room_on_a_laptop_and_all_nodes_are_seen(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("zones")
    page = classroom.teacher(viewport={"width": 1366, "height": 768})
    selected(classroom, page, "whatif")
    page.locator(".wi").wait_for()
    laid(page, "inspector.width === 560", "there is room for two columns", inspector="#inspector")
    expect(page.locator("#palette")).to_be_hidden()
    drawn(page)
    zones = page.evaluate("() => document.querySelector('.st-nodes').clientWidth")
    assert zones >= 3 * 136 + 2 * 6, "three zones side by side"
    page.get_by_test_id("inspector-tab-summary").click()
    expect(page.locator("#palette")).to_be_visible()
    assert not classroom.problems


def test_words_stand_whole_on_a_laptop_with_wide_letters_and_beside_an_inspector(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("zones")
    page = classroom.teacher()
    wait_state(page, lambda now: len(now["nodes"]) == 12, "twelve nodes")
    drawn(page)
    tells(page, CUT, [], "twelve tabs and the events' filter", "#dock .tabs, .dock-filter")
    tells(page, LOW, [], "p and g are not cut below the line", ".palette-item .label, .dock-filter span")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.add_style_tag(content=WIDE_LETTERS)
    for lang in ("English", "简体中文"):
        page.get_by_role("button", name=lang).click()
        drawn(page)
        # Long as a lesson's title, late as a session of hours: the title gives way, no control does.
        page.evaluate(
            """() => { document.querySelector('.title h1').textContent = 'Preemption, step by step, with budgets';
            document.querySelector('.clock .reading:last-child b').textContent = '1,234,567'; }"""
        )
        bar = ".top-bar, .steps, .steps button, .speed, .reading, .code-button, .role-chip, .theme-button"
        tells(page, CUT, [], lang, bar)
    assert not classroom.problems


def test_open_charts_have_the_page_and_the_stage_above_them_shows_every_node(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("zones")
    page = classroom.teacher(viewport={"width": 1366, "height": 768})
    wait_state(page, lambda now: len(now["nodes"]) == 12, "twelve nodes")
    whole = "() => { const all = document.querySelector('.st-field'); return all.scrollHeight <= all.clientHeight; }"
    for tab in ("timeline", "streams", "server"):
        page.get_by_test_id(f"dock-{tab}").click()
        expect(page.locator("#palette")).to_be_hidden()
        drawn(page)
        laid(page, "dock.left === 0 && dock.width === 1366", "charts have the page's width", dock="#dock")
        tells(page, whole, True, "nothing is scrolled to")
    picture(page, "dock-tall-1366")
    page.set_viewport_size({"width": 1100, "height": 768})
    drawn(page)
    below = "lanes.bottom <= dock.top + 1"
    laid(page, below, "charts stand below the stage, not over it", lanes="#stage", dock="#dock")
    tells(page, whole, True, "nothing is scrolled to")
    picture(page, "dock-tall-1100")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.locator("#stage").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_visible()
    expect(page.get_by_test_id("dock-server")).to_have_attribute("aria-selected", "false")
    assert not classroom.problems


def test_over_a_hundred_nodes_what_is_few_stands_before_the_rows(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("nodes-100")
    size = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    node = {"metadata": {"name": "one-more"}, "status": {"allocatable": size, "capacity": size}}
    classroom.cluster("POST", "/api/v1/nodes", node)
    teacher = classroom.teacher()
    for name, cpu in (("small", "10m"), ("big", "90")):
        containers = [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}]
        pod = {"metadata": {"name": name}, "spec": {"containers": containers}}
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod)
        wait_state(teacher, lambda now, name=name: any(pod["name"] == name for pod in now["pods"]), "the pod is there")
        teacher.goto(f"{classroom.server.url}/s/{classroom.code}?pod=default/{name}&tab=decision")
        if name == "small":
            spread = teacher.get_by_test_id("decision-spread")
            expect(spread).to_contain_text("Points of the")
            laid(teacher, "few.bottom <= rows.top", "points", few=".dc-spread", rows=".dc-heat")
        else:
            laid(teacher, "few.bottom <= rows.top", "the sentence", few=".dc-sentence", rows=".dc-heat")


def test_where_many_nodes_refuse_a_pod_the_few_reasons_stand_before_the_many_rows(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    for number in range(4, 17):
        sized = {"cpu": "2", "memory": "4Gi", "pods": "110"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}}
        classroom.cluster("POST", "/api/v1/nodes", {**node, "status": {"capacity": sized, "allocatable": sized}})
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "64"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "huge"}, "spec": {"containers": [container]}}
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod)
    teacher = classroom.teacher()
    teacher.get_by_test_id("queue-lane-unschedulable").get_by_role("button", name="huge").click()
    why, rows = ".dc-sentence", "[data-testid='decision-heatmap']"
    laid(teacher, "why.bottom <= rows.top", "the sentence stands above the rows", why=why, rows=rows)
    teacher.get_by_test_id("inspector-enlarge").click()
    laid(teacher, "rows.right <= why.left && why.top < rows.bottom", "it stands beside them", why=why, rows=rows)
