"""What a real API server of v1.34.9 answered, asked again: verbs, subresources, forms, options, refusals, defaults."""

from __future__ import annotations

from tests.tools.answers import cases, differences
from tests.tools.room import Room


def test_what_was_recorded_is_answered(own_database: None) -> None:
    """One session for all: each case has names of its own."""
    room = Room("empty")
    wrong = [text for case in cases().values() for text in differences(room, case)]
    assert wrong == []


def test_rules_are_told_as_they_were_recorded(own_database: None) -> None:
    """Wrong values in the fields of many kinds: what is refused, in which words and order, and how often it is told."""
    room = Room("empty")
    wrong = [text for case in cases("rules").values() for text in differences(room, case)]
    assert wrong == []


def test_there_are_cases_of_each_rule() -> None:
    topics = {case["topic"] for case in cases().values()}
    assert topics >= {"verbs", "subresources", "fieldvalidation", "patch", "immutability", "tables", "validation"}
    assert len(cases()) > 250
