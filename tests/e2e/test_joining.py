"""The join code on the wall: a QR only where a phone that scans it finds something, else how to get there."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import Classroom, picture, wait_state
from tests.tools.server import Server
from tests.whatif.test_why import CLUSTER


def test_an_address_that_no_phone_reaches_is_not_offered_as_a_qr(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("empty")
    teacher = classroom.teacher()
    teacher.get_by_test_id("join-warning").wait_for()
    teacher.get_by_test_id("join-code").click()
    dialog = teacher.get_by_test_id("code-dialog")
    closed = dialog.get_by_test_id("join-closed")
    expect(closed).to_contain_text("HOST=0.0.0.0 make run")
    # On this computer the code is as good as ever.
    expect(dialog).to_contain_text(classroom.code)
    assert dialog.locator("img").count() == 0
    picture(teacher, "join-closed-light")


def test_an_address_that_phones_reach_is_a_qr(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("empty")
    address = f"http://192.0.2.7:8000/join/{classroom.code}"

    def as_if_open(route: Route) -> None:
        answer = route.fetch()
        told = {**answer.json(), "joinUrl": address, "network": {"reachable": True, "joinUrl": address}}
        route.fulfill(response=answer, body=json.dumps(told))

    page = classroom.watch(classroom.context().new_page())
    page.route(f"**/api/sessions/{classroom.code}", as_if_open)
    page.goto(classroom.created["url"])
    wait_state(page, lambda state: state["connection"] == "live" and state["revision"] > 0, "the session is live")
    page.locator(".code-qr").wait_for()
    expect(page.get_by_test_id("join-warning")).to_be_hidden()
    page.get_by_test_id("join-code").click()
    dialog = page.get_by_test_id("code-dialog")
    dialog.locator("img").wait_for()
    expect(dialog).to_contain_text("192.0.2.7:8000")
    assert dialog.get_by_test_id("join-closed").count() == 0


def test_a_teacher_closes_the_door_and_a_newcomer_is_told(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("empty")
    teacher = classroom.teacher()
    teacher.get_by_test_id("join-code").click()
    door = teacher.get_by_test_id("door-open")
    expect(door).to_be_checked()
    with teacher.expect_response("**/door") as answered:
        door.uncheck()
    assert answered.value.json() == {"open": False}
    page = classroom.watch(classroom.context().new_page())
    page.goto(f"{classroom.server.url}/join/{classroom.code}")
    page.get_by_test_id("join-name").fill("Lin")
    page.get_by_test_id("join-submit").click()
    expect(page.locator("#join-error")).to_contain_text("the teacher has closed this session to newcomers")
    chinese = classroom.watch(classroom.context(locale="zh-CN").new_page())
    chinese.goto(f"{classroom.server.url}/join/{classroom.code}")
    chinese.get_by_test_id("join-name").fill("Mei")
    chinese.get_by_test_id("join-submit").click()
    expect(chinese.locator("#join-error")).to_have_text("教师已停止接收新成员：请让教师重新开放")
    picture(chinese, "join-closed-zh-hans")
    with teacher.expect_response("**/door"):
        door.check()
    page.get_by_test_id("join-submit").click()
    page.wait_for_url("**/s/**")


def test_a_second_seat_of_one_person_is_one_again(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("empty")
    teacher, first = classroom.teacher(), classroom.student("Mei")
    # The same browser finds its seat by the join address, and is asked for nothing.
    first.goto(f"{classroom.server.url}/join/{classroom.code}")
    first.wait_for_url(f"**/s/{classroom.code}")
    second = classroom.student("mei")
    assert len({seat(page) for page in (first, second)}) == 2
    teacher.get_by_test_id("class").click()
    dialog = teacher.get_by_test_id("class-dialog")
    same = dialog.get_by_test_id("seat-same").locator("visible=true")
    expect(same).to_have_count(1)
    picture(teacher, "class-second-seat")
    # The page of the seat that is gone finds itself on the other one.
    with second.expect_navigation(url=f"**/s/{classroom.code}"):
        same.click()
    wait_state(second, lambda state: state["connection"] == "live", "the second browser is back")
    expect(same).to_have_count(0)
    expect(dialog.locator(".class-people li")).to_have_count(1)
    assert seat(second) == seat(first)


def seat(page: Page) -> str:
    """Return the id of the seat on which a page's person sits."""
    me = "async () => (await (await fetch(`/api${location.pathname.replace('/s/', '/sessions/')}`)).json()).me.id"
    return str(page.evaluate(me))


def test_who_comes_from_elsewhere_is_asked_for_the_pass_phrase(
    open_classroom: Callable[[str], Classroom], live_server_up: Server
) -> None:
    classroom = open_classroom("empty")
    # Passed on by another server, as a request from elsewhere is.
    page = classroom.watch(classroom.context(extra_http_headers={"X-Forwarded-For": "192.0.2.7"}).new_page())
    page.goto(live_server_up.url)
    page.get_by_test_id("start-session").click()
    expect(page.locator("#start-error")).to_contain_text("the pass phrase is missing")
    picture(page, "home-pass-phrase-light")
    page.get_by_test_id("pass-phrase").fill((live_server_up.data / "pass-phrase").read_text())
    page.get_by_test_id("start-session").click()
    page.wait_for_url("**/s/**")
    # A real cluster's file, dropped on the start page, opens at the pod that waits there.
    page.goto(live_server_up.url)
    page.get_by_test_id("pass-phrase").fill((live_server_up.data / "pass-phrase").read_text())
    items = [{**one, "metadata": {"uid": one["metadata"]["name"], **one["metadata"]}} for one in CLUSTER]
    dropped = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'shop.json')); return data; }",
        json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
    )
    page.dispatch_event("#start-form", "drop", {"dataTransfer": dropped})
    page.wait_for_url("**/s/**pod=shop*")
    inspector = page.get_by_test_id("inspector")
    expect(inspector).to_contain_text("report")
    expect(inspector).to_contain_text("Insufficient cpu")
    state = wait_state(page, lambda state: state["revision"] > 0, "the cluster is there")
    assert {one["name"] for one in state["nodes"]} == {"near", "far", "card"}
    picture(page, "real-cluster")
    page.get_by_test_id("inspector-tab-whatif").click()
    expect(page.get_by_test_id("fit").first.locator("b")).to_contain_text("ask for cpu 800m instead of cpu 1")
    picture(page, "real-cluster-fits")
