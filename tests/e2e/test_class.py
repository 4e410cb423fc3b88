"""A class in five browsers: a teacher's laptop and phone, the projector, two students' phones, one step of a lesson."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, picture, wait_state
from tests.e2e.test_accessible import PHONE, Judge, dress

WALL = {"width": 1024, "height": 768}


def teacher_page(classroom: Classroom, theme: str = "light", **options: Any) -> Page:
    context = classroom.context(**options)
    dress(context, classroom.server, theme, "en")
    page = classroom.watch(context.new_page())
    page.goto(classroom.created["url"])
    wait_state(page, lambda now: now["revision"], "the session is there")
    return page


def says(page: Page, words: str) -> None:
    expect(page.get_by_test_id("vote-status")).to_contain_text(words)


def look(judge: Judge, pages: dict[str, Page], phase: str) -> None:
    """Keep a picture of every screen, and have axe look at it."""
    for who, page in pages.items():
        drawn(page)
        picture(page, f"class-{phase}-{who}")
        judge.look(page, f"{phase} {who}")


def test_a_class_votes_talks_votes_again_and_the_engine_says_who_was_right(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("", lesson="preemption")
    judge = Judge()
    teacher = teacher_page(classroom)
    remote = teacher_page(classroom, **PHONE)
    wall = teacher_page(classroom, "projector", viewport=WALL)
    mei = classroom.student("Mei K.", **PHONE)
    lin = classroom.student("Lin W.", **PHONE)
    pages = {"teacher": teacher, "remote": remote, "wall": wall, "mei": mei, "lin": lin}

    # The phone leads: the run sheet goes to the third step, whose scene stands on every screen.
    main = remote.get_by_test_id("lead-main")
    main.wait_for()
    remote.get_by_text("Run sheet").click()
    remote.get_by_role("button", name="Start from here: Which node?").click()
    expect(teacher.get_by_test_id("lesson-title")).to_have_text("Which node?")
    expect(mei.get_by_test_id("lesson-title")).to_have_text("Which node?")
    expect(main).to_contain_text("Ask")
    look(judge, pages, "scene")
    main.click()
    expect(wall.get_by_test_id("wall-question")).to_contain_text("vip")
    expect(mei.get_by_test_id("vote-send")).to_be_disabled()

    # One votes by touch and says why, the other by keys alone.
    mei.get_by_test_id("vote-option-n1").click()
    mei.get_by_test_id("vote-send").click()
    mei.get_by_test_id("because-fewest-victims").click()
    says(mei, "Your vote is in: n1")
    lin.get_by_test_id("vote-option-n1").locator("input").focus()
    lin.keyboard.press("ArrowDown")
    lin.keyboard.press("ArrowDown")
    lin.keyboard.press("Enter")
    says(lin, "Your vote is in: n3")
    expect(remote.get_by_test_id("lead-count")).to_have_text("2 of 2 voted")
    assert wall.get_by_test_id("vote-bars").is_visible() is False, "nobody sees the votes but the teacher"
    look(judge, pages, "vote")

    # They talk, and vote again; one of them without a network for a moment. A reload keeps the vote.
    if main.get_attribute("data-deed") == "close":  # else its time is up meanwhile
        main.click()
    expect(main).to_have_attribute("data-deed", "reopen")
    says(mei, "Your vote: n1")
    mei.reload()
    says(mei, "Your vote: n1")
    expect(mei.get_by_test_id("because-fewest-victims")).to_have_attribute("aria-pressed", "true")
    main.click()
    expect(mei.get_by_test_id("vote-send")).to_have_text("Vote for n1")
    mei.get_by_test_id("vote-option-n2").click()
    mei.context.set_offline(True)
    mei.get_by_test_id("vote-send").click()
    says(mei, "Not sent yet: n2")
    mei.context.set_offline(False)
    says(mei, "Your vote is in: n2")
    lin.get_by_test_id("vote-send").click()
    says(lin, "Your vote is in: n3")
    look(judge, pages, "second")

    expect(main).to_have_attribute("data-deed", "reveal")
    main.click()
    for page, words in ((mei, "Right: n2"), (lin, "You said n3.")):
        says(page, words)
    expect(wall.get_by_test_id("wall-answer")).to_have_text("It chose n2")
    expect(mei.get_by_test_id("vote-answer")).to_have_text("It chose n2")
    expect(mei.get_by_test_id("vote-changed")).to_have_text("1 changed, 1 to a right answer")
    expect(teacher.get_by_test_id("rail-sealed")).to_be_hidden()
    look(judge, pages, "reveal")
    judge.rule()
