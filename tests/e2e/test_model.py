"""The Model tab of the dock: the loop's branch, the nested sets and each filter on each node for the selected pod."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, picture, wait_state


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "nginx:1.27", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


@pytest.mark.parametrize(("theme", "locale"), [("light", "en-GB"), ("dark", "zh-CN")])
def test_the_model_tab_follows_the_selected_pod(
    open_classroom: Callable[[str], Classroom], theme: str, locale: str
) -> None:
    classroom = open_classroom("gpu-lab")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher(color_scheme=theme, locale=locale)
    wait_state(teacher, lambda now: sum(bool(one["nodeName"]) for one in now["pods"]) == 12, "twelve bound pods")
    soft = {"key": "quiet", "value": "", "effect": "PreferNoSchedule"}
    gpu = classroom.cluster("GET", "/api/v1/nodes/gpu-2")
    del gpu["metadata"]["resourceVersion"]
    gpu["spec"]["taints"] = [soft]
    classroom.cluster("PUT", "/api/v1/nodes/gpu-2", gpu)
    huge = pod("huge", "7500m", nodeSelector={"accelerator": "gpu"})
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", huge)
    wait_state(teacher, lambda now: any(one["name"] == "huge" for one in now["pods"]), "the pod is there")
    teacher.get_by_test_id("dock-model").click()
    lane = teacher.get_by_test_id("queue-lane-unschedulable")
    lane.locator(".st-row").first.click()
    teacher.get_by_test_id("model").wait_for()
    enabled = teacher.locator('[data-testid="model-case"] [aria-current="true"]')
    enabled.wait_for()
    picture(teacher, f"model-{theme}")
    expect(enabled).to_have_text("OTHER ⟶ UNCHANGED", use_inner_text=True)
    rows = teacher.locator(".model-nodes tbody tr")
    expect(rows).to_have_count(15)
    told = {rows.nth(index).locator("th").inner_text().strip(): rows.nth(index) for index in range(15)}
    selector = told["plain-1"].locator("td").nth(2)
    expect(selector).to_have_class(re.compile(r"\bfails\b"))
    expect(selector).to_have_attribute("title", re.compile(r"Node\.Labels\[Label\]$"))
    # An untolerated PreferNoSchedule taint is hard here.
    expect(told["gpu-2"].locator("td.fails.apart")).to_have_count(1)
    teacher.get_by_test_id("model-trace").click()
    teacher.locator(".decision-root").wait_for()
    classroom.cluster("DELETE", "/api/v1/namespaces/default/pods/huge")
    wait_state(teacher, lambda now: all(one["name"] != "huge" for one in now["pods"]), "the pod is gone")
    assert not classroom.problems
