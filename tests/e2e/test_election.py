"""The dock's tabs Leader election and Watches: who believed that they led, who heard what, told as it comes."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, picture, wait_state


def leader(classroom: Classroom) -> str:
    """Return the scheduler that leads."""
    found = [
        one["identity"]
        for one in classroom.session("GET", "/replicas")
        if one["leading"] and one["component"] == "kube-scheduler"
    ]
    assert len(found) == 1
    return str(found[0])


def test_a_crash_leaves_a_gap_and_another_leads(open_classroom: Callable[[str], Classroom], tmp_path: Path) -> None:
    classroom = open_classroom("ha")
    classroom.session("PATCH", "/clock", {"pace": 0, "rate": 10})
    page = classroom.teacher()
    old = leader(classroom)
    # A component that runs outside holds a lock of its own.
    held = {"holderIdentity": "outside_1", "leaseDurationSeconds": 36_000, "renewTime": "2031-01-01T00:00:00.000000Z"}
    lease = {"metadata": {"name": "outside-scheduler"}, "spec": held}
    classroom.cluster("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease)
    expect(page.get_by_test_id("outside-outside-scheduler")).to_contain_text("outside_1")
    page.get_by_test_id("dock-election").click()
    chart = page.get_by_test_id("election-chart")
    chart.locator(".main-svg").first.wait_for()
    # All that is known: a minute is over soon while time runs ten times as fast.
    page.locator('.election [data-minutes="Infinity"]').click()
    card = page.get_by_test_id(f"election-card-{old}")
    expect(card).to_have_attribute("data-state", "leader")
    table = page.get_by_test_id("election-table")
    table.locator("summary").click()
    expect(table.locator("tbody")).not_to_contain_text("nobody led")

    classroom.session("POST", f"/replicas/{old}/fault", {"kind": "crash"})
    expect(card).to_have_attribute("data-state", "down")
    expect(page.get_by_test_id("election-why")).to_contain_text("was gone, and told nobody")
    new = leader(classroom)
    assert new != old
    expect(page.get_by_test_id(f"election-card-{new}")).to_have_attribute("data-state", "leader")
    row = table.locator("tbody tr").filter(has_text="nobody led for")
    expect(row).to_have_count(1)
    expect(row).to_contain_text(new)
    expect(table.locator("tbody")).to_contain_text(f"for {new} the lease of {old} is over")
    told = re.search(r"nobody led for ([\d.]+) s", row.inner_text())
    assert told, row.inner_text()
    assert 8 <= float(told[1]) <= 22, "a lease of 15 s from its last renewal that was seen, and a try"
    expect(chart.get_by_text(f"nobody led for {told[1]} s")).to_have_count(1)
    classroom.session("PATCH", "/clock", {"paused": True})
    picture(page, "election")

    page.get_by_test_id("election-export").click()
    with page.expect_download() as taken:
        page.get_by_test_id("election-csv-election").click()
    file = tmp_path / "election.csv"
    taken.value.save_as(file)
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert list(rows[0]) == ["simulatedTime", "replica", "what", "detail"]
    assert any("nobody led for" in one["what"] for one in rows)
    assert any("renewed the lease" in one["what"] and one["replica"] == old for one in rows), "from the log's history"

    # Just before, nothing of it had happened.
    page.get_by_role("button", name="Hold the page just before").first.click()
    expect(page.locator("#past")).to_be_visible()
    expect(card).to_have_attribute("data-state", "leader")
    expect(table.locator("tbody")).not_to_contain_text("nobody led")
    page.get_by_test_id("past-now").click()
    expect(table.locator("tbody")).to_contain_text("nobody led for")

    # The other component has its own election, in which nothing happened.
    page.get_by_test_id("election-kube-controller-manager").click()
    expect(page.get_by_test_id("election-card-kube-controller-manager-0")).to_be_visible()
    expect(table.locator("tbody")).not_to_contain_text("nobody led")

    # A leader's clock made slow by a hand on the slider; each row is drawn by its own clock where that is asked.
    slow = page.get_by_test_id("election-rate")
    expect(page.locator(".election-rate")).to_contain_text("At 0.8× or faster")
    slow.fill("0.5")
    expect(page.get_by_test_id("election-card-kube-controller-manager-0")).to_contain_text("clock runs at 0.5×")
    expect(slow).to_have_value("0.5")
    page.get_by_test_id("election-own-clock").click()
    expect(page.locator(".election-chart header")).to_contain_text("by its replica's own clock")
    chart.get_by_text("clock runs at 0.5×").first.wait_for()
    picture(page, "election-own-clocks")
    slow.fill("1")
    expect(page.get_by_test_id("election-card-kube-controller-manager-0")).not_to_contain_text("clock runs at")

    # Who leads now has its watch cut off, hears nothing of what comes, is told 410, and lists again.
    classroom.session("PATCH", "/clock", {"paused": False, "rate": 5})
    page.get_by_test_id("dock-watches").click()
    page.get_by_test_id("watches-chart").locator(".main-svg").first.wait_for()
    lane = page.get_by_test_id("watches-now").locator("tbody tr").filter(has_text=new)
    expect(lane.locator("td").first).to_have_text("level")
    classroom.session("POST", f"/replicas/{new}/fault", {"kind": "drop-watch", "seconds": 3600})
    expect(lane.locator("td").first).to_have_text("nothing comes over its watch")
    container = {"name": "main", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m"}}}
    unheard = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "unheard"}, "spec": {"containers": [container]}}
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", unheard)
    expect(lane.locator("td").nth(2)).not_to_have_text("0")
    picture(page, "watches")
    classroom.session("POST", f"/replicas/{new}/fault", {"kind": "recover"})
    expect(lane.locator("td").first).to_have_text("level")
    expect(lane.locator("td").nth(2)).to_have_text("0")
    expect(lane.locator("td").nth(5)).to_have_text("1")
    expect(lane.locator("td").nth(3)).not_to_have_text("0")
    wait_state(
        page, lambda now: any(one["name"] == "unheard" and one["nodeName"] for one in now["pods"]), "it is bound"
    )
