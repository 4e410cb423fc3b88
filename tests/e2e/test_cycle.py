"""One scheduling cycle, held and stepped point by point."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state

POINTS = ("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind")
STEPS_MAX = 30


def settled(now: dict) -> bool:
    return bool(now["nodes"]) and all(node["ready"] for node in now["nodes"])


def current_point(page: Page) -> str:
    return page.evaluate("() => document.querySelector('.st-point[data-state=current]')?.dataset.point ?? ''")


def test_a_cycle_is_stepped_point_by_point(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    # Scores stand at once where a person asked for less motion: the picture is of their end.
    teacher = classroom.teacher(reduced_motion="reduce")
    wait_state(teacher, settled, "the nodes are Ready")
    wait_state(teacher, lambda now: all(pod["nodeName"] for pod in now["pods"]), "what the template brought is placed")
    teacher.get_by_test_id("clock-play").click()
    wait_state(teacher, lambda now: now["clock"]["paused"], "time is held")
    teacher.get_by_test_id("palette-pod-medium").click()
    current = wait_state(teacher, lambda now: [pod for pod in now["pods"] if not pod["nodeName"]], "a pod waits")
    pod = next(pod for pod in current["pods"] if not pod["nodeName"])
    key = f"{pod['namespace']}/{pod['name']}"

    seen: list[str] = []
    placed = False
    for _ in range(STEPS_MAX):
        with teacher.expect_response("**/clock/step") as answered:
            teacher.get_by_test_id("clock-step-point").click()
        answer = answered.value.json()
        current = wait_state(
            teacher, lambda now, rv=answer["revision"]: now["revision"] >= rv, f"the page after {seen}"
        )
        held = answer["held"]
        if held and held["pod"] == key:
            seen.append(held["point"])
            teacher.locator(f'.st-point[data-state="current"][data-point="{held["point"]}"]').wait_for()
            if held["point"] == "Score":
                teacher.locator(".st-tie, .st-outline td:has-text('pts')").first.wait_for(state="attached")
                picture(teacher, "cycle-score-light")
                # Who listens hears of it, too.
                expect(teacher.get_by_test_id("stage-heard")).to_contain_text("point")
                # Who asks the class about it now is told that the class may have seen the answer.
                teacher.get_by_test_id("queue-lane-active").get_by_role("button", name=pod["name"]).click()
                teacher.get_by_test_id("inspector-ask").click()
                expect(teacher.get_by_test_id("ask-seen")).to_contain_text("stands at Score")
                teacher.get_by_test_id("ask-dialog").get_by_role("button", name="Cancel").click()
        placed = any(one["nodeName"] for one in current["pods"] if one["uid"] == pod["uid"])
        if placed and (held is None or held["pod"] != key):
            break
    assert placed, seen
    order = [point for point in POINTS if point in seen]
    assert [point for point in seen if point in POINTS] == order, f"points come in order, none twice: {seen}"
    assert {"PreFilter", "Filter", "Score", "Reserve"} <= set(seen), seen

    trace = classroom.session("GET", f"/decisions?pod={key}")[0]
    node = next(one["nodeName"] for one in current["pods"] if one["uid"] == pod["uid"])
    assert trace["result"]["chosen"] == node
    assert node in trace["result"]["best"]
    assert current_point(teacher) in ("", *POINTS)
