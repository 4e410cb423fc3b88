"""The result sheet: a row a person and question, as a file that opens in a spreadsheet and runs nothing there."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

from clustersim.classroom.models import Participant
from clustersim.classroom.polls import votes
from clustersim.classroom.polls.judging import is_right
from clustersim.classroom.polls.models import Poll
from clustersim.classroom.polls.votes import Cast

COLUMNS: Final = ("name", "question", "first", "second", "because", "right", "seconds")

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell may not begin with: a spreadsheet would take it for a formula, and what people typed stands in cells."""


def rows(
    session_id: int, questions: Mapping[str, Mapping[str, Any]], language: str, person: int | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a session's polls, in order of asking and of seats.

    Args:
        session_id: the session.
        questions: the polls' specs by name.
        language: of questions and options.
        person: whose rows; None: everybody's. Then what is right is told of open polls too.
    """
    names = dict(Participant.objects.filter(session_id=session_id).values_list("pk", "name"))
    found: list[dict[str, Any]] = []
    for row in Poll.objects.filter(session_id=session_id).order_by("pk"):
        spec = questions.get(row.name)
        if spec is None:
            continue
        by_person: dict[int, dict[int, Cast]] = {}
        for one in votes.all_of(row):
            if person in (None, one.participant):
                by_person.setdefault(one.participant, {})[one.round] = one
        right = row.answer["alternatives"] if row.answer is not None and row.state in votes.DONE else None
        found += [
            _row(names.get(who, ""), _said(spec.get("question"), language) or row.name, rounds, spec, right, language)
            for who, rounds in sorted(by_person.items())
        ]
    return found


def _row(
    name: str,
    question: str,
    rounds: Mapping[int, Cast],
    spec: Mapping[str, Any],
    right: Sequence[Sequence[str]] | None,
    language: str,
) -> dict[str, Any]:
    last = rounds[max(rounds)]
    reasons = {one["id"]: _said(one["label"], language) for one in spec.get("because") or ()}
    return {
        "name": name,
        "question": question,
        "first": _chosen(rounds.get(1), spec, language),
        "second": _chosen(rounds.get(2), spec, language),
        "because": reasons.get(last.because, last.because),
        "right": None if right is None else is_right(last.choice, right),
        "seconds": round(last.seconds, 1),
    }


def _chosen(one: Cast | None, spec: Mapping[str, Any], language: str) -> str:
    if one is None:
        return ""
    labels = {option["id"]: _said(option["label"], language) for option in spec.get("options") or ()}
    return ", ".join(labels.get(name, name) for name in one.choice)


def _said(text: Mapping[str, str] | None, language: str) -> str:
    return (text or {}).get(language) or (text or {}).get("en", "")


def as_csv(found: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV (RFC 4180); the byte order mark tells spreadsheets that it is UTF-8."""
    buffer = io.StringIO()
    sheet = csv.writer(buffer)
    sheet.writerow(COLUMNS)
    for one in found:
        sheet.writerow([_cell(one[column]) for column in COLUMNS])
    return "\ufeff" + buffer.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
