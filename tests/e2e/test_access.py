"""The session in 简体中文, and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state

STOPS_MAX = 16
"""Presses of Tab from the top of the page into the stage: fifteen stops before it."""
KEY_LIKE = re.compile(r"\b(?:stage|lane|rail|replica|hand|decision|plain|pipeline|legend|banner|group)\.\w+")


def test_the_session_speaks_chinese(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: len(now["nodes"]) == 3, "three nodes")
    teacher.get_by_role("button", name=re.compile("中")).first.click()
    lane = teacher.get_by_test_id("queue-lane-active")
    lane.get_by_text("活动").wait_for()
    expect(teacher.get_by_test_id("queue-lane-unschedulable").locator("h2")).to_have_text("无法调度")
    expect(teacher.locator("html")).to_have_attribute("lang", re.compile("^zh"))
    assert not KEY_LIKE.search(teacher.locator("body").inner_text()), "every key has a text"
    picture(teacher, "session-zh-light")
    teacher.reload()
    teacher.get_by_test_id("queue-lane-active").get_by_text("活动").wait_for()


def focus(page: Page) -> str:
    """Return what has the focus: its test id, node, pod or tag."""
    return page.evaluate(
        "() => { const { dataset, tagName } = document.activeElement;"
        " return dataset.testid || dataset.node || dataset.pod || tagName }"
    )


def tab_to(page: Page, wanted: Callable[[str], bool], most: int = 140) -> str:
    """Press Tab until the focus is where it is wanted."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        seen.append(focus(page))
        if wanted(seen[-1]):
            return seen[-1]
    raise AssertionError(f"Tab did not get there: {seen}")


def test_everything_by_keyboard(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: sum(node["ready"] for node in now["nodes"]) == 3, "three Ready nodes")
    wait_state(teacher, lambda now: all(pod["nodeName"] for pod in now["pods"]), "nothing waits")
    before = len(wait_state(teacher, lambda now: True, "any state")["pods"])

    tab_to(teacher, lambda at: at == "palette-node-small")
    for _ in range(4):
        teacher.keyboard.press("ArrowDown")
    assert focus(teacher) == "palette-pod-small", "the palette is one stop, and arrows go through it"
    teacher.keyboard.press("ArrowRight")
    assert focus(teacher) == "palette-pod-small-form"
    teacher.keyboard.press("ArrowLeft")
    teacher.keyboard.press("Enter")
    current = wait_state(
        teacher,
        lambda now: len(now["pods"]) == before + 1 and all(pod["nodeName"] for pod in now["pods"]),
        "the pod is bound",
    )

    names = [node["name"] for node in current["nodes"]]
    teacher.evaluate("() => document.activeElement.blur()")
    stops = 0
    while not teacher.evaluate("() => document.activeElement.closest('#stage') !== null"):
        teacher.keyboard.press("Tab")
        stops += 1
        assert stops <= STOPS_MAX, f"{focus(teacher)}: the stage is too far away"
    first = focus(teacher) if focus(teacher) in names else tab_to(teacher, lambda at: at in names)
    teacher.keyboard.press("ArrowRight")
    second = focus(teacher)
    assert second in names
    assert second != first
    teacher.keyboard.press("Enter")
    wait_state(teacher, lambda now: now["selected"] == {"resource": "nodes", "key": second}, "the node is selected")
    busy = next(pod for pod in current["pods"] if pod["nodeName"])
    target = busy["nodeName"]
    for key in ("Home", "ArrowRight", "ArrowDown", "ArrowLeft"):
        if focus(teacher) == target:
            break
        teacher.keyboard.press(key)
    assert focus(teacher) == target
    teacher.keyboard.press("Tab")
    pod = focus(teacher)
    assert "/" in pod, pod
    teacher.keyboard.press("Enter")
    wait_state(teacher, lambda now: now["selected"] == {"resource": "pods", "key": pod}, "the pod is selected")
    teacher.get_by_test_id("decision-heatmap").wait_for()

    teacher.locator("#stage").focus()
    paused = wait_state(teacher, lambda now: now["clock"] is not None, "the clock runs")["clock"]["paused"]
    teacher.keyboard.press("Space")
    wait_state(teacher, lambda now: now["clock"]["paused"] is not paused, "Space plays and pauses")
