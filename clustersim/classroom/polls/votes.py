"""The votes: cast, counted, and what they say together. One seat has one vote a round; the last one counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import IntegrityError, transaction

from clustersim.classroom.models import Participant
from clustersim.classroom.polls.judging import is_right
from clustersim.classroom.polls.models import Poll, Vote
from clustersim.feed.hints import wake_votes
from clustersim.store.sessions import real_ms
from controllers.rules.rule import ENGINE
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

OPENING, OPEN, CLOSED, REVEALED, OVER = "opening", "open", "closed", "revealed", "over"
SEALING: Final = (OPENING, OPEN, CLOSED)
"""States in which a poll seals what would tell its answer."""
DONE: Final = (REVEALED, OVER)
"""States in which everybody may know it; `over`: its showing has ended."""

ROUNDS_MAX: Final = 2
"""Rounds of one poll: alone, and once more after talking."""

FEW_VOTES: Final = 3
"""With fewer votes nothing is advised."""

FEW_SHARE, TALK_FROM, TALK_TO = 1 / 3, 0.3, 0.7
"""Of those present, who must have voted; shares of right votes between which talking with a neighbour helps most."""


@dataclass(frozen=True, slots=True)
class Cast:
    """One vote."""

    participant: int
    round: int
    choice: tuple[str, ...]
    because: str
    seconds: float


def create(session_id: int, name: str, secret: Mapping[str, Any]) -> Poll:
    """Make the row of a poll that is being opened.

    Raises:
        ApiError: 409, a poll of this session is not revealed yet.
    """
    with transaction.atomic():
        if open_poll(session_id) is not None:
            raise busy()
        return Poll.objects.create(
            session_id=session_id, name=name, state=OPENING, opened_ms=real_ms(), secret=dict(secret)
        )


def busy() -> ApiError:
    """Return the 409 of a second poll."""
    return ApiError(
        409, "Conflict", said("poll.open", "a poll is open already: reveal it, or take it back, before you ask another")
    )


def open_poll(session_id: int) -> Poll | None:
    """Return the poll of a session that is not revealed yet."""
    return Poll.objects.filter(session_id=session_id, state__in=SEALING).first()


def find(session_id: int, name: str) -> Poll | None:
    """Return a poll's row; None where this session asked it not itself (it came with a fork)."""
    return Poll.objects.filter(session_id=session_id, name=name).first()


def carry(parent_id: int, child_id: int, name: str) -> None:
    """Give a fork what it needs to go on with the poll that was open; votes stay where they were cast."""
    row = Poll.objects.filter(session_id=parent_id, name=name, state__in=SEALING).first()
    if row is not None:
        row.pk, row.session_id, row.hands = None, child_id, {}
        row.save(force_insert=True)


def remove(session_id: int, name: str) -> None:
    """Forget a poll and its votes."""
    Poll.objects.filter(session_id=session_id, name=name).delete()
    wake_votes(session_id)


def state_of(row: Poll) -> str:
    """Return the state as votes meet it: a round whose time is up is closed, whether or not anybody closed it."""
    if row.state == OPEN and row.ends_ms is not None and real_ms() >= row.ends_ms:
        return CLOSED
    return row.state


def begin_round(row: Poll, number: int, limit: int) -> None:
    """Let a round begin now; `limit` in seconds, 0: until it is closed."""
    row.opened_ms = real_ms()
    row.ends_ms = row.opened_ms + limit * 1000 if limit else None
    row.round, row.state = number, OPEN
    row.save(update_fields=["opened_ms", "ends_ms", "round", "state", "secret"])
    wake_votes(row.session_id)


def move(row: Poll, state: str) -> None:
    """Write another state, of which votes hear at once."""
    row.state = state
    row.save(update_fields=["state"])
    wake_votes(row.session_id)


def cast(
    session_id: int,
    name: str,
    participant: int,
    choice: Sequence[str] | None,
    because: str | None,
    meant: float | None = None,
) -> Poll:
    """Count a seat's vote in the round that is open, and return the poll; None leaves what the seat has said before.

    Args:
        session_id: of the class.
        name: the poll's.
        participant: the seat.
        choice: ids of options.
        because: the id of a reason.
        meant: the round that was open where somebody chose; what comes only in the next one counts in neither.

    Raises:
        ApiError: 409, no round is open, its time is up, another one was meant, or a reason comes before a choice.
    """
    try:
        with transaction.atomic():
            now = Poll.objects.select_for_update(of=("self",)).get(session_id=session_id, name=name)
            state = state_of(now)
            if state != OPEN:
                raise ApiError(409, "Conflict", _CLOSED[state])
            if meant is not None and meant != now.round:
                raise ApiError(
                    409,
                    "Conflict",
                    said("poll.roundOver", "the round in which this was chosen is over: vote in the one that is open"),
                )
            seconds = (real_ms() - now.opened_ms) / 1000
            if choice is None:
                chosen = Vote.objects.filter(poll=now, round=now.round, participant_id=participant)
                if not chosen.update(because=because or ""):
                    raise ApiError(409, "Conflict", said("poll.answerThenWhy", "choose an answer first, then say why"))
            else:
                Vote.objects.bulk_create(
                    [
                        Vote(
                            poll=now,
                            round=now.round,
                            participant_id=participant,
                            choice=list(choice),
                            because=because or "",
                            seconds=seconds,
                        )
                    ],
                    update_conflicts=True,
                    unique_fields=["poll", "round", "participant"],
                    update_fields=["choice", "because", "seconds"],
                )
    except (Poll.DoesNotExist, IntegrityError) as gone:
        why = said(
            "poll.gone",
            "the poll was taken back, or asked where this session was copied from: there is nothing to vote on",
        )
        raise ApiError(409, "Conflict", why) from gone
    wake_votes(session_id)
    return now


_CLOSED: Final = {
    OPENING: said("poll.opening", "the poll is just being opened: try again in a moment"),
    CLOSED: said("poll.closed", "the round is over: wait for the second one, or for the reveal"),
    REVEALED: said("poll.revealed", "the poll is revealed: votes are no longer counted"),
    OVER: said("poll.over", "the poll is over: votes are no longer counted"),
}


def count_hands(row: Poll, counts: Mapping[str, int]) -> None:
    """Note how many hands went up for each option in the round of the moment, instead of what was noted before."""
    row.hands = {**row.hands, str(row.round): dict(counts)}
    row.save(update_fields=["hands"])
    wake_votes(row.session_id)


def newest(session_id: int) -> Poll | None:
    """Return the poll that was asked last."""
    return Poll.objects.filter(session_id=session_id).order_by("-pk").first()


def frame_of(session_id: int) -> dict[str, Any] | None:
    """Return the frame `votes` of docs/protocol.md about the poll that was asked last; None where there is none."""
    row = newest(session_id)
    if row is None:
        return None
    told = {"type": "votes", "id": row.name, "voted": voted(row), "present": present(session_id)}
    return {**told, "round": row.round, "state": state_of(row)}


def all_of(row: Poll) -> list[Cast]:
    """Return every vote, in order of participants."""
    rows = Vote.objects.filter(poll=row).order_by("participant_id", "round")
    return [Cast(one.participant_id, one.round, tuple(one.choice), one.because, one.seconds) for one in rows]


def of_person(row: Poll, participant: int) -> list[Cast]:
    """Return a seat's own votes."""
    rows = Vote.objects.filter(poll=row, participant_id=participant).order_by("round")
    return [Cast(one.participant_id, one.round, tuple(one.choice), one.because, one.seconds) for one in rows]


def voted(row: Poll) -> int:
    """Return how many voted in the round of the moment, hands included."""
    hands = sum((row.hands.get(str(row.round)) or {}).values())
    return int(Vote.objects.filter(poll=row, round=row.round).count() + hands)


def present(session_id: int) -> int:
    """Return how many students have a page open."""
    return Participant.objects.filter(
        session_id=session_id, role="student", left=False, online_until_ms__gt=real_ms()
    ).count()


# -- what they say together ------------------------------------------------------------------------------------------


def counts(row: Poll, cast_votes: Iterable[Cast]) -> dict[str, dict[str, int]]:
    """Return round → option → votes, hands included; of several victims each is counted."""
    found: dict[str, Counter[str]] = {str(number): Counter() for number in range(1, row.round + 1)}
    for one in cast_votes:
        found.setdefault(str(one.round), Counter()).update(one.choice)
    for number, hands in row.hands.items():
        found.setdefault(number, Counter()).update(hands)
    return {number: dict(one) for number, one in found.items()}


def voters(row: Poll, cast_votes: Iterable[Cast]) -> dict[str, int]:
    """Return round → how many voted, hands included."""
    found = Counter(str(one.round) for one in cast_votes)
    for number, hands in row.hands.items():
        found[number] += sum(hands.values())
    return {str(number): found[str(number)] for number in range(1, row.round + 1)}


def right_counts(row: Poll, cast_votes: Iterable[Cast], right: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return round → right votes, hands included."""
    found = {str(number): 0 for number in range(1, row.round + 1)}
    for one in cast_votes:
        found[str(one.round)] += is_right(one.choice, right)
    for number, hands in row.hands.items():
        found[number] += sum(count for name, count in hands.items() if is_right((name,), right))
    return found


def models(row: Poll, cast_votes: Iterable[Cast], number: int) -> dict[str, int]:
    """Return rule → votes of a round for the option that the rule would have given, hands included."""
    by_option = row.secret.get("models") or {}
    found: Counter[str] = Counter()
    for one in cast_votes:
        if one.round == number:
            found.update({by_option[name] for name in one.choice if name in by_option})
    for name, count in (row.hands.get(str(number)) or {}).items():
        if count and name in by_option:
            found[by_option[name]] += count
    return dict(found)


def reasons(cast_votes: Iterable[Cast]) -> dict[str, dict[str, int]]:
    """Return round → reason → votes."""
    found: dict[str, Counter[str]] = {}
    for one in cast_votes:
        if one.because:
            found.setdefault(str(one.round), Counter())[one.because] += 1
    return {number: dict(one) for number, one in found.items()}


def changed(cast_votes: Sequence[Cast], right: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return how many changed their mind between the rounds: to what is right, away from it, or otherwise."""
    first = {one.participant: one.choice for one in cast_votes if one.round == 1}
    told = {"toRight": 0, "fromRight": 0, "other": 0}
    for one in cast_votes:
        before = first.get(one.participant)
        if one.round != 2 or before is None or set(before) == set(one.choice):
            continue
        was, now = is_right(before, right), is_right(one.choice, right)
        told["toRight" if now and not was else "fromRight" if was and not now else "other"] += 1
    return told


def expected(row: Poll) -> list[list[str]] | None:
    """Return what is likely right before anybody is told: what the engine would do as things stand, else what the
    question's author says that it will; None where neither is known.
    """
    by_option = row.secret.get("models") or {}
    return row.secret.get("forecast") or [[name] for name, model in by_option.items() if model == ENGINE] or None


def advice(row: Poll, cast_votes: Iterable[Cast], people: int) -> str:
    """Return what helps a class most now: `few` votes, a `hint`, to `talk`, or the `reveal`.

    By the share of right votes (Mazur's peer instruction: below 30 % and above 70 % talking helps little). Where
    nobody can tell yet what is right, by how far the class agrees.
    """
    said = Counter(one.choice for one in cast_votes if one.round == row.round)
    for name, hands in (row.hands.get(str(row.round)) or {}).items():
        said[(name,)] += hands
    votes = said.total()
    if votes < FEW_VOTES or votes < FEW_SHARE * people:
        return "few"
    right = expected(row)
    if right:
        share = sum(number for choice, number in said.items() if is_right(choice, right)) / votes
        return "hint" if share < TALK_FROM else "talk" if share <= TALK_TO else "reveal"
    return "talk" if max(said.values()) <= TALK_TO * votes else "reveal"
