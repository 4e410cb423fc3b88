"""A preemption, held at PostFilter: candidates on the stage, the victims marked, the table in the Decision panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, picture, tells, wait_state
from tests.tools import axe

STEPS_MAX = 12
FILLERS = 9


def pod(name: str, cpu: str, priority_class: str = "") -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": "64Mi"}
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "image": "nginx:1.27", "resources": {"requests": requests}}]
    }
    if priority_class:
        spec["priorityClassName"] = priority_class
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def test_a_preemption_is_shown_before_it_happens(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: sum(node["ready"] for node in now["nodes"]) == 3, "three Ready nodes")
    classroom.cluster(
        "POST",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "urgent"},
            "value": 10_000,
        },
    )
    for number in range(FILLERS):
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod(f"filler-{number}", "900m"))
    wait_state(
        teacher,
        lambda now: len(now["pods"]) >= FILLERS and all(one["phase"] == "Running" for one in now["pods"]),
        "the nodes are full, and every pod has a start time",
    )
    classroom.session("PATCH", "/clock", {"paused": True, "pace": 250})
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod("vip", "1500m", "urgent"))
    held: dict[str, Any] = {}
    for _ in range(STEPS_MAX):
        held = classroom.session("POST", "/clock/step", {"by": "point"})["held"] or {}
        if held.get("point") == "PostFilter":
            break
    assert held == {"pod": "default/vip", "point": "PostFilter", "replica": "kube-scheduler-0"}
    wait_state(teacher, lambda now: now["held"] == held, "the page stands at PostFilter")

    cycle = classroom.cluster("GET", "/apis/clustersim.io/v1/replicas/kube-scheduler-0")["status"]["cycle"]
    preemption = cycle["trace"]["preemption"]
    victim = preemption["victims"][0]
    marked = teacher.locator(f'.st-outline button[data-pod="{victim}"]')
    marked.get_by_text("victim").wait_for(state="attached")

    # The scene comes to its end by itself; any of its steps can be looked at again.
    scene = teacher.get_by_test_id("stage-eviction")
    expect(scene.get_by_test_id("evict-evict")).to_have_attribute("aria-current", "step")
    expect(scene.get_by_test_id("evict-candidates")).to_contain_text(f"3 → {len(preemption['candidates'])}")
    scene.get_by_test_id("evict-dryRun").click()
    expect(scene.get_by_test_id("evict-dryRun")).to_have_attribute("aria-current", "step")
    cut = (
        "() => [...document.querySelectorAll('.st-evict-step > *')]"
        ".filter((one) => one.scrollWidth > one.clientWidth).length"
    )
    tells(teacher, cut, 0, "words of the steps are whole")
    assert axe.problems(teacher) == []
    picture(teacher, "preemption-scene-light")
    expect(teacher.locator(".st-lanes")).to_be_hidden()
    scene.get_by_test_id("evict-close").click()
    expect(scene).to_be_hidden()
    expect(teacher.locator(".st-lanes")).to_be_visible()

    teacher.locator(".st-hand").click()
    table = teacher.get_by_test_id("preemption-table")
    table.wait_for()
    rows = table.locator("tbody tr, tr").filter(has=teacher.locator("th[scope=row]"))
    expect(rows).to_have_count(len(preemption["candidates"]))
    expect(rows.first).to_contain_text(preemption["nominatedNode"])
    expect(rows.first).to_contain_text(victim.removeprefix("default/"))

    # Each lesser pod of the nominated node: its priority, when it started, its budget, what became of it and why.
    account = cycle["trace"]["explanation"]["preemption"]
    told = next(one for one in account["candidates"] if one["node"] == preemption["nominatedNode"])
    fates = teacher.locator(".dc-fates[open] tbody tr")
    expect(fates).to_have_count(len(told["fates"]))
    gone = next(fate for fate in told["fates"] if fate["fate"] == "victim")
    row = teacher.locator(".dc-fates[open] tr[data-fate=victim]").first
    for shown in (
        gone["pod"].removeprefix("default/"),
        str(gone["priority"]),
        gone["startTime"][11:19],
        gone["plugin"],
    ):
        expect(row).to_contain_text(shown)
    steps = teacher.get_by_test_id("preemption-steps").locator("li")
    expect(steps).to_have_count(len(account["steps"]))
    assert [step.get_attribute("data-step") for step in steps.all()] == [step["step"] for step in account["steps"]]
    picture(teacher, "preemption-light")

    # Once time runs again the API is asked, and the list grows by what came of it. The attempt is chosen, since a page
    # that is slow to follow would otherwise show the pod's next one.
    teacher.locator("[data-trace]").last.click()
    classroom.session("PATCH", "/clock", {"paused": False, "pace": 0})
    teacher.locator("[data-step=victimDeleted]").first.wait_for()
