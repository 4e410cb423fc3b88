"""What the stage and the Decision panel show when time is held, and when a decision is taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, state, tells, wait_state
from tests.tools.server import wait_for

APPROVAL = {"profiles": [{"plugins": {"permit": {"enabled": [{"name": "ManualApproval"}]}}}]}
STEPS_MAX = 1_000


def pod(name: str, cpu: str = "500m", **spec: Any) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": "64Mi"}
    containers = [{"name": "main", "image": "nginx:1.27", "resources": {"requests": requests}}]
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}
    }  # fmt: skip


def quiet(open_classroom: Callable[[str], Classroom], template: str = "three-nodes") -> tuple[Classroom, Page]:
    """Open a session and wait until what its template brought runs."""
    classroom = open_classroom(template)
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher()
    wait_state(
        teacher,
        lambda now: now["nodes"] and all(one["ready"] for one in now["nodes"])
        and all(one["phase"] == "Running" for one in now["pods"]),
        "the nodes are Ready and the template's pods run",
    )  # fmt: skip
    return classroom, teacher


def hold_at(classroom: Classroom, key: str, point: str) -> dict[str, Any]:
    """Step point by point until the pod is held at a point; return what is held."""
    for _ in range(STEPS_MAX):
        held = classroom.session("POST", "/clock/step", {"by": "point"})["held"] or {}
        if held.get("pod") == key and held.get("point") == point:
            return dict(held)
    raise AssertionError(f"{key} was never held at {point}")


def test_held_time_shows_the_last_decision_as_one_that_is_over(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    classroom.session("PATCH", "/clock", {"paused": True, "pace": 250})
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("web-1"))
    hold_at(classroom, "default/web-1", "Filter")
    expect(teacher.locator('.st-point[data-point="Filter"]')).to_have_attribute("data-state", "current")
    for _ in range(STEPS_MAX):
        if classroom.session("POST", "/clock/step", {"by": "event", "count": 25})["held"] is None:
            break
    wait_state(teacher, lambda now: now["held"] is None, "nothing is held")
    expect(teacher.locator(".st-hand")).to_have_count(0)
    expect(teacher.locator(".st-point[aria-current]")).to_have_count(0)


def test_an_open_decision_follows_the_no_of_permit(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    classroom.session("PUT", "/scheduler", APPROVAL)
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("web-1"))
    lane = teacher.get_by_test_id("queue-lane-permit")
    lane.locator('[data-pod="default/web-1"]').click()
    plain = teacher.locator(".dc-plain p").first
    expect(plain).to_contain_text("and not bound yet")
    expect(teacher.locator(".dc-attempts .icon-check")).to_have_count(0)
    lane.get_by_test_id("permit-reject").click()
    expect(plain).to_contain_text("because ManualApproval said no: the pod is on no node.")
    expect(teacher.locator(".dc-attempts .icon-ban")).to_have_count(1)
    expect(teacher.locator(".dc-sentence blockquote")).to_have_text("0/1 nodes are available: 1 rejected by Teacher.")
    expect(teacher.locator(".dc-body")).not_to_contain_text("went to")


def test_the_rail_changes_at_once(open_classroom: Callable[[str], Classroom]) -> None:
    """A name that fades while a cycle is told at 250 ms a point is dark on dark for most of it."""
    _, teacher = quiet(open_classroom)
    durations = teacher.evaluate(
        "() => [...document.querySelectorAll('.st-point, .st-point path')]"
        ".map((one) => getComputedStyle(one).transitionDuration)"
    )
    assert set(durations) == {"0s"}


def test_the_winner_among_many_nodes_is_brought_into_view(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    for index in range(80):
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"m{index}", "labels": {"place": f"m{index}"}}}
        sizes = {"cpu": "2", "memory": "4Gi", "pods": "110"}
        classroom.cluster("POST", "/api/v1/nodes", {**node, "status": {"capacity": sizes, "allocatable": sizes}})
    wait_state(
        teacher, lambda now: len(now["nodes"]) == 83 and all(one["ready"] for one in now["nodes"]), "83 Ready nodes"
    )
    # Ready is written by the kubelet, the taint is taken away by a controller a little later.
    nodes = "/api/v1/nodes"
    wait_for(
        lambda: not any(one["spec"].get("taints") for one in classroom.cluster("GET", nodes)["items"]),
        what="no taint is left",
    )
    classroom.session("PATCH", "/clock", {"paused": True, "pace": 250})
    last = pod("web-1", nodeSelector={"place": "m79"})
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", last)
    scrolled = "() => document.querySelector('.st-field').scrollTop"
    assert teacher.evaluate(scrolled) == 0
    hold_at(classroom, "default/web-1", "Reserve")
    wait_state(teacher, lambda _: teacher.evaluate(scrolled) > 0, "the winner is brought into view")
    # Scrolled away from it, an arrow says where it is and leads there.
    expect(teacher.get_by_test_id("edge-below")).to_be_hidden()
    teacher.evaluate("() => document.querySelector('.st-field').scrollTo(0, 0)")
    expect(teacher.get_by_test_id("edge-below")).to_have_text("m79")
    teacher.get_by_test_id("edge-below").click()
    wait_state(teacher, lambda _: teacher.evaluate(scrolled) > 0, "the arrow leads to it")
    expect(teacher.get_by_test_id("edge-below")).to_be_hidden()


def legend(page: Page) -> list[list[str]]:
    """Return the groups in the legend of colours: name and hue."""
    return page.evaluate(
        "() => [...document.querySelectorAll('.st-legend-list li[data-hue]')]"
        ".map((item) => [item.textContent, item.dataset.hue])"
    )


def test_colours_are_the_same_for_everybody_and_after_a_reload(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    for name in ("zebra-1", "apple-1"):
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod(name))
        wait_state(teacher, lambda now, name=name: any(one["name"] == name for one in now["pods"]), "it is there")
    wait_state(teacher, lambda _: "apple" in str(legend(teacher)), "the legend names it")
    shown = legend(teacher)
    assert len({hue for _, hue in shown}) == len(shown), "few owners have each a hue of their own"
    # Who comes later is sent them in another order.
    student = classroom.student("Mei")
    wait_state(student, lambda _: legend(student) == shown, "the student sees the same colours")
    teacher.reload()
    wait_state(teacher, lambda _: legend(teacher) == shown, "so does the teacher after a reload")


LAPTOP = {"width": 1366, "height": 768}


def whole(page: Page) -> dict[str, Any]:
    """Return what of the stage is seen in a small window."""
    return page.evaluate(
        """() => {
          const width = (name) => document.querySelector(name).getBoundingClientRect().width;
          const field = document.querySelector('.st-field');
          const labels = [...document.querySelectorAll('.palette-item .label')];
          return {
            inspector: width('.inspector'), folded: document.querySelector('.dock').classList.contains('folded'),
            unseen: Math.max(0, document.querySelector('.st-spacer').offsetHeight - field.clientHeight),
            legend: document.querySelector('.st-legend').offsetHeight,
            cut: labels.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
          };
        }"""
    )


def narrow(seen: dict[str, Any]) -> bool:
    """Say whether the stage has all the room that there is, with the palette's words whole beside it."""
    aside = seen["folded"] and seen["inspector"] < 60 and seen["legend"] < 40
    return bool(aside and not seen["unseen"] and not seen["cut"])


def test_a_laptop_sees_twelve_nodes_in_a_cycle(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("zones")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher(viewport=LAPTOP)
    wait_state(
        teacher,
        lambda now: len(now["nodes"]) == 12 and all(one["ready"] for one in now["nodes"])
        and all(one["phase"] == "Running" for one in now["pods"]),
        "twelve Ready nodes, and the template's pods run",
    )  # fmt: skip
    classroom.session("PATCH", "/clock", {"paused": True, "pace": 250})
    expect(teacher.get_by_test_id("stage-idle")).to_contain_text("Click a pod in the palette")
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("web-1"))
    expect(teacher.get_by_test_id("stage-idle")).to_contain_text("1 pod waits")
    hold_at(classroom, "default/web-1", "Score")
    expect(teacher.locator('.st-point[data-point="Score"]')).to_have_attribute("data-state", "current")
    wait_for(lambda: narrow(whole(teacher)), what="every node is seen, with dock and inspector folded")
    expect(teacher.locator(".st-hand")).to_be_visible()
    titles = teacher.locator(".st-legend-row > b")
    expect(titles.first).to_be_hidden()
    teacher.get_by_test_id("legend-more").click()
    expect(titles.first).to_be_visible()
    wait_for(lambda: whole(teacher)["legend"] > 40, what="the legend opens")
    teacher.get_by_test_id("legend-more").click()

    teacher.locator(".st-hand").click()
    wait_state(teacher, lambda _: whole(teacher)["inspector"] > 300, "the inspector opens")
    wait_state(teacher, lambda _: whole(teacher)["unseen"] == 0, "and every node is still seen")
    expect(teacher.locator(".st-hand")).to_be_visible()

    # An attempt that is chosen is told on the nodes as it was, until one comes back.
    hold_at(classroom, "default/web-1", "Reserve")
    classroom.session("PATCH", "/clock", {"paused": False, "pace": 0})
    wait_state(
        teacher, lambda now: any(one["name"] == "web-1" and one["nodeName"] for one in now["pods"]), "it is bound"
    )
    stage = teacher.get_by_test_id("stage")
    teacher.locator("[data-trace]").last.click()
    expect(teacher.get_by_test_id("stage-recall")).to_contain_text("Attempt 1 of web-1")
    expect(stage).to_have_attribute("data-recalled", "true")
    outline = teacher.locator(".st-outline")
    winner = classroom.cluster("GET", "/api/v1/namespaces/default/pods/web-1")["spec"]["nodeName"]
    expect(outline.locator("tr", has=teacher.locator(f'[data-node="{winner}"]'))).to_contain_text("chosen")
    wait_for(lambda: whole(teacher)["unseen"] < 60, what="the bar takes a line")
    # What opens under a pointer that rests would be closed first.
    teacher.mouse.move(2, 2)
    expect(teacher.locator(":popover-open")).to_have_count(0)
    teacher.keyboard.press("Escape")
    expect(teacher.get_by_test_id("stage-recall")).to_be_hidden()
    expect(stage).to_have_attribute("data-recalled", "false")
    assert state(teacher)["selected"]["key"] == "default/web-1", "and the pod is still selected"
    teacher.keyboard.press("Escape")
    wait_state(teacher, lambda _: whole(teacher)["inspector"] < 60, "the inspector folds again")


def all_beside_the_dock(page: Page) -> bool:
    seen = whole(page)
    return not seen["folded"] and seen["unseen"] == 0


WATCH_LEASES = """() => {
  window.bare = 0;
  new MutationObserver(() => {
    window.bare += [...document.querySelectorAll('.st-lease-text')].filter((one) => !one.textContent).length;
  }).observe(document.querySelector('.st-schedulers'), { childList: true, subtree: true });
}"""


def test_a_scheduler_s_card_never_stands_without_its_lease(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    expect(teacher.locator(".st-lease-text")).to_contain_text("lease")
    # Cycles that are followed point by point make the card anew.
    classroom.session("PATCH", "/clock", {"pace": 100})
    teacher.evaluate(WATCH_LEASES)
    for name in ("first", "second", "third"):
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod(name))
    last = ("first", "second", "third")
    wait_state(
        teacher, lambda now: {one["name"] for one in now["pods"] if one["nodeName"]} >= set(last), "all have nodes"
    )
    assert teacher.evaluate("window.bare") == 0


@pytest.mark.parametrize("dock", ["events", "timeline", "streams"])
def test_twelve_nodes_are_seen_beside_every_tab_of_the_dock(
    open_classroom: Callable[[str], Classroom], dock: str
) -> None:
    classroom = open_classroom("zones")
    classroom.session("PATCH", "/clock", {"paused": True})
    teacher = classroom.teacher()
    revision = wait_state(teacher, lambda now: len(now["nodes"]) == 12, "twelve nodes")["revision"]
    teacher.get_by_test_id(f"dock-{dock}").click()
    wait_state(teacher, lambda _: all_beside_the_dock(teacher), "every node is seen")
    # In the past a bar stands above them, too.
    teacher.goto(f"{teacher.url.partition('?')[0]}?rv={revision}&dock={dock}")
    expect(teacher.get_by_test_id("past-title")).to_be_visible()
    wait_state(teacher, lambda _: all_beside_the_dock(teacher), "and still is")


def test_a_reason_lights_the_nodes_that_it_refused(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    classroom.session("PATCH", "/clock", {"pace": 0})
    picky = {"kubernetes.io/hostname": "n2"}
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("picky", "100m", nodeSelector=picky))
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("large", "64"))
    wait_state(
        teacher, lambda now: any(one["name"] == "picky" and one["nodeName"] for one in now["pods"]), "picky is bound"
    )
    stage = teacher.get_by_test_id("stage")
    teacher.goto(f"{teacher.url.partition('?')[0]}?pod=default/picky&tab=decision")
    reason = teacher.get_by_test_id("decision-reasons").get_by_role("button")
    expect(reason).to_have_text("node(s) didn't match Pod's node affinity/selector")
    reason.click()
    expect(reason).to_have_attribute("aria-pressed", "true")
    expect(stage).to_have_attribute("data-lit", "2")
    teacher.keyboard.press("Escape")
    expect(stage).to_have_attribute("data-lit", "0")
    # Of an attempt that found no node the sentence taken apart does the same.
    teacher.goto(f"{teacher.url.partition('?')[0]}?pod=default/large&tab=decision")
    teacher.locator(".dc-sentence").get_by_role("button", name="Insufficient cpu").click()
    expect(stage).to_have_attribute("data-lit", "3")


LINES_OF = """const lines = (one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  };"""
IN_TWO_LINES = f"""(selector) => {{
  {LINES_OF}
  return [...document.querySelectorAll(selector)].filter((one) => lines(one) !== 1).map((one) => one.textContent);
}}"""
BROKEN_WORDS = f"""(selector) => {{
  {LINES_OF}
  return [...document.querySelectorAll(selector)].flatMap((one) => [...one.childNodes])
    .filter((text) => text.nodeType === 3 && !text.data.includes(" ") && lines(text) > 1).map((text) => text.data);
}}"""


def test_numbers_and_names_are_whole_in_a_laptops_inspector(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    teacher.set_viewport_size({"width": 1366, "height": 768})
    # One node is fuller than the others, so that points differ by a plugin with a long name.
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("first", "2", nodeName="n1"))
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("second", "100m"))
    wait_state(
        teacher, lambda now: any(one["name"] == "second" and one["nodeName"] for one in now["pods"]), "it is bound"
    )
    teacher.goto(f"{teacher.url.partition('?')[0]}?pod=default/second&tab=decision")
    table = teacher.locator(".dc-differences")
    table.locator("tr").last.wait_for()
    tells(teacher, IN_TWO_LINES, [], "no number stands in two lines", ".dc-differences td:not(:first-child)")
    tells(teacher, BROKEN_WORDS, [], "no word is broken", ".dc-differences td:first-child")


COUNT_FRAMES = """() => {
  const real = window.requestAnimationFrame.bind(window);
  Object.assign(window, { asked: 0, realFrame: real });
  window.requestAnimationFrame = (run) => { window.asked += 1; return real(run); };
}"""

NOBODY_ASKS = """() => new Promise((done) => {
  const from = window.asked;
  let left = 20;
  const count = () => (left -= 1) ? window.realFrame(count) : done(window.asked === from);
  window.realFrame(count);
})"""
"""Whether the page has asked for none of the next twenty pictures that the browser shows."""


def test_a_paused_page_that_nobody_touches_asks_for_no_picture(open_classroom: Callable[[str], Classroom]) -> None:
    classroom, teacher = quiet(open_classroom)
    classroom.session("PATCH", "/clock", {"paused": True})
    teacher.evaluate(COUNT_FRAMES)
    wait_state(teacher, lambda now: now["clock"]["paused"], "time is held")
    teacher.wait_for_function(NOBODY_ASKS, polling=100)
    # A hand, a message and time that runs each wake it.
    field = teacher.locator(".st-field")
    field.hover(position={"x": 60, "y": 60})
    field.click(position={"x": 60, "y": 60})
    wait_state(teacher, lambda now: now["selected"] is not None, "what lies under the pointer is selected")
    teacher.wait_for_function(NOBODY_ASKS, polling=100)
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("late"))
    wait_state(teacher, lambda now: any(one["name"] == "late" for one in now["pods"]), "the new pod is shown")
    teacher.wait_for_function(NOBODY_ASKS, polling=100)
    held = state(teacher)["clock"]["simTimeMs"]
    classroom.session("PATCH", "/clock", {"paused": False})
    wait_state(teacher, lambda now: now["clock"]["simTimeMs"] > held + 2_000, "the clock goes on")


def test_a_script_reads_what_the_page_shows(open_classroom: Callable[[str], Classroom]) -> None:
    _, teacher = quiet(open_classroom)
    shown = wait_state(teacher, lambda now: now["fps"] > 0, "a second's pictures are counted")
    assert {"revision", "paintedRevision", "nodes", "pods", "held", "clock", "fps"} <= shown.keys()
    assert {"name", "ready"} <= shown["nodes"][0].keys()
    assert {"namespace", "name", "nodeName", "phase"} <= shown["pods"][0].keys()
