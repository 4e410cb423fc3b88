"""The dock's Compare tab: two schedulers on the same pods, where they differ and why, as tables, charts and a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, picture, wait_state

PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}
  plugins:
    score:
      disabled: [{name: PodTopologySpread}, {name: NodeResourcesBalancedAllocation}]
"""


def test_two_schedulers_are_compared(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("zones")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher(viewport={"width": 1366, "height": 768})
    placed = lambda now: len(now["pods"]) > 5 and all(one["nodeName"] for one in now["pods"])  # noqa: E731
    wait_state(teacher, placed, "the pods of the session have nodes")
    teacher.get_by_test_id("dock-compare").click()
    run, note = teacher.get_by_test_id("compare-run"), teacher.get_by_test_id("compare-note")
    # Nobody waits, so all are compared, with other weights beside: what a first click tells is not nothing.
    expect(teacher.get_by_test_id("compare-input")).to_have_value("anew")
    expect(teacher.get_by_test_id("compare-b-weight-NodeResourcesFit")).to_be_visible()
    teacher.get_by_test_id("compare-input").select_option("now")
    run.click()
    expect(note).to_contain_text("no pod waits for a node")
    teacher.get_by_test_id("compare-input").select_option("anew")
    teacher.get_by_test_id("compare-b").select_option("yaml")
    written = teacher.get_by_test_id("compare-b-yaml")
    written.fill("profils: []")
    run.click()
    expect(note).to_contain_text("profils")
    written.fill(PACKING)
    run.click()
    expect(teacher.get_by_test_id("compare-verdict").locator("b")).to_contain_text("elsewhere")
    rows = teacher.get_by_test_id("compare-pods").locator("tbody tr")
    rows.first.wait_for()
    expect(rows.first.locator(".cmp-why")).not_to_be_empty()
    expect(teacher.get_by_test_id("compare-sum-placed").locator("dd")).not_to_be_empty()
    for chart in ("nodes", "waits"):
        teacher.locator(f'[data-testid="compare-chart-{chart}"][data-drawn] .main-svg').first.wait_for()
    picture(teacher, "compare")
    with teacher.expect_download() as download:
        teacher.get_by_test_id("compare-csv").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0].startswith("pod,nodeA,nodeB")
    assert len(lines) > rows.count() > 0
    name = rows.first.get_by_role("button")
    chosen = name.inner_text()
    name.click()
    expect(teacher.get_by_test_id("inspector")).to_contain_text(chosen)
    teacher.get_by_test_id("compare-b").select_option("weights")
    teacher.get_by_test_id("compare-b-weight-NodeResourcesFit").fill("10")
    teacher.get_by_test_id("compare-input").select_option("20")
    run.click()
    expect(run).to_have_attribute("aria-busy", "false")
    expect(note).to_be_empty()
    expect(teacher.get_by_test_id("compare-optimum")).to_have_count(0)
    picture(teacher, "compare-weights")
