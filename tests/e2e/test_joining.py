"""The join code on the wall: a QR only where a phone that scans it finds something, else how to get there."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Route

from tests.e2e.conftest import Classroom, picture, wait_state


def test_an_address_that_no_phone_reaches_is_not_offered_as_a_qr(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("empty")
    teacher = classroom.teacher()
    teacher.get_by_test_id("join-warning").wait_for()
    teacher.get_by_test_id("join-code").click()
    dialog = teacher.get_by_test_id("code-dialog")
    closed = dialog.get_by_test_id("join-closed")
    assert "HOST=0.0.0.0 make run" in closed.inner_text()
    assert classroom.code in dialog.inner_text(), "on this computer the code is as good as ever"
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
    assert page.get_by_test_id("join-warning").is_hidden()
    page.get_by_test_id("join-code").click()
    dialog = page.get_by_test_id("code-dialog")
    dialog.locator("img").wait_for()
    assert "192.0.2.7:8000" in dialog.inner_text()
    assert dialog.get_by_test_id("join-closed").count() == 0
