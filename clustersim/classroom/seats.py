"""One person, one seat, one vote: what becomes of a seat that somebody took a second time, or that is taken away."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, Model, OuterRef

from clustersim.classroom import people
from clustersim.classroom.models import Copy, HomeworkAnswer, HomeworkSight, Participant, Token, Vote
from clustersim.classroom.polls.votes import CLOSED, OPEN, OPENING
from clustersim.feed.hints import wake_class, wake_votes

_ONE_EACH: Final[tuple[tuple[type[Model], tuple[str, ...]], ...]] = (
    (Vote, ("poll", "round")),
    (HomeworkAnswer, ("homework", "task", "round")),
    (HomeworkSight, ("homework", "task")),
)
"""What a seat has one of, and of what; where both seats have one, that of the seat that stays counts."""


def merge(kept: Participant, other: Participant) -> None:
    """Let two seats of one session be one: whoever had the other one sits on the kept one from now on.

    Browsers that were signed in to either are signed in to the kept one. What the other one answered and had comes
    along where the kept one has none. The other one's objects stay as they are, and its authorship.
    """
    with transaction.atomic():
        Token.objects.filter(participant=other).update(participant=kept)
        for table, fields in _ONE_EACH:
            _move(table, fields, kept, other)
        has_one = Copy.objects.filter(participant=kept, earlier=False, wall=False).exists()
        Copy.objects.filter(participant=other, wall=False).update(
            participant=kept, **({"earlier": True} if has_one else {})
        )
        # Tokens went over: nothing of the other one's is left to be shut out.
        people.leave(other.session_id, other.pk)
    wake_class(kept.session_id)
    wake_votes(kept.session_id)


def _move(table: type[Model], fields: tuple[str, ...], kept: Participant, other: Participant) -> None:
    rows: Any = table._default_manager.filter(participant=other)
    same = table._default_manager.filter(participant=kept, **{field: OuterRef(field) for field in fields})
    rows.filter(Exists(same)).delete()
    rows.update(participant=kept)


def remove(session_id: int, participant_id: int) -> None:
    """Take a seat away, and its votes in polls whose answer is not told yet."""
    with transaction.atomic():
        Vote.objects.filter(participant_id=participant_id, poll__state__in=(OPENING, OPEN, CLOSED)).delete()
        people.leave(session_id, participant_id)
    wake_votes(session_id)
