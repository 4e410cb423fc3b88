"""The course of a lesson: where one can go from a place, and what is played for that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.lesson.course import ASK, END, REVEAL, SCENE, SO, WAIT, Course, Place
from controllers.lesson.reading import read
from scheduler_core.api.errors import ApiError
from tests.lesson.tiny import STARTS, files, lesson

WHOLE = Course(lesson())
SHORT = Course(lesson(), minimum=True)


def walked(course: Course) -> list[Place]:
    found = [course.first]
    while found[-1].step:
        found.append(course.after(found[-1]))
    return found


def kinds(script: list[dict[str, object]]) -> list[str]:
    return [next(iter(entry)) for entry in script]


def test_phases_are_those_that_a_step_has() -> None:
    assert [WHOLE.phases(step) for step in WHOLE.steps] == [
        (SCENE, ASK, WAIT, REVEAL, SO),
        (SCENE, SO),
        (SCENE, ASK, WAIT, REVEAL, SO),
    ]


def test_next_leads_through_all_to_the_end() -> None:
    assert walked(WHOLE)[:6] == [Place("where", name) for name in (SCENE, ASK, WAIT, REVEAL, SO)] + [
        Place("gone", SCENE)
    ]
    assert walked(WHOLE)[-1] == Place("", END)
    assert len(walked(WHOLE)) == 13
    assert [step.id for step in SHORT.steps] == ["where", "again"]
    assert len(walked(SHORT)) == 11


def test_back_leads_to_the_steps_beginning_and_from_there_to_the_one_before() -> None:
    assert WHOLE.before(Place("gone", SO)) == Place("gone", SCENE)
    assert WHOLE.before(Place("gone", SCENE)) == Place("where", SCENE)
    assert WHOLE.before(Place("where", SCENE)) == Place("where", SCENE)
    assert SHORT.before(Place("again", SCENE)) == Place("where", SCENE)


def test_a_step_on_a_cleared_cluster_plays_nothing_before_it() -> None:
    script = WHOLE.entering("where")
    assert kinds(script) == ["hold", "count", "clear", "run", "apply", "run", "count", "hold", "apply", "run"]
    assert script[-1] == {"run": {"until": "held() == 'web'", "seconds": 20.0}}
    assert WHOLE.entering("where", Place("again", SO)) == script


def test_a_step_that_goes_on_plays_what_was_left_out() -> None:
    alone = kinds(WHOLE.entering("again", Place("gone", SO)))
    assert "clear" not in alone
    assert "delete" not in alone
    # From the step before the one before, that one is played between.
    between = kinds(WHOLE.entering("again", Place("where", SO)))
    assert between.count("delete") == 1
    assert "clear" not in between
    # From a question that was not let happen, that is let happen first.
    waits = WHOLE.entering("gone", Place("where", ASK))
    assert waits[:3] == [{"hold": {"pod": ""}}, {"count": {"from": "wait"}}, waits[2]]
    assert waits[2]["run"]["until"] == "trace('web').exists"
    # From nowhere, all of it from a cleared cluster on.
    whole = kinds(WHOLE.entering("again"))
    assert (whole.count("clear"), whole.count("delete")) == (1, 1)
    assert SHORT.entering("again") == WHOLE.entering("again")


def test_the_exit_ticket_stands_alone_or_before_the_first_step() -> None:
    ticket = Course(lesson(), ticket=True)
    assert [step.id for step in ticket.steps] == ["ticket"]
    again = Course(lesson(), again=lesson())
    assert [step.id for step in again.steps] == ["ticket", "where", "gone", "again"]
    assert "clear" in kinds(again.entering("ticket"))
    assert again.text(again.steps[0], "so", "zh")[0].parts[0].text == "算的是申请量。"


def test_a_step_that_there_is_not_is_refused() -> None:
    with pytest.raises(ApiError, match="no step 'nowhere' here: there are where, gone, again") as wrong:
        WHOLE.step("nowhere")
    assert wrong.value.code == 404
    with pytest.raises(ApiError):
        SHORT.entering("gone")


def test_a_text_in_another_language_stands_for_one_that_there_is_not() -> None:
    only = Course(read(files()._replace(texts={"zh": files().texts["zh"]}), STARTS))
    assert only.text(only.steps[0], "so", "en")[0].parts[0].text == "Pod 去"
    assert WHOLE.text(WHOLE.steps[0], "hint", "fr") == WHOLE.text(WHOLE.steps[0], "hint", "en")


@given(st.sampled_from([WHOLE, SHORT]), st.data())
def test_whatever_one_does_one_stands_at_a_place_that_there_is(course: Course, data: st.DataObject) -> None:
    place = course.first
    for _ in range(data.draw(st.integers(1, 30))):
        if not place.step:
            break
        move = data.draw(st.sampled_from(["next", "back", "skip", "start"]))
        if move == "start":
            place = Place(data.draw(st.sampled_from([step.id for step in course.steps])), SCENE)
        else:
            left = place
            place = {"next": course.after, "back": course.before, "skip": course.next_step}[move](place)
            if place.step and place.phase == SCENE:
                script = kinds(course.entering(place.step, left if move != "back" else None))
                assert script.count("clear") <= 1
                assert script[0] == "hold"
        assert place == Place("", END) or place.phase in course.phases(course.step(place.step))
