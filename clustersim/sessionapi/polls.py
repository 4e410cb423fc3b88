"""Routes of polls: a class is asked, votes, talks, votes again, and the engine's own cycle says what is right."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import limits
from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.classroom.polls import asking, telling, votes
from clustersim.classroom.polls.models import Poll
from clustersim.sessionapi import polling
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.log.store import Stored
from controllers.predicates import ExpressionError, Predicate
from controllers.registry.models.clustersim_v1 import PollSpec
from controllers.registry.structs import bounds, options
from controllers.rules.table import RULES
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, missing, one_of
from scheduler_core.api.said import said

FIELDS: Final = (
    "kind",
    "pod",
    "component",
    "options",
    "question",
    "because",
    "hold",
    "limit",
    "models",
    "alone",
    "lesson",
)

OPTIONS_MAX: Final = 12
"""Options, and reasons, of a poll that somebody writes; more are refused with 422."""

HANDS_MAX: Final = 1_000
"""Hands that a teacher counts for one option; more are refused with 422."""

ID_LENGTH_MAX: Final = 40
"""Characters of an option's id; a longer one is refused with 422."""


def show(call: Call) -> HttpResponse:
    """Answer `GET …/polls`: what was asked, in order."""
    session_id = call.principal.session_id
    stored = sorted(call.store.list(POLLS)[0], key=lambda one: (one.object["spec"].get("openedMs", 0), one.revision))
    return answer([telling.summary(one, votes.find(session_id, one.name)) for one in stored])


def one(call: Call, poll: str) -> HttpResponse:
    """Answer `GET …/polls/<id>`."""
    stored, row = _found(call, poll)
    if row is not None and row.state in votes.DONE and row.answer is None and not stored.object["spec"].get("lesson"):
        # A lesson says itself when what is waited for has come.
        stored, row = polling.judge(call, stored, row)
    return answer(telling.whole(stored, row, call.principal))


def create(call: Call) -> HttpResponse:
    """Answer `POST …/polls`, once time stands where it was asked to."""
    principal = call.require(TEACHER)
    body = call.body(FIELDS)
    asked = polling.Asked(
        kind=_one_of(body, "kind", options(PollSpec, "kind")),
        pod=_text(body, "pod", 320),
        component=_text(body, "component", 63) or "kube-scheduler",
        question=_label(body.get("question"), "question") if body.get("question") is not None else {},
        options=_options(body),
        because=_because(body),
        hold=_one_of(body, "hold", options(PollSpec, "hold"), None),
        limit=int(number_field(body, "limit", *bounds(PollSpec, "limit"), whole=True) or 0),
        models=_models(body),
        alone=flag_field(body, "alone"),
        lesson=_lesson(body),
    )
    stored, row = polling.open_poll(call, principal, asked)
    return answer(telling.whole(stored, row, principal), 201)


def vote(call: Call, poll: str) -> HttpResponse:
    """Answer `POST …/polls/<id>/votes {"choice", "because"?, "round"?}`: one seat, one vote; again, another mind."""
    principal = call.require(STUDENT, TEACHER)
    stored = call.store.get(POLLS, "", poll)
    if stored is None:
        raise missing(POLLS, poll)
    spec = stored.object["spec"]
    if principal.role == TEACHER and not spec.get("alone"):
        raise ApiError(
            403,
            "Forbidden",
            said("poll.askerVotesNot", "whoever asks does not vote: join with a student's seat to try it"),
        )
    limits.spend(limits.VOTES, principal.participant_id)
    body = call.body(("choice", "because", "round"))
    choice, because = body.get("choice"), body.get("because")
    if choice is None and because is None:
        raise refuse(Cause("choice", said("poll.option", "give the id of an option")))
    if because is not None and because not in _ids(spec.get("because")):
        raise refuse(Cause("because", _known(spec.get("because"))))
    chosen = None if choice is None else _choice(choice, spec)
    meant = number_field(body, "round", 1, votes.ROUNDS_MAX, whole=True)
    row = votes.cast(principal.session_id, poll, principal.participant_id, chosen, because, meant)
    return answer(telling.whole(stored, row, principal))


def hands(call: Call, poll: str) -> HttpResponse:
    """Answer `PUT …/polls/<id>/hands {"counts"}`: hands that went up where phones do not reach the server."""
    principal = call.require(TEACHER)
    stored, row = _asked_here(call, poll)
    given = call.body(("counts",)).get("counts")
    known = _ids(stored.object["spec"].get("options"))
    if not isinstance(given, dict):
        raise refuse(Cause("counts", said("poll.handsObject", "give an object: option → hands")))
    for name, number in given.items():
        if name not in known:
            raise refuse(Cause(f"counts.{name[:ID_LENGTH_MAX]}", _known(stored.object["spec"].get("options"))))
        if type(number) is not int or not 0 <= number <= HANDS_MAX:
            raise refuse(
                Cause(
                    f"counts.{name}", said("give.wholeFromNone", "give a whole number from 0 to {most}", most=HANDS_MAX)
                )
            )
    if row.state in votes.DONE:
        raise ApiError(409, "Conflict", said("poll.handsLate", "the poll is revealed: hands are no longer counted"))
    votes.count_hands(row, given)
    return answer(telling.whole(stored, row, principal))


def close(call: Call, poll: str) -> HttpResponse:
    """Answer `POST …/polls/<id>/close`: the round ends."""
    principal = call.require(TEACHER)
    stored, row = _asked_here(call, poll)
    if row.state in votes.DONE:
        raise ApiError(409, "Conflict", said("poll.revealedAlready", "the poll is revealed already"))
    return answer(telling.whole(*polling.close(call, stored, row), principal))


def reopen(call: Call, poll: str) -> HttpResponse:
    """Answer `POST …/polls/<id>/reopen`: the second round begins."""
    principal = call.require(TEACHER)
    stored, row = _asked_here(call, poll)
    if row.state in votes.DONE:
        raise ApiError(409, "Conflict", said("poll.askAnew", "the poll is revealed: ask it anew"))
    if row.round >= votes.ROUNDS_MAX:
        raise ApiError(409, "Conflict", said("poll.bothRounds", "both rounds have been: reveal it, or ask anew"))
    return answer(telling.whole(*polling.reopen(call, stored, row), principal))


def reveal(call: Call, poll: str) -> HttpResponse:
    """Answer `POST …/polls/<id>/reveal`: time goes on, and the cycle that decides says what is right."""
    principal = call.require(TEACHER)
    stored, row = _asked_here(call, poll)
    polling.check_learner(stored, row, principal)
    return answer(telling.whole(*polling.reveal(call, stored, row), principal))


def remove(call: Call, poll: str) -> HttpResponse:
    """Answer `DELETE …/polls/<id>`: take it back with what it sealed, or end the showing of a revealed one."""
    call.require(TEACHER)
    stored, row = _found(call, poll)
    if row is not None and row.state in votes.DONE:
        polling.end(call, stored, row)
    else:
        polling.remove(call, stored, row)
    return HttpResponse(status=204)


# -- what the path and the body name ----------------------------------------------------------------------------------


def _found(call: Call, poll: str) -> tuple[Stored, Poll | None]:
    session_id = call.principal.session_id
    stored = call.store.get(POLLS, "", poll)
    if stored is None:
        raise missing(POLLS, poll)
    return stored, votes.find(session_id, poll)


def _asked_here(call: Call, poll: str) -> tuple[Stored, Poll]:
    stored, row = _found(call, poll)
    if row is None:
        why = said("poll.copied", "this poll was asked in the session that this one was copied from: ask it anew here")
        raise ApiError(409, "Conflict", why, name=poll)
    return stored, row


def _choice(choice: Any, spec: Document) -> list[str]:
    known = _ids(spec.get("options"))
    chosen = choice if isinstance(choice, list) and spec["kind"] == "victims" else [choice]
    if not chosen or any(not isinstance(name, str) or name not in known for name in chosen):
        raise refuse(Cause("choice", _known(spec.get("options"))))
    if asking.NONE in chosen and len(chosen) > 1:
        raise refuse(Cause("choice", said("poll.podsOrNobody", "choose pods, or that nobody has to go, not both")))
    return sorted(set(chosen))


def _ids(things: Any) -> list[str]:
    return [str(thing["id"]) for thing in things or ()]


def _known(things: Any) -> str:
    ids = _ids(things)
    if not ids:
        return said("give.oneOfNone", "give one of none: there are none")
    return one_of(ids)


def _one_of(body: Document, field: str, known: tuple[str, ...], default: str | None = "") -> Any:
    value = body.get(field)
    if value is None and default is None:
        return None
    if value not in known or value == "":
        raise refuse(Cause(field, one_of(one for one in known if one)))
    return value


def _text(body: Document, field: str, longest: int) -> str:
    value = body.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest:
        raise refuse(
            Cause(field, said("give.textMost", "give a text of at most {longest} characters", longest=longest))
        )
    return value


def _lesson(body: Document) -> Document | None:
    value = body.get("lesson")
    if value is not None and not (isinstance(value, dict) and isinstance(value.get("step"), str)):
        raise refuse(Cause("lesson", said("poll.step", "give {{step}}")))
    return None if value is None else {"step": value["step"][:ID_LENGTH_MAX]}


def _label(value: Any, field: str) -> dict[str, str]:
    """Return a text by language; one that is given as it is, is the same in all."""
    given = asking.labelled(value) if isinstance(value, str) else value
    if not isinstance(given, dict) or not given or any(name not in ("en", "zh") for name in given):
        raise refuse(Cause(field, said("give.said", 'give a text, or {{"en", "zh"}}')))
    for text in given.values():
        if not isinstance(text, str) or not 1 <= len(text.strip()) <= asking.LABEL_LENGTH_MAX:
            raise refuse(
                Cause(
                    field,
                    said("give.textTo", "give a text of 1 to {longest} characters", longest=asking.LABEL_LENGTH_MAX),
                )
            )
    first = next(iter(given.values()))
    return {"en": given.get("en", first), "zh": given.get("zh", first)}


def _named(things: Any, field: str) -> list[Document]:
    """Return things with an id and a label, each id once."""
    if not isinstance(things, list) or len(things) > OPTIONS_MAX:
        raise refuse(
            Cause(field, said("poll.optionsMost", "give a list of at most {options_max}", options_max=OPTIONS_MAX))
        )
    found: dict[str, Document] = {}
    for number, given in enumerate(things):
        thing = {"id": given, "label": given} if isinstance(given, str) else given
        where = f"{field}[{number}]"
        if not isinstance(thing, dict):
            raise refuse(Cause(where, said("poll.label", "give an object with a label")))
        name = thing.get("id", f"{field[0]}{number + 1}")
        if not isinstance(name, str) or not 1 <= len(name) <= ID_LENGTH_MAX or name in found:
            raise refuse(
                Cause(
                    f"{where}.id",
                    said(
                        "poll.ids",
                        "give an id of 1 to {id_length_max} characters that no other one has",
                        id_length_max=ID_LENGTH_MAX,
                    ),
                )
            )
        found[name] = {**thing, "id": name, "label": _label(thing.get("label", name), f"{where}.label")}
    return list(found.values())


def _options(body: Document) -> list[Document]:
    given = body.get("options")
    if body.get("kind") != "choice":
        if given is not None:
            raise refuse(
                Cause(
                    "options",
                    said("poll.ownOptions", "only a poll of the kind choice brings its own: the others are made here"),
                )
            )
        return []
    found = _named(given if given is not None else [], "options")
    if len(found) < 2:
        raise refuse(Cause("options", said("poll.two", "give at least two")))
    for number, option in enumerate(found):
        for field in ("right", "model"):
            if not isinstance(option.get(field, ""), str) or len(option.get(field, "")) > 1_000:
                raise refuse(
                    Cause(
                        f"options[{number}].{field}", said("poll.predicate", "give a text of at most 1000 characters")
                    )
                )
        if option.get("right"):
            try:
                Predicate.compile(option["right"])
            except ExpressionError as wrong:
                raise refuse(Cause(f"options[{number}].right", str(wrong))) from wrong
    return found


def _because(body: Document) -> list[Document] | None:
    """Return the reasons that a vote may give, where the body says them."""
    given = body.get("because")
    if given is None:
        return None
    found = _named(given, "because")
    words = [RULES[one].because if isinstance(one, str) and one in RULES else None for one in given]
    return [
        {"id": one["id"], "label": one["label"] if reason is None else dict(reason)}
        for one, reason in zip(found, words, strict=True)
    ]


def _models(body: Document) -> dict[str, str]:
    given = body.get("models")
    if given is None:
        return {}
    if (
        not isinstance(given, dict)
        or len(given) > OPTIONS_MAX
        or any(not isinstance(one, str) for one in given.values())
    ):
        raise refuse(Cause("models", said("poll.rulesObject", "give an object: option → rule")))
    return given
