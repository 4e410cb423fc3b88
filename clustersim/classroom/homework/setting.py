"""Homework set, looked at, answered and marked. Who answers wrong may try once more; then the solution is told."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import IntegrityError, transaction

from clustersim.classroom import people
from clustersim.classroom.auth import STUDENT, TEACHER, Principal
from clustersim.classroom.homework.models import Homework, HomeworkAnswer, HomeworkSight
from clustersim.store.sessions import real_ms
from controllers.rules import homework
from controllers.rules.cases import Size
from controllers.rules.finding import Found
from controllers.rules.table import RULES
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

HOMEWORK_MAX: Final = 50
"""Homework of one session; the next is refused with 429."""

TRIES: Final = 2
"""Answers that a person has for each task."""


def set_homework(
    session_id: int, title: str, rules: Sequence[str], size: Size, seats: Sequence[int] | None, seed: int | None
) -> Homework:
    """Set homework, with a secret seed unless one is given.

    Raises:
        ApiError: 429, the session has as much as it may have.
    """
    with transaction.atomic():
        taken = Homework.objects.filter(session_id=session_id).count()
        if taken >= HOMEWORK_MAX:
            raise ApiError(
                429,
                "TooManyRequests",
                said(
                    "homework.most",
                    "a session has {homework_max} homeworks at most: remove one first",
                    homework_max=HOMEWORK_MAX,
                ),
            )
        last = Homework.objects.filter(session_id=session_id).order_by("-number").first()
        return Homework.objects.create(
            session_id=session_id,
            number=1 if last is None else last.number + 1,
            title=title,
            rules=list(rules),
            seed=secrets.randbelow(2**53) if seed is None else seed,
            nodes=size.nodes,
            pods=size.pods,
            people=None if seats is None else list(seats),
            set_ms=real_ms(),
        )


def of_session(session_id: int) -> list[Homework]:
    """Return a session's homework, in order."""
    return list(Homework.objects.filter(session_id=session_id).order_by("number"))


def found(session_id: int, number: str) -> Homework:
    """Return one homework.

    Raises:
        ApiError: 404.
    """
    if number.isdecimal() and len(number) <= 4:
        row = Homework.objects.filter(session_id=session_id, number=int(number)).first()
        if row is not None:
            return row
    raise ApiError(
        404,
        "NotFound",
        said("homework.unknown", "there is no homework {number!r} in this session", number=number[:20]),
        name=number[:20],
    )


def is_for(row: Homework, principal: Principal) -> bool:
    """Return whether a person has to do it."""
    return principal.role == STUDENT and (row.people is None or principal.participant_id in row.people)


def require_for(row: Homework, principal: Principal) -> None:
    """Refuse who does not have to do it.

    Raises:
        ApiError: 403.
    """
    if not is_for(row, principal):
        raise ApiError(
            403,
            "Forbidden",
            said("homework.others", "this homework is for others: ask the teacher to set it for you, too"),
        )


def task_of(row: Homework, participant: int, index: int) -> Found:
    """Return a person's own cluster of one task."""
    return homework.task(row.rules[index], _seed_of(row, participant), Size(row.nodes, row.pods))


def _seed_of(row: Homework, participant: int) -> int:
    return draw(row.seed, "person", str(participant), below=2**53)


def to_play_on(row: Homework, principal: Principal, index: int, person: str | None) -> tuple[Found, int]:
    """Return (the cluster of a task, a seed for its session) for somebody to go on with it.

    The seed is one that tells nothing of that which the person's other tasks come from.

    A student's own task must be over: what the engine does there is what is asked. A teacher gets a student's
    (`person`, the id of a seat), or one like theirs.

    Raises:
        ApiError: 404, nobody of this id has the task; 409, the task is not over; 422, there is no such task.
    """
    _check_task(row, index)
    participant = principal.participant_id
    if principal.role != TEACHER:
        require_for(row, principal)
        if not _is_over(_answers(row, participant).get(index, {})):
            message = said(
                "homework.answerFirst",
                "answer this task first: in a session of its own the cluster would tell what is right",
            )
            raise ApiError(409, "Conflict", message)
    elif person is not None:
        participant = next((seat.id for seat in _seats(row) if str(seat.id) == person), 0)
        if not participant:
            raise ApiError(
                404,
                "NotFound",
                said(
                    "homework.notSet", "this homework is not set for anybody with the id {person!r}", person=person[:20]
                ),
            )
    return task_of(row, participant, index), draw(_seed_of(row, participant), "homework", "played on", below=2**31)


def told(row: Homework, principal: Principal) -> Document:
    """Return a homework as who has to do it may read it: their own tasks, and of those that are over the solution."""
    answers = _answers(row, principal.participant_id)
    return {
        **summary(row),
        "tasks": [_task(row, principal, index, answers.get(index, {})) for index in range(len(row.rules))],
    }


def summary(row: Homework) -> Document:
    """Return what everybody may know of a homework."""
    return {"id": str(row.number), "title": row.title, "tasks": len(row.rules), "setUnixMs": row.set_ms}


def _task(row: Homework, principal: Principal, index: int, mine: Mapping[int, HomeworkAnswer]) -> Document:
    rule, own = RULES[row.rules[index]], task_of(row, principal.participant_id, index)
    _see(row, principal.participant_id, index)
    over = _is_over(mine)
    shown: dict[str, Any] = {
        "task": index,
        **homework.question(rule, own),
        "mine": {str(number): {"choice": one.choice, "right": one.right} for number, one in sorted(mine.items())},
        "over": over,
    }
    if over:
        last = mine[max(mine)]
        shown |= {"rule": rule.id, "believed": last.believed, "solution": homework.solution(own)}
    return shown


def answer(row: Homework, principal: Principal, index: int, choice: Sequence[str]) -> None:
    """Take an answer and mark it.

    Raises:
        ApiError: 409, the task is over; 422, there is no such task or option.
    """
    _check_task(row, index)
    rule, own = RULES[row.rules[index]], task_of(row, principal.participant_id, index)
    known = homework.question(rule, own)["options"]
    unknown = [name for name in choice if name not in known]
    if unknown or not choice:
        raise ApiError(422, "Invalid", said("homework.chooseOf", "choose of {known}", known=", ".join(known)))
    mine = _answers(row, principal.participant_id).get(index, {})
    if _is_over(mine):
        raise ApiError(409, "Conflict", said("homework.over", "this task is over: its solution is told"))
    seen_ms = _see(row, principal.participant_id, index)
    try:
        with transaction.atomic():
            HomeworkAnswer.objects.create(
                homework=row,
                participant_id=principal.participant_id,
                task=index,
                round=len(mine) + 1,
                choice=list(choice),
                right=homework.is_right(rule, own.engine, choice),
                believed=homework.believed(rule, own, choice),
                seconds=max(0, real_ms() - seen_ms) / 1000,
            )
    except IntegrityError as twice:
        raise ApiError(
            409, "Conflict", said("homework.twice", "this answer came twice: the first one counts")
        ) from twice


def _check_task(row: Homework, index: int) -> None:
    if not 0 <= index < len(row.rules):
        raise ApiError(
            422, "Invalid", said("homework.tasks", "there are the tasks 0 to {rules}", rules=len(row.rules) - 1)
        )


def _is_over(mine: Mapping[int, HomeworkAnswer]) -> bool:
    return len(mine) == TRIES or any(one.right for one in mine.values())


def _see(row: Homework, participant: int, index: int) -> int:
    """Return when a person first saw a task, in Unix milliseconds: now, if never."""
    sight, _ = HomeworkSight.objects.get_or_create(
        homework=row, participant_id=participant, task=index, defaults={"seen_ms": real_ms()}
    )
    return sight.seen_ms


def _answers(row: Homework, participant: int) -> dict[int, dict[int, HomeworkAnswer]]:
    found_by_task: dict[int, dict[int, HomeworkAnswer]] = {}
    for one in HomeworkAnswer.objects.filter(homework=row, participant_id=participant):
        found_by_task.setdefault(one.task, {})[one.round] = one
    return found_by_task


def progress(row: Homework) -> Document:
    """Return how far everybody is, for the teacher: by rule, how many tasks are over, right at once, and led astray."""
    answers = list(HomeworkAnswer.objects.filter(homework=row))
    return {
        **summary(row),
        "rules": row.rules,
        "size": {"nodes": row.nodes, "pods": row.pods},
        "people": len(_seats(row)),
        "begun": len({one.participant_id for one in answers}),
        "byTask": [
            _by_task(rule, [one for one in answers if one.task == index]) for index, rule in enumerate(row.rules)
        ],
    }


def _by_task(rule: str, answers: Sequence[HomeworkAnswer]) -> Document:
    first = [one for one in answers if one.round == 1]
    return {
        "rule": rule,
        "answered": len(first),
        "rightAtOnce": sum(one.right for one in first),
        "rightInTheEnd": sum(one.right for one in answers),
        "believed": sum(one.believed == rule for one in first),
    }


def _seats(row: Homework) -> list[people.Person]:
    return [
        one
        for one in people.of_session(row.session_id)
        if one.role == STUDENT and not one.left and (row.people is None or one.id in row.people)
    ]


def results(session_id: int, principal: Principal) -> list[Document]:
    """Return a row a person and task: all of them to the teacher, one's own to a student."""
    rows: list[Document] = []
    for row in of_session(session_id):
        seats = {one.id: one.name for one in _seats(row)}
        if principal.role != TEACHER:
            seats = {number: name for number, name in seats.items() if number == principal.participant_id}
        answers: dict[tuple[int, int], dict[int, HomeworkAnswer]] = {}
        for one in HomeworkAnswer.objects.filter(homework=row):
            answers.setdefault((one.participant_id, one.task), {})[one.round] = one
        for number, name in sorted(seats.items(), key=lambda seat: (seat[1], seat[0])):
            rows += [
                _result(row, name, index, rule, answers.get((number, index), {}))
                for index, rule in enumerate(row.rules)
            ]
    return rows


def _result(row: Homework, name: str, index: int, rule: str, mine: Mapping[int, HomeworkAnswer]) -> Document:
    first, second = mine.get(1), mine.get(2)
    last = second or first
    return {
        "name": name,
        "question": f"{row.title} {index + 1}: {RULES[rule].title['en']}",
        "first": "" if first is None else " ".join(first.choice),
        "second": "" if second is None else " ".join(second.choice),
        "because": "" if first is None else first.believed,
        "right": None if last is None else last.right,
        "seconds": None if last is None else round(last.seconds, 1),
    }
