"""The What if tab: a pending pod is made to fit, on a copy and for good, and a past decision is taken again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state


def pod(name: str, cpu: str) -> dict[str, Any]:
    container = {"name": "main", "image": "nginx:1.27", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def node_of(page: Page, name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda now: any(one["name"] == name and one["nodeName"] for one in now["pods"])


def test_a_pending_pod_is_made_to_fit_and_its_decision_is_taken_again(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher()
    placed = lambda now: now["pods"] and all(one["nodeName"] for one in now["pods"])  # noqa: E731
    wait_state(teacher, placed, "the pods of the session have nodes")
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("large", "64"))
    lane = teacher.get_by_test_id("queue-lane-unschedulable")
    lane.locator(".st-row").first.click()
    teacher.get_by_test_id("inspector-tab-whatif").click()
    fits = teacher.get_by_test_id("fit")
    less = fits.first
    expect(less.locator("b")).to_contain_text("instead of cpu 64")
    less.get_by_role("button", name="Try on a copy").click()
    copy = less.get_by_test_id("fit-copy")
    copy.wait_for()
    picture(teacher, "whatif-fits")
    there = classroom.watch(teacher.context.new_page())
    there.goto(copy.get_attribute("href") or "")
    wait_state(there, node_of(there, "large"), "the copy's pod has a node")
    there.close()
    held = classroom.cluster("GET", "/api/v1/namespaces/default/pods/large")
    assert "nodeName" not in held["spec"], "the session itself is as it was"
    less.get_by_role("button", name="Apply").click()
    # The list of changes goes with the pod's wait: the way back is offered beside it.
    expect(teacher.get_by_test_id("toast-action").filter(has_text="Undo")).to_be_visible()
    wait_state(teacher, node_of(teacher, "large"), "the pod has a node")
    fits.first.wait_for(state="hidden")
    taints = teacher.get_by_test_id("weight-TaintToleration")
    # What the class would have seen elsewhere under each weight of a plugin, told beside its slider.
    alone = teacher.get_by_test_id("alone-TaintToleration")
    expect(teacher.get_by_test_id("whatif-alone")).to_contain_text("elsewhere if changed alone")
    expect(alone).to_have_text(["0"] * 6)
    expect(alone.nth(3)).to_have_class("wi-cell here")
    taints.fill("0")
    expect(alone.nth(0)).to_have_class("wi-cell here")
    teacher.get_by_test_id("whatif-reset").click()
    asked = teacher.get_by_test_id("whatif-cpu")
    asked.fill("64")
    verdict = teacher.get_by_test_id("whatif-verdict")
    expect(verdict).to_contain_text("→ no node")
    # The nodes show the difference, too; the table of nodes says it.
    on_stage = teacher.get_by_test_id("stage-trial")
    expect(on_stage).to_contain_text("would go from")
    chosen = teacher.locator(".st-outline tr", has_text="was chosen")
    expect(chosen).to_contain_text("Insufficient cpu")
    picture(teacher, "whatif-difference")
    asked.fill("")
    teacher.get_by_test_id("whatif-disable").select_option("NodeResourcesFit")
    teacher.get_by_test_id("whatif-last").click()
    expect(teacher.get_by_test_id("whatif-elsewhere")).to_contain_text("would have gone elsewhere")
    expect(on_stage).to_contain_text("pods would have gone elsewhere")
    expect(teacher.locator(".st-outline tr", has_text="of the last").first).to_be_attached()
    picture(teacher, "whatif-last")
    on_stage.get_by_test_id("stage-trial-leave").click()
    on_stage.wait_for(state="hidden")
    teacher.get_by_test_id("whatif-era").select_option("round-robin")
    expect(verdict.locator("span")).to_be_empty()
    expect(verdict).to_be_visible()
    assert not classroom.problems
