"""No screen has anything that axe objects to, in both themes and both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import VIEWPORT, Classroom, drawn, state, wait_state
from tests.tools import axe
from tests.tools.server import Server

LOOKS = [("light", "en"), ("dark", "zh-hans")]
"""Each theme and each language once: what axe looks for is of the one or of the other."""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def dress(context: BrowserContext, server: Server, theme: str, lang: str) -> None:
    """Choose theme and language before the first page is asked for."""
    cookies = {"clustersim_theme": theme, "django_language": lang}
    context.add_cookies([{"name": name, "value": value, "url": server.url} for name, value in cookies.items()])


class Judge:
    """Collects what axe finds, screen by screen, so that one run tells of all of them."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.screens: list[str] = []

    def look(self, page: Page, screen: str, within: str = "") -> None:
        self.screens.append(screen)
        if state(page):
            drawn(page)
        for problem in axe.problems(page, within):
            self.found.setdefault(problem, screen)

    def rule(self) -> None:
        assert {f"{screen}: {problem}" for problem, screen in self.found.items()} == set()


def teacher_page(classroom: Classroom, theme: str, lang: str) -> Page:
    """Open the session as the teacher, dressed, with a pod placed."""
    context = classroom.context()
    dress(context, classroom.server, theme, lang)
    page = classroom.watch(context.new_page())
    page.goto(classroom.created["url"])
    wait_state(page, lambda now: any(pod["nodeName"] for pod in now["pods"]), "a pod is placed")
    return page


def open_pod(page: Page) -> None:
    """Select a placed pod and wait for its decision."""
    pod = next(pod for pod in state(page)["pods"] if pod["nodeName"])
    page.locator(f'button[data-pod="{pod["namespace"]}/{pod["name"]}"]').first.dispatch_event("click")
    page.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()


def dialogs(page: Page, judge: Judge) -> None:
    """Open each dialog and what folds out, and close it again."""
    page.get_by_test_id("dock-scheduler").click()
    buttons = ("pod-small-form", "node-small-form", "yaml", "openb")
    for name in (
        *(f"palette-{one}" for one in buttons),
        "join-code",
        "keys-open",
        "inspector-delete",
        "scheduler-change",
        "expression-open",
    ):
        page.get_by_test_id(name).click()
        page.locator("dialog[open]").wait_for()
        # Nothing behind it can be reached.
        judge.look(page, name, "dialog[open]")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
    page.get_by_test_id("people").click()
    judge.look(page, "people")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("n")
    page.locator("#found-0").wait_for()
    judge.look(page, "search")
    page.keyboard.press("Escape")


@pytest.mark.parametrize(("theme", "lang"), LOOKS)
def test_the_session_page(open_classroom: Callable[[str], Classroom], theme: str, lang: str) -> None:
    classroom = open_classroom("three-nodes")
    page = teacher_page(classroom, theme, lang)
    judge = Judge()
    judge.look(page, "session")
    open_pod(page)
    for tab in ("decision", "whatif", "summary", "yaml", "events"):
        page.get_by_test_id(f"inspector-tab-{tab}").click()
        page.locator(f'[data-testid="inspector-tab-{tab}"][aria-selected=true]').wait_for()
        if tab == "yaml":
            page.get_by_test_id("yaml-save").wait_for()
        if tab == "whatif":
            page.get_by_test_id("weight-TaintToleration").fill("0")
            page.get_by_test_id("whatif-verdict").wait_for()
        judge.look(page, f"inspector {tab}", "" if tab == "decision" else "#inspector")
    for tab in ("events", "streams", "election", "watches", "compare", "log", "scheduler", "model"):
        page.get_by_test_id(f"dock-{tab}").click()
        page.locator(f'[data-testid="dock-{tab}"][aria-selected=true]').wait_for()
        if tab == "streams":
            page.locator('[data-testid="streams-fits"] .main-svg').first.wait_for()
            page.get_by_test_id("streams-export").click()
            page.get_by_test_id("streams-table-scores").locator("summary").click()
        if tab == "election":
            page.locator('[data-testid="election-chart"] .main-svg').first.wait_for()
            page.get_by_test_id("election-table").locator("summary").click()
        if tab == "watches":
            page.locator('[data-testid="watches-chart"] .main-svg').first.wait_for()
            expect(page.get_by_test_id("watches-now").locator("tbody")).to_contain_text("kube-scheduler-0")
            page.get_by_test_id("watches-table").locator("summary").click()
        if tab == "compare":
            page.get_by_test_id("compare-input").select_option("anew")
            page.get_by_test_id("compare-run").click()
            page.locator('[data-testid="compare-chart-waits"][data-drawn]').wait_for()
            page.get_by_test_id("compare-nodes").locator("summary").click()
        if tab == "model":
            page.get_by_test_id("model").wait_for()
        judge.look(page, f"dock {tab}", "#dock")
    dialogs(page, judge)
    assert len(judge.screens) == 25
    judge.rule()


@pytest.mark.parametrize(("theme", "lang"), LOOKS)
def test_the_front_pages_and_the_phone(
    open_classroom: Callable[[str], Classroom], chromium: Browser, theme: str, lang: str
) -> None:
    classroom = open_classroom("three-nodes")
    judge = Judge()
    context = classroom.context(viewport=VIEWPORT)
    dress(context, classroom.server, theme, lang)
    page = classroom.watch(context.new_page())
    for address in ("/", f"/join/{classroom.code}", "/s/ZZZ-ZZZ", "/nowhere", "/lessons/write"):
        page.goto(classroom.server.url + address)
        judge.look(page, address)
    # The lesson to begin from holds; one that somebody breaks is told with step and field.
    page.get_by_test_id("write-play").click()
    page.locator("#write-preview article").wait_for()
    assert page.locator("#write-problems li").count() == 0
    yaml = page.get_by_test_id("write-yaml")
    yaml.fill(yaml.input_value().replace("'n2'", "'n1'"))
    page.get_by_test_id("write-play").click()
    expect(page.locator("#write-problems b")).to_have_text("where · reveal.check[0]")
    judge.look(page, "/lessons/write with a problem")

    context = classroom.context(**PHONE)
    dress(context, classroom.server, theme, lang)
    phone = classroom.watch(context.new_page())
    for address in ("/", f"/join/{classroom.code}"):
        phone.goto(classroom.server.url + address)
        judge.look(phone, f"phone {address}")
    phone.get_by_test_id("join-name").fill("Bo")
    phone.get_by_test_id("join-submit").click()
    phone.wait_for_url("**/s/**")
    wait_state(phone, lambda now: len(now["nodes"]) == 3, "the phone is in")
    phone.get_by_test_id("phone-tab-create").click()
    phone.get_by_test_id("phone-pod-small").click()
    wait_state(phone, lambda now: any(pod["namespace"] == "s-bo" for pod in now["pods"]), "a pod of one's own")
    for tab in ("now", "pods", "create"):
        phone.get_by_test_id(f"phone-tab-{tab}").click()
        phone.locator(f'[data-testid="phone-tab-{tab}"][aria-selected=true]').wait_for()
        judge.look(phone, f"phone {tab}")
    phone.get_by_test_id("phone-tab-pods").click()
    phone.locator(".phone-pods button").first.click()
    phone.get_by_test_id("delete-dialog").wait_for()
    judge.look(phone, "phone delete")
    judge.rule()


@pytest.mark.parametrize("template", ["ha", "zones", "gpu-lab", "nodes-100"])
def test_every_kind_of_stage(open_classroom: Callable[[str], Classroom], template: str) -> None:
    classroom = open_classroom(template)
    judge = Judge()
    for theme in ("light", "projector"):
        page = teacher_page(classroom, theme, "en")
        judge.look(page, f"{template} {theme}")
        page.close()
    judge.rule()


WIDTHS = (1366, 1250, 1024, 1001, 881, 768, 640, 600)
"""Wide and narrow desks: some just before the bar leaves something out, and the narrowest."""
OVERLAPS = """() => {
  const bar = [...document.querySelectorAll(".top-bar :is(a, button, input, select, h1, small, b)")];
  const seen = bar.filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map((one) => [one, one.getBoundingClientRect()]).filter(([, { width }]) => width > 1);
  const found = [];
  for (const [one, a] of seen) {
    if (a.right > innerWidth + 1) found.push(`${one.textContent} stands out`);
    for (const [other, b] of seen) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const apart = wide <= 1 || high <= 1 || one.contains(other) || other.contains(one);
      if (!apart) found.push(`${one.tagName} ${one.textContent} on ${other.tagName} ${other.textContent}`);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "projector"])
def test_a_narrow_desk_has_room_for_its_bar_and_names_for_its_signs(
    open_classroom: Callable[[str], Classroom], theme: str
) -> None:
    classroom = open_classroom("three-nodes")
    page = teacher_page(classroom, theme, "en")
    judge = Judge()
    overlaps: dict[int, list[str]] = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 768})
        drawn(page)
        overlaps = {width: page.evaluate(OVERLAPS), **overlaps}
    assert overlaps == {width: [] for width in WIDTHS}
    page.set_viewport_size({"width": 1024, "height": 768})
    judge.look(page, "at 1024")
    judge.rule()
    unnamed = ".palette-item:not([aria-label]), .palette-item[aria-label='']"
    if theme == "light":
        assert page.locator(".palette-item").count() > 20
    assert page.locator(unnamed).count() == 0
