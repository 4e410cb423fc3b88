"""A teacher presents to a class and a wall: who follows, leaves and returns, and what the wall shows of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, picture, wait_state
from tests.e2e.test_accessible import PHONE
from tests.tools import axe

WALL = {"viewport": {"width": 1024, "height": 768}, "color_scheme": "light"}


def select_node(page: Page, node: str) -> None:
    page.get_by_test_id("stage").locator(f'button[data-node="{node}"]').dispatch_event("click")
    expect(page.get_by_test_id("inspector-name")).to_have_text(node)


def test_a_class_and_its_wall_follow_leave_and_return(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "100m"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}}
    classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod)
    wall_seat = classroom.session("POST", "/people", {"role": "viewer", "name": "Wall"})
    teacher, student = classroom.teacher(), classroom.student("Mei K.")
    wall = classroom.watch(classroom.context(**WALL).new_page())
    wall.goto(wall_seat["url"])
    wait_state(teacher, lambda now: [one for one in now["pods"] if one["nodeName"]], "web is placed")
    wait_state(student, lambda now: len(now["nodes"]) == 3, "the student sees the nodes")
    expect(student.get_by_test_id("present")).to_be_hidden()

    teacher.get_by_test_id("present").click()
    expect(student.get_by_test_id("band-title")).to_have_text("Following Teacher")
    expect(teacher.get_by_test_id("band-title")).to_have_text("You are presenting")
    select_node(teacher, "n2")
    expect(student.get_by_test_id("inspector-name")).to_have_text("n2")
    expect(wall.get_by_test_id("stage")).to_be_visible()
    expect(wall.get_by_test_id("band-title")).to_be_hidden()
    expect(wall.get_by_test_id("inspector")).to_be_hidden()
    drawn(student)
    picture(student, "presenting-student-light")
    picture(wall, "presenting-wall-stage")

    # A moment of the past, a tab of the dock, a tab of the inspector: all of it is one thing to follow.
    teacher.get_by_test_id("dock-timeline").click()
    expect(student.get_by_test_id("dock-timeline")).to_have_attribute("aria-selected", "true")
    teacher.get_by_test_id("inspector-tab-yaml").click()
    expect(student.get_by_test_id("inspector-tab-yaml")).to_have_attribute("aria-selected", "true")
    teacher.evaluate(
        "history.pushState(null, '', location.pathname + '?rv=5'); dispatchEvent(new PopStateEvent('popstate'))"
    )
    expect(student.get_by_test_id("past-title")).to_contain_text("revision 5")
    expect(wall.get_by_test_id("past-title")).to_contain_text("revision 5")
    picture(teacher, "presenting-teacher-light")
    teacher.get_by_test_id("past-now").click()
    expect(student.get_by_test_id("past-title")).to_be_hidden()

    # Leaving by a key and by a touch; the presenter goes on, and F returns to where they are by then.
    student.keyboard.press("Escape")
    expect(student.get_by_test_id("band-title")).to_have_text("Teacher is presenting")
    select_node(teacher, "n3")
    expect(wall.locator("body")).to_have_attribute("data-scene", "stage")
    expect(student.get_by_test_id("inspector-name")).to_have_text("n2")
    student.keyboard.press("f")
    expect(student.get_by_test_id("band-title")).to_have_text("Following Teacher")
    expect(student.get_by_test_id("inspector-name")).to_have_text("n3")
    student.get_by_test_id("inspector-tab-summary").click()
    expect(student.get_by_test_id("band-leave")).to_have_text("Return to TeacherF")
    assert axe.problems(student) == []
    student.get_by_test_id("band-leave").click()
    expect(student.get_by_test_id("band-title")).to_have_text("Following Teacher")

    # The wall shows a decision alone, then the election alone.
    address = teacher.url.partition("?")[0]
    teacher.goto(f"{address}?pod=default/web&tab=decision")
    expect(teacher.get_by_test_id("band-title")).to_have_text("You are presenting")
    expect(teacher.get_by_test_id("inspector-name")).to_have_text("web")
    teacher.get_by_test_id("band-scene").select_option("decision")
    expect(wall.locator("body")).to_have_attribute("data-scene", "decision")
    expect(wall.get_by_test_id("stage")).to_be_hidden()
    expect(wall.locator(".dc-body")).to_contain_text("n1")
    expect(wall.locator(".dc-body .main-svg").first).to_be_visible()
    drawn(wall)
    picture(wall, "presenting-wall-decision")
    # What the teacher scrolls to is read on the wall, too, and at the top again.
    body = "document.querySelector('.inspector-body')"
    teacher.evaluate(f"{body}.scrollTop = {body}.scrollHeight")
    wait_state(wall, lambda now: wall.evaluate(f"{body}.scrollTop") > 0, "the wall reads on")
    teacher.evaluate(f"{body}.scrollTop = 0")
    wait_state(wall, lambda now: wall.evaluate(f"{body}.scrollTop") == 0, "the wall is back at the top")
    teacher.get_by_test_id("band-scene").select_option("election")
    teacher.get_by_test_id("dock-election").click()
    expect(wall.locator("body")).to_have_attribute("data-scene", "election")
    expect(wall.locator("#dock .main-svg").first).to_be_visible()
    expect(wall.get_by_test_id("stage")).to_be_hidden()
    picture(wall, "presenting-wall-election")

    # Frozen: said where it is felt; thawed and over for everybody at once.
    teacher.get_by_test_id("band-freeze").click()
    expect(student.locator(".band-note")).to_have_text("Frozen by the teacher")
    teacher.get_by_test_id("band-leave").click()
    expect(student.get_by_test_id("band-title")).to_have_text("Frozen by the teacher")
    expect(wall.locator("body")).not_to_have_attribute("data-scene", "election")
    teacher.get_by_test_id("band-freeze").click()
    expect(student.get_by_test_id("band-title")).to_be_hidden()
    expect(teacher.get_by_test_id("band-title")).to_be_hidden()

    # What was followed is still open; folding the charts gives the page back.
    student.locator(".dock-head > button.ghost").click()
    # The class: who has arrived, a name, a mute, what somebody did taken back.
    student.get_by_test_id("palette-pod-small").click()
    wait_state(teacher, lambda now: [one for one in now["pods"] if one["namespace"] == "s-mei-k"], "Mei's pod is there")
    teacher.get_by_test_id("class").click()
    dialog = teacher.get_by_test_id("class-dialog")
    expect(dialog.get_by_test_id("class-arrived")).to_have_text("1 of 1 phone or laptop here")
    expect(dialog.locator(".class-light.on")).to_have_count(1)
    dialog.locator(".class-name").fill("Mei")
    dialog.get_by_role("button", name="Undo 5 min").focus()
    expect(teacher.get_by_test_id("people")).to_contain_text("ME")
    dialog.get_by_role("button", name="Undo 5 min").click()
    wait_state(
        teacher, lambda now: not [one for one in now["pods"] if one["namespace"] == "s-mei-k"], "it is taken back"
    )
    dialog.get_by_role("button", name="Mute", exact=True).click()
    expect(student.get_by_test_id("band-title")).to_have_text("Muted by the teacher")
    dialog.get_by_role("button", name="Unmute").click()
    assert axe.problems(teacher) == []
    picture(teacher, "class-dialog-light")
    teacher.keyboard.press("Escape")

    # Copies: handed out, seen as a tile by seat, stuck in the scheduler's own words, looked into.
    teacher.get_by_test_id("room").click()
    expect(teacher.locator("#room")).to_contain_text("No copies yet")
    teacher.get_by_test_id("room-hand-out").click()
    tile = teacher.locator(".room-tile")
    expect(tile).to_contain_text("nothing done yet")
    [copy] = classroom.session("GET", "/copies")
    student.get_by_test_id("toast-action").click()
    expect(student.get_by_test_id("to-class")).to_have_attribute("href", f"/s/{classroom.code}")
    assert copy["code"] in student.url
    address = f"/api/sessions/{classroom.code}/copies/{copy['code']}/enter"
    inside = student.evaluate("async (url) => (await (await fetch(url, {method: 'POST'})).json())", address)
    container["resources"]["requests"]["cpu"] = "9"
    path = f"/clusters/{copy['code']}/api/v1/namespaces/default/pods"
    # What a copy does tells its tile anew under whoever has the keyboard there.
    tile.focus()
    status, _ = classroom.server.obeyed("POST", path, {**pod, "metadata": {"name": "vip"}}, inside["token"])
    assert status == 201
    expect(tile).to_contain_text("Preemption is not helpful for scheduling")
    expect(teacher.locator(".room-reasons button")).to_contain_text("Preemption is not helpful")
    expect(tile).to_be_focused()
    # By keys alone: digits choose a state of tiles, Enter a tile, Enter again looks into it, W puts it on the wall.
    teacher.keyboard.press("2")
    expect(teacher.locator("#room [data-state=stuck]")).to_have_attribute("aria-pressed", "true")
    # Those that are shown get this moment alone; names that are switched on stay here unless the wall is meant, too.
    some = teacher.get_by_test_id("room-hand-some")
    expect(some).to_have_text("Hand out to the 1 shown")
    teacher.keyboard.press("1")
    expect(some).to_be_hidden()
    teacher.get_by_test_id("room-names").check()
    expect(tile).to_contain_text("Mei")
    picture(teacher, "room-names-light")
    teacher.get_by_test_id("room-names-here").click()
    expect(teacher.get_by_test_id("room-names-wall")).to_be_hidden()
    assert not classroom.session("GET", "/wall")["names"]
    teacher.get_by_test_id("room-names").uncheck()
    expect(tile).to_contain_text("Seat 3")
    tile.focus()
    teacher.keyboard.press("Enter")
    expect(teacher.locator(".room-foot")).to_contain_text("Seat 3")
    drawn(teacher)
    assert axe.problems(teacher) == []
    picture(teacher, "room-light")
    with teacher.expect_popup() as opened:
        teacher.keyboard.press("Enter")
    looking = classroom.watch(opened.value)
    wait_state(looking, lambda now: [one for one in now["pods"] if one["name"] == "vip"], "the teacher sees the copy")
    expect(student.get_by_test_id("onlookers")).to_have_attribute("title", "Teacher is looking")
    expect(student.locator("#toasts")).to_contain_text("Teacher is looking")
    picture(student, "copy-looked-into")
    ada = classroom.student("Ada L.", **PHONE)
    tile.focus()
    teacher.keyboard.press("w")
    asked_about_the_accident(classroom, copy["code"], teacher, wall, ada)


def asked_about_the_accident(classroom: Classroom, copy: str, teacher: Page, wall: Page, phone: Page) -> None:
    """It is the next question at once: the wall shows it, whoever asks leads there, a phone goes there and back."""
    for page in (wall, teacher):
        page.wait_for_url(lambda url: classroom.code not in url)
        wait_state(page, lambda now: [one for one in now["pods"] if one["name"] == "vip"], "the accident is there")
        assert copy not in page.url
    expect(wall.get_by_test_id("wall-question")).to_contain_text("vip")
    picture(wall, "room-wall-accident")
    phone.get_by_test_id("phone-wall").click()
    phone.get_by_test_id("vote-option-n1").click()
    phone.get_by_test_id("vote-send").click()
    expect(phone.locator("[data-testid^=because-]").last).to_be_visible()
    assert axe.problems(phone) == []
    picture(phone, "room-wall-phone")
    expect(teacher.get_by_test_id("lead-count")).to_contain_text("1 of 1 voted")
    picture(teacher, "room-wall-leads")
    teacher.get_by_test_id("lead-reveal").click()
    expect(wall.get_by_test_id("wall-answer")).to_contain_text("no node")
    picture(wall, "room-wall-answer")
    expect(teacher.get_by_test_id("to-class")).to_have_attribute("href", f"/s/{classroom.code}")
    went: list[str] = []
    wall.on("request", lambda request: went.append(request.url) if request.is_navigation_request() else None)
    classroom.session("DELETE", f"/copies/{wall.url.partition('/s/')[2][:7]}/wall")
    wall.wait_for_url(lambda url: classroom.code in url)
    wait_state(wall, lambda now: now["connection"] == "live", "the wall is back")
    assert len(went) == 1, "it goes back once, however much it is told meanwhile"
    phone.get_by_test_id("phone-wall-over").click()
    phone.wait_for_url(f"**/s/{classroom.code}")
    expect(phone.get_by_test_id("phone-wall")).to_be_hidden()


HEARS = """
  window.heard = [];
  const said = document.getElementById("announcer");
  const all = { childList: true, characterData: true, subtree: true };
  new MutationObserver(() => window.heard.push(said.textContent)).observe(said, all);
"""
"""Keeps what a screen reader would read out of the page's live region."""


@pytest.mark.parametrize(
    ("lang", "frozen", "over", "yours"),
    [
        ("en", "Frozen by the teacher", "Your changes are taken again.", "A copy of this moment is yours"),
        ("zh-hans", "已被教师冻结", "现在又可以更改了。", "此刻的一份副本已归你"),
    ],
)
def test_a_phone_is_told_of_a_freeze_and_of_a_copy_that_it_is_handed(
    open_classroom: Callable[[str], Classroom], lang: str, frozen: str, over: str, yours: str
) -> None:
    classroom = open_classroom("three-nodes")
    mei, ada = (classroom.student(name, **PHONE) for name in ("Mei K.", "Ada L."))
    for phone in (mei, ada):
        phone.locator(f".languages button[lang={'en' if lang == 'en' else 'zh-Hans'}]").click()
        drawn(phone)
        phone.evaluate(HEARS)

    # Whatever a student has open, and said to who only hears.
    classroom.session("PUT", "/frozen", {"frozen": True})
    for tab in ("now", "pods", "create"):
        mei.get_by_test_id(f"phone-tab-{tab}").click()
        expect(mei.get_by_test_id("phone-stopped")).to_contain_text(frozen)
    wait_state(mei, lambda _: frozen in mei.evaluate("window.heard.join()"), "the freeze is heard")
    assert axe.problems(mei) == []
    picture(mei, f"phone-frozen-{lang}")
    classroom.session("PUT", "/frozen", {"frozen": False})
    expect(mei.get_by_test_id("phone-stopped")).to_be_hidden()
    wait_state(mei, lambda _: over in mei.evaluate("window.heard.join()"), "that it is over is heard")

    # A copy for one of them is told to that one alone, and stands there until it is opened.
    [seat] = [one["id"] for one in classroom.session("GET", "/people") if one["name"] == "Mei K."]
    [copy] = classroom.session("POST", "/copies", {"people": [seat], "seeds": "same"})
    expect(mei.locator(".phone-handed", has=mei.get_by_test_id("phone-copy"))).to_contain_text(yours)
    wait_state(mei, lambda _: yours in mei.evaluate("window.heard.join()"), "the copy is heard of")
    assert axe.problems(mei) == []
    picture(mei, f"phone-copy-{lang}")
    classroom.session("PUT", "/frozen", {"frozen": True})
    expect(ada.get_by_test_id("phone-stopped")).to_be_visible()
    expect(ada.get_by_test_id("phone-copy")).to_be_hidden()
    mei.get_by_test_id("phone-copy").click()
    mei.wait_for_url(f"**/s/{copy['code']}**")
    expect(mei.get_by_test_id("phone-home")).to_have_attribute("href", f"/s/{classroom.code}")
    expect(mei.get_by_test_id("phone-stopped")).to_be_hidden()
