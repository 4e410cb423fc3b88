"""Every screen in both themes, kept as pictures to look at, and what can be said of them without eyes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import VIEWPORT, Classroom, brought, drawn, picture, wait_state
from tests.tools.letters import smaller_than
from tests.tools.restyling import restyled
from tests.tools.server import Server

THEMES = ("light", "dark")
STEPS_TO_SCORE_MAX = 40


def use_theme(page: Page, theme: str) -> None:
    """Choose a theme as the page's own switch does, without depending on where the switch is."""
    page.evaluate("theme => { document.cookie = `clustersim_theme=${theme}; path=/; SameSite=Lax` }", theme)


def sideways(page: Page) -> int:
    """Return how many pixels the page is wider than its window; an enlarged page's rounding of one counts as none."""
    pixel = "Math.ceil(document.body.currentCSSZoom ?? 1)"
    return page.evaluate(f"() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth - {pixel})")


@pytest.mark.parametrize("theme", THEMES)
def test_the_front_pages(live_server_up: Server, chromium: Browser, theme: str) -> None:
    context = chromium.new_context(viewport=VIEWPORT, locale="en-GB")
    page = context.new_page()
    page.goto(live_server_up.url)
    use_theme(page, theme)
    for name, address in (("home", "/"), ("not-found", "/s/ZZZ-ZZZ")):
        page.goto(live_server_up.url + address)
        assert sideways(page) == 0
        picture(page, f"{name}-{theme}")
    context.close()


@pytest.mark.parametrize("theme", THEMES)
def test_who_never_chose_a_theme_gets_the_systems(live_server_up: Server, chromium: Browser, theme: str) -> None:
    context = chromium.new_context(viewport=VIEWPORT, locale="en-GB", color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(live_server_up.url)
    assert page.evaluate("() => document.documentElement.dataset.theme") == theme
    pressed = page.locator("#theme-switch [aria-pressed=true]")
    assert pressed.get_attribute("data-theme-choice") == theme
    other = "dark" if theme == "light" else "light"
    page.locator(f"#theme-switch [data-theme-choice={other}]").click()
    page.reload()
    assert page.evaluate("() => document.documentElement.dataset.theme") == other
    context.close()


def score_of_a_tie(classroom: Classroom, page: Page) -> bool:
    """Step until a cycle stands at Score with a tie; say whether one came."""
    for _ in range(STEPS_TO_SCORE_MAX):
        answer = classroom.session("POST", "/clock/step", {"by": "point"})
        held = answer["held"]
        if not held or held["point"] != "Score":
            continue
        revision = answer["revision"]
        wait_state(
            page,
            lambda now, held=held, rv=revision: now["held"] == held and now["paintedRevision"] >= rv,
            "the page stands at Score",
        )
        page.locator(".st-tie, .st-outline td:has-text('pts')").first.wait_for(state="attached")
        if page.locator(".st-tie").count():
            return True
    return False


@pytest.mark.parametrize("theme", THEMES)
def test_the_session(open_classroom: Callable[[str], Classroom], theme: str) -> None:
    classroom = open_classroom("zones")
    # Scores stand at once where a person asked for less motion: the picture is of their end.
    teacher = classroom.teacher(reduced_motion="reduce")
    use_theme(teacher, theme)
    teacher.reload()
    wait_state(teacher, lambda now: len(now["nodes"]) == 12, "twelve nodes")
    background = teacher.evaluate("() => getComputedStyle(document.getElementById('stage')).backgroundColor")
    dark = sum(int(part) for part in re.findall(r"\d+", background)[:3]) < 300
    assert dark is (theme == "dark"), background
    wait_state(teacher, lambda now: sum(bool(pod["nodeName"]) for pod in now["pods"]) >= 8, "eight pods placed")
    classroom.session("PATCH", "/clock", {"paused": True})
    tied = score_of_a_tie(classroom, teacher)
    key = wait_state(teacher, lambda now: now["held"], "a cycle is held")["held"]["pod"]
    expect(teacher.locator(f'.st-row-hand[data-pod="{key}"]')).to_have_count(1)
    teacher.locator(".st-hand").click()
    teacher.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()
    picture(teacher, f"session-{'tie' if tied else 'score'}-{theme}")
    assert sideways(teacher) == 0

    current = wait_state(teacher, lambda now: now["pods"], "pods")
    placed = next(pod for pod in current["pods"] if pod["nodeName"])
    teacher.locator(f'button[data-pod="{placed["namespace"]}/{placed["name"]}"]').first.dispatch_event("click")
    teacher.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()
    brought(teacher.locator('[data-testid="decision-scores"]'))
    picture(teacher, f"decision-{theme}")


@pytest.mark.parametrize("theme", THEMES)
def test_a_takeover_is_seen(open_classroom: Callable[[str], Classroom], theme: str) -> None:
    classroom = open_classroom("ha")
    teacher = classroom.teacher()
    use_theme(teacher, theme)
    teacher.reload()
    leader = teacher.locator('.st-replica[data-state="leader"]')
    leader.wait_for()
    old = leader.get_attribute("data-key")
    classroom.session("POST", f"/replicas/{old}/fault", {"kind": "crash"})
    teacher.locator(f'.st-replica[data-key="{old}"][data-state="crashed"]').wait_for()
    picture(teacher, f"takeover-before-{theme}")
    classroom.session("PATCH", "/clock", {"rate": 10})
    teacher.locator(f'.st-replica[data-state="leader"]:not([data-key="{old}"])').wait_for()
    picture(teacher, f"takeover-after-{theme}")


@pytest.mark.parametrize(("template", "level"), [("nodes-100", "3"), ("nodes-1000", "4")])
def test_many_nodes_are_drawn_by_the_rule_and_fast(
    open_classroom: Callable[[str], Classroom], template: str, level: str
) -> None:
    classroom = open_classroom(template)
    teacher = classroom.teacher()
    count = int(template.removeprefix("nodes-"))
    wait_state(teacher, lambda now: len(now["nodes"]) == count, f"{count} nodes")
    stage = teacher.get_by_test_id("stage")
    expect(stage).to_have_attribute("data-level", level)
    expect(stage).to_contain_text(f"Detail level {level} of 5")
    picture(teacher, f"{template}-light")
    field = stage.locator(".st-field").bounding_box()
    assert field is not None
    teacher.mouse.move(field["x"] + 60, field["y"] + 60)
    picture(teacher, f"{template}-pointer-light")
    teacher.keyboard.press("Escape")
    teacher.get_by_test_id("stage-zoom").focus()
    teacher.keyboard.press("End")
    # Zoomed in all the way, one node is a card.
    expect(stage).to_have_attribute("data-level", "1")


def test_the_phone_and_the_small_laptop(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    laptop = classroom.teacher(viewport={"width": 1366, "height": 768})
    wait_state(laptop, lambda now: len(now["nodes"]) == 3, "three nodes")
    assert sideways(laptop) == 0
    picture(laptop, "session-1366-light")
    phone = classroom.student("Bo", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    wait_state(phone, lambda now: len(now["nodes"]) == 3, "three nodes")
    assert sideways(phone) == 0
    picture(phone, "phone-light")


def open_from(page: Page, button: str) -> None:
    """Open the dialog behind a button of the palette or the top bar."""
    page.get_by_test_id(button).first.dispatch_event("click")
    page.locator("dialog[open]").wait_for()


def node_under_pointer(page: Page) -> str:
    """Click the first tile of the canvas where it is seen; return the node that this selected."""
    zoom = page.evaluate("() => document.getElementById('stage').currentCSSZoom ?? 1")
    # A click of a locator waits until what stands above the field has come to rest.
    page.get_by_test_id("stage").locator(".st-field").click(position={"x": 40 * zoom, "y": 45 * zoom})
    return wait_state(page, lambda now: now["selected"], "something is selected")["selected"]["key"]


def read_from_the_last_row(page: Page) -> None:
    """Measure the letters of the wall, with and without something selected, on two sizes of projector."""
    pod = next(one for one in wait_state(page, lambda now: now["pods"], "pods")["pods"] if one["nodeName"])
    key = f"{pod['namespace']}/{pod['name']}"
    for width, height in ((1920, 1080), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        drawn(page)
        assert smaller_than(page, 22) == []
        assert sideways(page) == 0
        page.locator(f'button[data-pod="{key}"]').first.dispatch_event("click")
        page.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()
        drawn(page)
        assert smaller_than(page, 22) == []
        picture(page, f"wall-decision-{width}")
        page.keyboard.press("Escape")
        wait_state(page, lambda now: not now["selected"], "nothing is selected")
    page.set_viewport_size(VIEWPORT)  # type: ignore[arg-type]
    drawn(page)


@pytest.mark.parametrize("theme", [*THEMES, "projector"])
def test_forms_dialogs_and_tabs(open_classroom: Callable[[str], Classroom], theme: str) -> None:
    classroom = open_classroom("gpu-lab")
    teacher = classroom.teacher()
    use_theme(teacher, theme)
    teacher.reload()
    current = wait_state(teacher, lambda now: [pod for pod in now["pods"] if pod["nodeName"]], "a pod is placed")
    picture(teacher, f"gpu-lab-{theme}")
    if theme == "projector":
        read_from_the_last_row(teacher)
    assert node_under_pointer(teacher) == "gpu-1", "the pointer finds what it points at, whatever the theme's zoom"
    for button in ("palette-pod-small-form", "palette-node-small-form", "palette-yaml", "palette-openb", "join-code"):
        open_from(teacher, button)
        picture(teacher, f"{button}-{theme}")
        assert sideways(teacher) == 0
        teacher.keyboard.press("Escape")
        teacher.locator("dialog[open]").wait_for(state="detached")

    pod = next(one for one in current["pods"] if one["nodeName"])
    teacher.locator(f'button[data-pod="{pod["namespace"]}/{pod["name"]}"]').first.dispatch_event("click")
    for tab in ("summary", "yaml", "events"):
        teacher.get_by_test_id(f"inspector-tab-{tab}").click()
        picture(teacher, f"inspector-{tab}-{theme}")
    if theme != "projector":  # one thing at a time on the wall: no dock there
        teacher.get_by_test_id("dock-log").click()
        picture(teacher, f"dock-log-{theme}")


def test_reduced_motion_shows_the_end_at_once(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher(reduced_motion="reduce")
    wait_state(teacher, lambda now: now["held"] or any(pod["nodeName"] for pod in now["pods"]), "a cycle has begun")
    classroom.session("PATCH", "/clock", {"paused": True})
    for _ in range(STEPS_TO_SCORE_MAX):
        held = classroom.session("POST", "/clock/step", {"by": "point"})["held"]
        if held and held["point"] == "Score":
            break
    wait_state(teacher, lambda now: now["held"] == held, "the page stands at Score")
    trace = classroom.cluster("GET", "/apis/clustersim.io/v1/replicas/kube-scheduler-0")["status"]["cycle"]["trace"]
    totals = dict(zip(trace["scores"]["nodes"], trace["scores"]["total"], strict=True))
    for node, total in totals.items():
        expect(teacher.locator(f'.st-outline tr[data-key="{node}"]')).to_contain_text(f"{total} pts")


def test_the_dock_is_as_high_as_somebody_drags_it(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: len(now["nodes"]) == 3, "the nodes are there")
    handle = teacher.get_by_role("separator")

    def wait_height(pixels: int) -> None:
        expected = "pixels => Math.round(document.getElementById('dock').getBoundingClientRect().height) === pixels"
        teacher.wait_for_function(expected, arg=pixels)

    wait_height(196)
    box = handle.bounding_box()
    assert box is not None
    teacher.mouse.move(box["x"] + 300, box["y"] + 4)
    teacher.mouse.down()
    teacher.mouse.move(box["x"] + 300, box["y"] - 116, steps=4)
    teacher.mouse.up()
    wait_height(316)
    picture(teacher, "dock-dragged")
    handle.press("ArrowDown")
    wait_height(292)
    teacher.reload()
    wait_state(teacher, lambda now: len(now["nodes"]) == 3, "the nodes are back")
    wait_height(292)
    handle.press("End")
    wait_height(round(0.7 * VIEWPORT["height"]))
    handle.dblclick()
    wait_height(196)


@pytest.mark.parametrize("tab", ["decision", "whatif"])
def test_a_pod_that_comes_has_few_elements_styled_anew(
    open_classroom: Callable[[str], Classroom], chromium: Browser, tab: str
) -> None:
    classroom = open_classroom("three-nodes")
    page = classroom.teacher()
    wait_state(page, lambda now: all(pod["phase"] == "Running" for pod in now["pods"]), "all pods run")
    page.locator("button[data-pod]").first.dispatch_event("click")
    page.get_by_test_id(f"inspector-tab-{tab}").click()
    page.locator(".inspector :is(.dc-body, .wi-attempt)").first.wait_for()
    drawn(page)
    elements = page.evaluate("() => document.body.querySelectorAll('*').length")
    with restyled(chromium, page) as counts:
        body = {"metadata": {"name": "comes"}, "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]}}
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", body)
        wait_state(
            page,
            lambda now: any(one["name"] == "comes" and one["phase"] == "Running" for one in now["pods"]),
            "it runs",
        )
    assert len(counts) > 10, "it was seen to come"
    # Its places in the queue, on its node and in the panel; the whole page each time would be a hundred of it.
    assert sum(counts) < 5 * elements
