"""A sentence is told in English, with its key and values beside it, on whatever way it becomes a refusal."""

from __future__ import annotations

from dataclasses import replace

from scheduler_core.api.errors import ApiError, Cause, bad_request, forbidden, invalid, unauthorized
from scheduler_core.api.said import said

LATE = said("poll.revealed", "the poll is revealed: votes are no longer counted")


def test_a_sentence_is_its_english() -> None:
    text = said("give.number", "give a number from {least:g} to {most:g}", least=1.0, most=5)
    assert text == "give a number from 1 to 5"
    assert text.document() == {"key": "give.number", "values": {"least": 1.0, "most": 5}}


def test_what_is_no_number_is_told_as_text_and_a_sentence_as_itself() -> None:
    text = said("package.main", "{main}: {message}", main=ValueError("lesson.yaml"), message=LATE)
    assert text.document()["values"] == {"main": "lesson.yaml", "message": {"key": "poll.revealed", "values": {}}}


def test_a_refusal_names_its_sentence_and_each_cause_its_own() -> None:
    assert ApiError(409, "Conflict", LATE).status()["said"] == {"key": "poll.revealed", "values": {}}
    causes = invalid("Request", "clustersim.io", "", [Cause("a", LATE), Cause("b", "Required value")]).status()
    assert [cause.get("said") for cause in causes["details"]["causes"]] == [LATE.document(), None]
    assert (type(causes["message"]), "said" in causes) == (str, False)


def test_what_upstream_puts_before_a_sentence_changes_its_english_alone() -> None:
    refused = forbidden("pods", "web", LATE).status()
    assert refused["message"] == f'pods "web" is forbidden: {LATE}'
    assert [one.status()["said"] for one in (forbidden("pods", "", LATE), unauthorized(LATE), bad_request(LATE))] == [
        LATE.document()
    ] * 3


def test_what_upstream_says_has_no_name() -> None:
    assert "said" not in forbidden("pods", "web", "no").status()


def test_a_cause_that_is_told_of_another_field_says_the_same() -> None:
    moved = replace(Cause("spec.name", LATE), field="name").as_dict()
    assert (moved["field"], moved["said"], type(moved["message"])) == ("name", LATE.document(), str)
