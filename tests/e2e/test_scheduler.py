"""The scheduler on the page: what runs, another one, and pods that wait for a person's word."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state

APPROVAL = "profiles:\n- plugins:\n    permit:\n      enabled:\n      - name: ManualApproval\n"


def _column(page: Page, point: str) -> list[str]:
    return page.locator(f".scheduler-points li[data-point='{point}'] ol li").all_inner_texts()


def _open(page: Page) -> None:
    page.get_by_test_id("dock-scheduler").click()
    page.get_by_test_id("scheduler-panel").wait_for()


def _ask(page: Page, era: str, written: str) -> None:
    page.get_by_test_id("scheduler-change").click()
    dialog = page.get_by_test_id("scheduler-dialog")
    dialog.get_by_test_id("scheduler-era-select").select_option(era)
    dialog.get_by_test_id("yaml-editor").fill(written)
    dialog.get_by_test_id("dialog-submit").click()


def test_the_panel_tells_what_runs_and_takes_another(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    _open(teacher)
    expect(teacher.get_by_test_id("scheduler-era")).to_have_text("kube-scheduler 1.34")
    assert _column(teacher, "queueSort") == ["PrioritySort"]
    score = [" ".join(row.split()) for row in _column(teacher, "score")]
    assert score[0] == "TaintToleration ×3"
    picture(teacher, "scheduler-panel-light")
    with teacher.context.expect_page() as opened:
        teacher.get_by_test_id("scheduler-metrics").click()
    expect(opened.value.locator("body")).to_contain_text("scheduler_pending_pods")
    opened.value.close()

    _ask(teacher, "v1.34", "parallelism: 0\nprofiles:\n- schedulerName: ''\n")
    problems = teacher.locator(".yaml-problems li")
    expect(problems).to_have_count(2)
    assert {text.split()[2] for text in problems.all_inner_texts()} == {"parallelism", "profiles[0].schedulerName"}
    picture(teacher, "scheduler-dialog-refused")
    teacher.get_by_test_id("yaml-editor").fill(
        "profiles:\n- plugins:\n    filter:\n      disabled:\n      - name: NodePorts\n"
    )
    teacher.get_by_test_id("dialog-submit").click()
    expect(teacher.get_by_test_id("scheduler-dialog")).to_have_count(0)
    expect(teacher.locator(".scheduler-points li[data-point='filter']")).not_to_contain_text("NodePorts")
    teacher.locator(".scheduler-panel summary").click()
    expect(teacher.locator(".scheduler-panel details")).to_contain_text("NodePorts Filter disabled at this point")

    student = classroom.student("Mei")
    _open(student)
    change = student.get_by_test_id("scheduler-change")
    expect(change).to_have_attribute("aria-disabled", "true")
    change.click(force=True)
    expect(student.get_by_test_id("scheduler-dialog")).to_have_count(0)

    teacher.keyboard.press("Escape")
    _ask(teacher, "round-robin", "")
    expect(teacher.get_by_test_id("scheduler-era")).not_to_have_text("kube-scheduler 1.34")
    expect(student.get_by_test_id("scheduler-era")).not_to_have_text("kube-scheduler 1.34")
    picture(teacher, "scheduler-panel-era")
    teacher.locator(".theme-button").click()
    teacher.get_by_role("button", name="中").click()
    expect(teacher.get_by_test_id("dock-scheduler")).to_have_text("调度器")
    picture(teacher, "scheduler-panel-zh-dark")


def test_a_pod_waits_at_permit_until_the_teacher_says_so(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: all(pod["nodeName"] for pod in now["pods"]), "what the template brought is placed")
    classroom.session("PATCH", "/clock", {"pace": 0})
    _open(teacher)
    _ask(teacher, "v1.34", APPROVAL)
    expect(teacher.locator(".scheduler-points li[data-point='permit']")).to_contain_text("ManualApproval")
    before = {pod["uid"] for pod in wait_state(teacher, lambda now: now["pods"], "pods")["pods"]}
    for _ in range(2):
        teacher.get_by_test_id("palette-pod-medium").click()
    lane = teacher.get_by_test_id("queue-lane-permit")
    expect(lane.get_by_test_id("permit-allow")).to_have_count(2)
    expect(lane).to_contain_text("ManualApproval")
    picture(teacher, "permit-waiting")
    lane.get_by_test_id("permit-allow").first.click()
    expect(lane.get_by_test_id("permit-allow")).to_have_count(1)
    lane.get_by_test_id("permit-reject").first.focus()
    teacher.keyboard.press("Enter")
    expect(lane.get_by_test_id("permit-reject")).to_have_count(0)
    now = wait_state(
        teacher,
        lambda now: sum(1 for pod in now["pods"] if pod["uid"] not in before and pod["nodeName"]) == 1,
        "the allowed pod is bound, the rejected one is not",
    )
    assert len([pod for pod in now["pods"] if pod["uid"] not in before]) == 2
