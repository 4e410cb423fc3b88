"""Routes of homework: set by a teacher, done by each student on a cluster of their own, marked by the engine."""

from __future__ import annotations

import csv
import io
from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import limits, people
from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.classroom.homework import setting
from clustersim.sessionapi import playing
from clustersim.sessionapi.http import Call, answer, number_field, refuse
from clustersim.sessionapi.opening import opened_answer
from clustersim.sessionapi.rules import SEED_MAX
from controllers.rules.cases import SORTS, Size
from controllers.rules.finding import NODES_MAX, PODS_MAX
from controllers.rules.homework import SIZE, TOPICS
from controllers.rules.table import RULES
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause, one_of
from scheduler_core.api.said import said

COLUMNS: Final = ("name", "question", "first", "second", "because", "right", "seconds")
"""Of a sheet of results: those of the session's other results."""

TASKS_MAX: Final = 6
"""Tasks of one homework; more are refused with 422."""

TITLE_LENGTH_MAX: Final = 120
"""Characters of a homework's title."""


def show(call: Call) -> HttpResponse:
    """Answer `GET …/homework`: to the teacher with how far everybody is."""
    principal = call.principal
    rows = setting.of_session(principal.session_id)
    if principal.role == TEACHER:
        return answer([setting.progress(row) for row in rows])
    return answer([setting.summary(row) for row in rows if setting.is_for(row, principal)])


def create(call: Call) -> HttpResponse:
    """Answer `POST …/homework`."""
    principal = call.require(TEACHER)
    body = call.body(("rule", "topic", "people", "title", "nodes", "pods", "seed"))
    rules = _rules(body.get("rule"), body.get("topic"))
    nodes = number_field(body, "nodes", 2, NODES_MAX, whole=True)
    pods = number_field(body, "pods", 2, PODS_MAX, whole=True)
    seed = number_field(body, "seed", 0, SEED_MAX, whole=True)
    title = people.clean_name(body.get("title") or "Homework", field="title", longest=TITLE_LENGTH_MAX)
    size = Size(int(nodes or SIZE.nodes), int(pods or SIZE.pods))
    seats = _seats(call, body.get("people", "all"))
    row = setting.set_homework(principal.session_id, title, rules, size, seats, None if seed is None else int(seed))
    return answer(setting.progress(row), 201)


def one(call: Call, homework: str) -> HttpResponse:
    """Answer `GET …/homework/<id>`: to a student their own tasks, to the teacher how far everybody is."""
    principal = call.require(TEACHER, STUDENT)
    row = setting.found(principal.session_id, homework)
    if principal.role == TEACHER:
        return answer(setting.progress(row))
    setting.require_for(row, principal)
    limits.spend(limits.WHAT_IFS, principal.participant_id)
    return answer(setting.told(row, principal))


def take_answer(call: Call, homework: str) -> HttpResponse:
    """Answer `POST …/homework/<id>/answers {"task", "choice"}`; it is marked at once."""
    principal = call.require(STUDENT)
    row = setting.found(principal.session_id, homework)
    setting.require_for(row, principal)
    body = call.body(("task", "choice"))
    task = _task(body)
    choice = body.get("choice")
    chosen = [choice] if isinstance(choice, str) else choice
    if not isinstance(chosen, list) or not all(isinstance(name, str) for name in chosen):
        raise refuse(Cause("choice", said("homework.choice", "give the id of an option, or of victims a list of them")))
    limits.spend(limits.WHAT_IFS, principal.participant_id)
    setting.answer(row, principal, task, chosen)
    return answer(setting.told(row, principal))


def play(call: Call, homework: str) -> HttpResponse:
    """Answer `POST …/homework/<id>/play {"task", "person"?}`: the task's cluster as a session of one's own."""
    principal = call.require_acting(TEACHER, STUDENT)
    row = setting.found(principal.session_id, homework)
    body = call.body(("task", "person"))
    task = _task(body)
    person = body.get("person")
    if person is not None and not isinstance(person, str):
        raise refuse(Cause("person", said("homework.person", "give the id of a student, or leave it out")))
    limits.spend(limits.FORKS, principal.participant_id)
    found, seed = setting.to_play_on(row, principal, task, person)
    opened = playing.open_case(found.case, f"{row.title} {task + 1}"[:TITLE_LENGTH_MAX], seed, principal.name)
    return opened_answer(call, opened, {"task": task})


def _task(body: Document) -> int:
    task = number_field(body, "task", 0, TASKS_MAX, whole=True)
    if task is None:
        raise refuse(Cause("task", said("homework.task", "give the number of a task, from 0")))
    return int(task)


def remove(call: Call, homework: str) -> HttpResponse:
    """Answer `DELETE …/homework/<id>`."""
    principal = call.require(TEACHER)
    setting.found(principal.session_id, homework).delete()
    return HttpResponse(status=204)


def results(call: Call) -> HttpResponse:
    """Answer `GET …/homework/results?format=`."""
    principal = call.require(TEACHER, STUDENT)
    wanted = call.request.GET.get("format", "json")
    if wanted not in ("json", "csv"):
        raise refuse(Cause("format", said("homework.format", "give json or csv")))
    rows = setting.results(principal.session_id, principal)
    if wanted == "json":
        return answer(rows)
    sheet = io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    response = HttpResponse("\ufeff" + sheet.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="homework-{call.session.display_code}.csv"'
    response["Cache-Control"] = "no-store"
    return response


def _cell(value: Any) -> Any:
    """Return what a sheet shows: no text of a person's is a formula there."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def _rules(rule: Any, topic: Any) -> list[str]:
    if (rule is None) == (topic is None):
        raise refuse(Cause("rule", said("homework.ruleOrTopic", "give a rule or a topic")))
    if topic is not None:
        if topic not in TOPICS:
            raise refuse(Cause("topic", one_of(TOPICS)))
        return list(TOPICS[topic])
    chosen = [rule] if isinstance(rule, str) else rule
    if not isinstance(chosen, list) or not 1 <= len(chosen) <= TASKS_MAX:
        raise refuse(
            Cause("rule", said("homework.rules", "give a rule, or a list of 1 to {tasks_max}", tasks_max=TASKS_MAX))
        )
    if any(name not in SORTS for name in chosen):
        known = ", ".join(name for name in RULES if name in SORTS)
        raise refuse(Cause("rule", said("homework.known", "there are tasks about {known}", known=known)))
    return chosen


def _seats(call: Call, asked: Any) -> list[int] | None:
    if asked == "all":
        return None
    students = {one.id for one in people.of_session(call.session.id) if one.role == STUDENT}
    if not isinstance(asked, list) or not asked or not all(isinstance(one, str) and one.isdecimal() for one in asked):
        raise refuse(Cause("people", said("homework.people", 'give "all", or a list of ids of people')))
    chosen = [int(one) for one in asked]
    if not set(chosen) <= students:
        raise refuse(Cause("people", said("homework.noStudent", "one of these is no student of this session")))
    return chosen
