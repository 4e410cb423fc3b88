"""Two browsers in one session: what one person does, the other sees."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state

TRIES = 3


def bound(current: dict) -> list[dict]:
    return [pod for pod in current["pods"] if pod["nodeName"]]


def click_and_see(teacher: Page, student: Page, item: str, count: Callable[[dict], int]) -> None:
    """Click an item of the palette and wait until the other browser shows one more."""
    before = count(wait_state(student, lambda current: True, "any state"))
    teacher.get_by_test_id(f"palette-{item}").click()
    wait_state(student, lambda current: count(current) > before, f"one more {item}")


def test_what_the_teacher_clicks_the_student_sees_bound_and_can_ask_why(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("empty")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher()
    student = classroom.student("Mei K.")

    for _ in range(TRIES):
        click_and_see(teacher, student, "node-medium", lambda now: len(now["nodes"]))
    wait_state(student, lambda now: all(node["ready"] for node in now["nodes"]), "all nodes are Ready")
    for _ in range(TRIES):
        click_and_see(teacher, student, "pod-small", lambda now: len(bound(now)))

    current = wait_state(student, lambda now: len(bound(now)) == TRIES, "every pod is bound")
    pod = bound(current)[0]
    student.get_by_test_id("stage").locator(f'button[data-pod="{pod["namespace"]}/{pod["name"]}"]').dispatch_event(
        "click"
    )
    inspector = student.get_by_test_id("inspector")
    inspector.get_by_test_id("decision-heatmap").wait_for()
    inspector.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()
    inspector.locator('[data-testid="decision-scores"] .main-svg').first.wait_for()
    expect(inspector).to_contain_text(pod["nodeName"])
    picture(student, "student-decision-light")

    everyone = {person.strip() for person in teacher.get_by_test_id("people").all_inner_texts()}
    assert any("2" in text for text in everyone), everyone


def test_a_student_sees_what_they_may_not_do(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    student = classroom.student("Lin W.")
    wait_state(student, lambda now: len(now["nodes"]) == 3, "three nodes")
    expect(student.get_by_test_id("clock-step-point")).to_be_disabled()
    student.get_by_test_id("palette-pod-small").click()
    current = wait_state(
        student, lambda now: [pod for pod in now["pods"] if pod["namespace"].startswith("s-")], "the student's own pod"
    )
    assert {pod["namespace"] for pod in current["pods"] if pod["namespace"].startswith("s-")} == {"s-lin-w"}


def test_a_pod_that_fits_nowhere_waits_with_its_reason(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: sum(node["ready"] for node in now["nodes"]) == 3, "three Ready nodes")
    teacher.get_by_test_id("palette-pod-gpu").click()
    lane = teacher.get_by_test_id("queue-lane-unschedulable")
    lane.locator(".st-row").first.wait_for()
    expect(lane).to_contain_text("Insufficient nvidia.com/gpu")
    lane.locator(".st-row").first.click()
    inspector = teacher.get_by_test_id("inspector")
    inspector.locator("blockquote").wait_for()
    inspector.locator('[data-testid="decision-heatmap"] .main-svg').first.wait_for()
    expect(inspector.locator("blockquote")).to_contain_text("0/3 nodes are available")
    picture(teacher, "unschedulable-light")
