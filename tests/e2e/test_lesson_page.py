"""A lesson on a small laptop: nothing is cut, all nodes are seen, and what a reveal tells stands on the page."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, tells, wait_state
from tests.e2e.test_accessible import Judge, dress

LAPTOP = {"width": 1366, "height": 768}

CUT = """() => [...document.querySelectorAll(".st-legend-list")].flatMap((list) => {
  const room = list.getBoundingClientRect();
  return [...list.children].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.top < room.bottom && box.right > room.right + 1;
  }).map((one) => one.textContent);
})"""
"""What stands in a line of the legend and is not whole."""


def on_laptop(classroom: Classroom, url: str, lang: str = "en") -> Page:
    context = classroom.context(viewport=LAPTOP)
    dress(context, classroom.server, "light", lang)
    page = classroom.watch(context.new_page())
    page.goto(url)
    wait_state(page, lambda now: now["revision"], "the lesson is there")
    return page


def begin(classroom: Classroom, step: str) -> None:
    """Begin a step, and wait until its scene stands."""
    told = classroom.session("POST", "/lesson", {"do": "start", "step": step})
    while told["script"]["state"] == "playing":
        told = classroom.session("GET", "/lesson")


def test_beside_a_lesson_no_sign_is_cut_and_a_student_sees_every_node_and_how_time_stands(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("", lesson="preemption")
    begin(classroom, "reserved")
    student = classroom.student("Lin W.", viewport=LAPTOP)
    teacher = on_laptop(classroom, classroom.created["url"], "zh-Hans")
    for page in (student, teacher):
        expect(page.get_by_test_id("lesson-scene")).to_be_visible()
        drawn(page)
        tells(page, CUT, [])
    # Controls that a student may not use are not there: how time stands is said instead.
    expect(student.get_by_test_id("clock-standing")).to_have_text("Time stands")
    expect(student.get_by_test_id("clock-play")).to_be_hidden()
    expect(teacher.get_by_test_id("clock-standing")).to_be_hidden()
    classroom.session("POST", "/lesson", {"do": "next"})
    expect(student.get_by_test_id("vote-question")).to_contain_text("n4")
    classroom.session("POST", "/lesson", {"do": "next"})
    # The reveal: what its text tells of is seen, the new node as well, as the attempt that chose it left it.
    expect(student.get_by_test_id("vote-answer")).to_contain_text("n4, at once")
    expect(student.get_by_test_id("class-decision")).to_have_text("The decision in full]")
    expect(student.get_by_test_id("stage-recall")).to_contain_text("vip")
    # Nothing is scrolled to.
    expect(student.locator(".st-field")).to_have_attribute("tabindex", "-1")


def test_a_student_is_asked_beside_bars_to_scale_that_take_the_vote(open_classroom: Callable[..., Classroom]) -> None:
    classroom = open_classroom("", lesson="preemption")
    begin(classroom, "which-node")
    classroom.session("POST", "/lesson", {"do": "next"})
    student = classroom.student("Lin W.", viewport=LAPTOP)
    bars = student.get_by_test_id("lesson-bars")
    expect(bars).to_contain_text("cart-pdb")
    drawn(student)
    width = {
        name: (bars.get_by_role("button", name=name).bounding_box() or {})["width"]
        for name in ("db-2", "web", "batch-a")
    }
    assert round(width["db-2"] / width["web"], 1) == 2.0
    assert width["batch-a"] < width["web"]
    tells(bars, "one => one.scrollHeight <= one.clientHeight", True, "all nodes are seen")
    # A node that is touched is the answer, and an answer lights its node.
    bars.get_by_role("button", name="n3 4 of 4 CPU requested").click()
    expect(student.get_by_test_id("vote-option-n3").locator("input")).to_be_checked()
    student.get_by_test_id("vote-option-n1").click()
    expect(bars.locator("[data-node=n1]")).to_have_class("voted")
    expect(student.locator(".lesson-document")).to_have_text("Document 1")
    judge = Judge()
    judge.look(student, "bars")
    judge.rule()
    # Whoever leads acts on the cluster: there the stage stays.
    teacher = on_laptop(classroom, classroom.created["url"])
    expect(teacher.get_by_test_id("queue-lane-active")).to_be_visible()
    expect(teacher.get_by_test_id("lesson-bars")).to_have_count(0)
    # So few answers leave a small wall room for what each node carries.
    seat = classroom.session("POST", "/people", {"role": "viewer", "name": "Wall"})
    context = classroom.context(viewport={"width": 1024, "height": 768})
    dress(context, classroom.server, "projector", "en")
    wall = classroom.watch(context.new_page())
    wall.goto(seat["url"])
    expect(wall.locator(".wall-options .vote-bar").first).to_be_visible()
    expect(wall.locator(".wall-options .vote-bar")).to_have_count(3)
    classroom.session("POST", "/lesson", {"do": "next"})
    expect(bars).to_have_count(0)
    expect(student.get_by_test_id("stage-eviction")).to_be_visible()


def test_charts_that_a_lesson_opens_have_a_laptops_height_until_they_are_folded(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("", lesson="leader-election", alone=True)
    page = on_laptop(classroom, classroom.created["url"])
    expect(page.get_by_test_id("election-chart")).to_be_visible()
    expect(page.get_by_test_id("stage")).to_be_hidden()
    # Who learns alone is not called a teacher.
    expect(page.locator(".role-chip")).to_have_text("Learner")
    page.locator(".dock-head > .ghost").click()
    expect(page.get_by_test_id("stage")).to_be_visible()
