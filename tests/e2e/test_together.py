"""Two people in one session: whose pod it is, at what the other looks, and "look here"."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, picture, wait_state
from tests.tools import axe


def select_node(page: Page, node: str) -> None:
    page.get_by_test_id("stage").locator(f'button[data-node="{node}"]').dispatch_event("click")
    expect(page.get_by_test_id("inspector-name")).to_have_text(node)


def test_two_people_see_whose_it_is_where_the_other_looks_and_what_is_pointed_at(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher, student = classroom.teacher(), classroom.student("Mei K.")
    wait_state(student, lambda now: sum(node["ready"] for node in now["nodes"]) == 3, "three Ready nodes")
    student.get_by_test_id("palette-pod-small").click()
    current = wait_state(
        teacher, lambda now: [pod for pod in now["pods"] if pod["namespace"] == "s-mei-k" and pod["nodeName"]], "placed"
    )
    pod = next(pod for pod in current["pods"] if pod["namespace"] == "s-mei-k")
    whole = f"{pod['namespace']}/{pod['name']}"

    # The student's pod carries initials and namespace wherever it is named, and its changes their author.
    event = teacher.locator(".event-row", has_text=pod["name"]).first
    expect(event.locator("button")).to_have_text(f"MK{whole}")
    teacher.get_by_test_id("dock-log").click()
    expect(teacher.locator(".log-row", has_text=f"MK{whole}").locator(".actor.person").first).to_have_text("MKMei K.")

    # Each sees where the other looks; a mark is no button and takes no focus.
    select_node(student, "n2")
    expect(teacher.locator('.st-looks [data-key="n2"] .face')).to_have_text("MK")
    select_node(teacher, "n2")
    expect(student.locator('.st-looks [data-key="n2"] .face')).to_have_text("TE")
    expect(teacher.locator(".inspector-line")).to_contain_text("also looking")
    teacher.get_by_test_id("people").click()
    expect(teacher.locator(".people-look", has_text="looks at n2")).to_be_visible()
    drawn(teacher)
    assert axe.problems(teacher) == []
    picture(teacher, "together-people-light")
    teacher.keyboard.press("Escape")

    # Who wants to look unseen does, and the teacher can have it off for all.
    student.get_by_test_id("people").click()
    student.get_by_test_id("shareLooks").uncheck()
    student.keyboard.press("Escape")
    expect(teacher.locator('.st-looks [data-key="n2"]')).to_have_count(0)
    expect(student.locator('.st-looks [data-key="n2"]')).to_have_count(1)
    teacher.get_by_test_id("people").click()
    teacher.get_by_test_id("switchLooks").uncheck()
    teacher.keyboard.press("Escape")
    expect(student.locator('.st-looks [data-key="n2"]')).to_have_count(0)

    # "Look here" is an offer: nothing moves until it is taken.
    select_node(teacher, "n3")
    teacher.get_by_test_id("inspector-point").click()
    offer = student.get_by_test_id("toast-action")
    expect(student.locator(".toast", has=offer)).to_contain_text("Teacher points at n3")
    expect(student.get_by_test_id("inspector-name")).to_have_text("n2")
    picture(student, "together-offer-light")
    offer.click()
    expect(student.get_by_test_id("inspector-name")).to_have_text("n3")
    expect(teacher.get_by_test_id("toast-action")).to_have_count(0)
    # Students point, too.
    student.get_by_test_id("inspector-point").click()
    pointed = teacher.locator(".toast", has=teacher.get_by_test_id("toast-action"))
    expect(pointed).to_contain_text("points at n3")


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_a_phone_shows_the_pod_in_hand_its_best_nodes_and_ones_own_pod_as_a_story(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    phone = classroom.student("Mei K.", **PHONE)
    wait_state(phone, lambda now: sum(node["ready"] for node in now["nodes"]) == 3, "three Ready nodes")
    wait_state(phone, lambda now: all(pod["nodeName"] for pod in now["pods"]) and now["pods"], "the template's pods")
    classroom.session("PATCH", "/clock", {"paused": True})
    phone.get_by_test_id("phone-tab-create").click()
    phone.get_by_test_id("phone-pod-small").click()
    wait_state(phone, lambda now: [pod for pod in now["pods"] if pod["namespace"] == "s-mei-k"], "a pod of one's own")

    # Step by step to Score: the nodes rise on the phone as on the wall.
    for _ in range(40):
        held = classroom.session("POST", "/clock/step", {"by": "point"})["held"]
        if held and held["pod"].startswith("s-mei-k/") and held["point"] == "Score":
            break
    phone.get_by_test_id("phone-tab-now").click()
    expect(phone.get_by_test_id("phone-hand")).to_have_text("MK small-1 · s-mei-k")
    expect(phone.get_by_test_id("phone-best").locator("li")).to_have_count(3)
    expect(phone.locator(".phone-rail [aria-current=step]")).to_have_text("Score")
    drawn(phone)
    assert axe.problems(phone) == []
    picture(phone, "phone-now-light")

    # One's own pod is a story that ends with its reason.
    classroom.session("PATCH", "/clock", {"paused": False, "pace": 0})
    phone.get_by_test_id("phone-tab-pods").click()
    placed = phone.locator('.phone-story li[class^="story-placed"]')
    expect(placed).to_contain_text("→ n")
    expect(placed).to_contain_text("points")
    expect(phone.locator(".phone-story .story-is_running")).to_have_text("it runs")
    drawn(phone)
    assert axe.problems(phone) == []
    picture(phone, "phone-story-light")
    phone.locator("[data-lang='zh-hans'], button:has-text('中')").first.click()
    expect(phone.locator(".phone-story .story-is_running")).to_have_text("正在运行")
    picture(phone, "phone-story-zh")
