"""Faults of replicas from the page, the whole palette readable, and a phone whose language is switched."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.e2e.conftest import Classroom, laid, wait_state


def test_a_teacher_chooses_a_fault_and_the_replica_has_it(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("ha")
    teacher = classroom.teacher()
    teacher.get_by_test_id("fault-of-kube-scheduler-0").click()
    dialog = teacher.get_by_test_id("fault-dialog")
    expect(dialog.get_by_role("radio")).to_have_count(9)
    dialog.get_by_test_id("fault-release").check()
    expect(dialog.get_by_test_id("fault-seconds")).to_be_hidden()
    dialog.get_by_test_id("fault-skew").check()
    dialog.get_by_test_id("fault-seconds").fill("")
    dialog.get_by_test_id("dialog-submit").click()
    expect(dialog.locator("#fault-seconds-error")).not_to_be_empty()
    dialog.get_by_test_id("fault-slow-watch").check()
    dialog.get_by_test_id("fault-seconds").fill("7")
    dialog.get_by_test_id("dialog-submit").click()
    expect(dialog).to_have_count(0)
    expect(teacher.get_by_test_id("replica-kube-scheduler-0")).to_contain_text("Slow watch")
    replica = next(one for one in classroom.session("GET", "/replicas") if one["identity"] == "kube-scheduler-0")
    assert (replica["fault"]["kind"], replica["fault"]["seconds"]) == ("slow-watch", 7)

    cut = teacher.evaluate(
        "() => [...document.querySelectorAll('.palette-item .label')]"
        ".filter(label => label.scrollWidth > label.clientWidth).map(label => label.textContent)"
    )
    assert cut == []


def test_a_phone_tells_what_its_buttons_do_in_the_language_it_is_in(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    phone = classroom.student("Bo", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.get_by_test_id("phone-tab-create").click()
    # What this session has no class for is not offered to who cannot make one.
    high = phone.get_by_test_id("phone-pod-high-priority")
    expect(high).to_have_attribute("aria-disabled", "true")
    expect(high).to_contain_text("PriorityClass high-priority does not exist yet")
    phone.get_by_test_id("phone-pod-small").click()
    laid(phone, "notice.top >= tabs.bottom", "a notice hides no tab", notice=".toast", tabs=".phone-tabs")
    mine = wait_state(phone, lambda now: [pod for pod in now["pods"] if pod["namespace"] == "s-bo"], "a pod")["pods"]
    name = next(pod["name"] for pod in mine if pod["namespace"] == "s-bo")
    phone.get_by_test_id("phone-tab-pods").click()
    button = phone.locator(".phone-pods button").first
    expect(button).to_have_attribute("aria-label", f"Delete {name}")
    phone.locator("[data-lang='zh-hans'], button:has-text('中')").first.click()
    expect(button).to_have_attribute("aria-label", f"删除 {name}")


def test_a_pod_that_waits_while_no_scheduler_runs_is_told_why_and_what_to_do(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    teacher = classroom.teacher()
    wait_state(teacher, lambda now: now["pods"] and all(pod["nodeName"] for pod in now["pods"]), "nothing waits")
    teacher.get_by_test_id("palette-crash").click()
    expect(teacher.get_by_test_id("replica-kube-scheduler-0")).to_have_attribute("data-state", "crashed")
    teacher.get_by_test_id("palette-pod-small").click()
    pending = wait_state(teacher, lambda now: [pod for pod in now["pods"] if not pod["nodeName"]], "a pod waits")[
        "pods"
    ]
    name = next(pod["name"] for pod in pending if not pod["nodeName"])
    expect(teacher.get_by_test_id("stage-idle")).to_contain_text("no scheduler runs. Recover")
    teacher.get_by_test_id("queue-lane-active").get_by_role("button", name=name).click()
    expect(teacher.locator(".dc-empty")).to_contain_text("kube-scheduler-0 has crashed")
    teacher.get_by_test_id("inspector-tab-summary").click()
    expect(teacher.locator(".facts")).to_contain_text("No scheduler runs")
    teacher.get_by_test_id("palette-recover").click()
    wait_state(teacher, lambda now: all(pod["nodeName"] for pod in now["pods"]), "it has its node")
    expect(teacher.locator(".facts")).not_to_contain_text("No scheduler runs")
