"""Seats: taking one, signing in again, names, presence, giving it up."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from django.db import IntegrityError, transaction

from clustersim.classroom import auth
from clustersim.classroom.auth import COMPONENT, STUDENT, TEACHER, VIEWER, Principal, Role, digest, new_secret
from clustersim.classroom.models import Link, Participant, Token
from clustersim.feed.hints import wake_people
from clustersim.store.sessions import SessionRow, real_ms
from scheduler_core.api.errors import ApiError, Cause, invalid
from scheduler_core.api.said import said

NAME_LENGTH_MAX: Final = 40
"""Characters of a person's name; a longer one is refused."""

SLUG_LENGTH_MAX: Final = 20
"""Characters of a slug before a suffix; the rest is cut."""

PEOPLE_MAX: Final = 1_000
"""Seats in a session; the next one is refused with 429."""

TOKENS_PER_SEAT_MAX: Final = 200
"""Browsers that one seat can be signed in from; the one that signed in first is signed out."""

SEEN_FOR_MS: Final = 25_000
"""A page open in some process counts as present this long after that process last said so."""

_TAKEN_SLUGS: Final = frozenset({"session", "default"})
"""Slugs that would read as something else in the log."""


@dataclass(frozen=True, slots=True)
class Person:
    """A seat as everybody may see it."""

    id: int
    name: str
    role: str
    slug: str
    color: int
    online: bool
    namespace: str
    left: bool = False
    looks_at: str = ""
    muted: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the wire form of docs/protocol.md; ids are strings there."""
        told: dict[str, object] = {
            "id": str(self.id),
            "name": self.name,
            "role": self.role,
            "slug": self.slug,
            "namespace": self.namespace,
            "color": self.color,
            "online": self.online,
        }
        return {**told, **{flag: True for flag in ("left", "muted") if getattr(self, flag)}}

    def as_seat(self) -> dict[str, object]:
        """Return the same with the number of the seat for the name: as a wall tells of somebody."""
        return {**self.as_dict(), "name": f"#{self.color}", "nameless": True}


def told_to(role: str, everybody: Iterable[Person], *, names: bool) -> list[dict[str, object]]:
    """Return people as somebody of a role is told of them; `names`: whether viewers' screens tell students' names."""
    hidden = role == VIEWER and not names
    return [one.as_seat() if hidden and one.role == STUDENT else one.as_dict() for one in everybody]


def clean_name(name: object, *, field: str = "name", longest: int = NAME_LENGTH_MAX) -> str:
    """Return a name as it is kept: spaces joined, control and direction characters dropped.

    Raises:
        ApiError: 422, empty or too long or no text.
    """
    if not isinstance(name, str):
        raise _bad(field, said("give.text", "give a text"))
    kept = "".join(letter for letter in name if letter.isspace() or unicodedata.category(letter)[0] != "C")
    text = unicodedata.normalize("NFC", " ".join(kept.split()))
    if not text:
        raise _bad(field, said("name.empty", "give at least one letter"))
    if len(text) > longest:
        raise _bad(
            field, said("name.long", "give at most {longest} characters, not {text}", longest=longest, text=len(text))
        )
    return text


def _bad(field: str, message: str) -> ApiError:
    return invalid("Request", "clustersim.io", "", [Cause(field, message)])


def slug_of(name: str) -> str:
    """Return the ASCII slug of a name, random letters when nothing of it is ASCII (`梅` → `p-7hq2x`)."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SLUG_LENGTH_MAX].strip("-")
    return slug or "p-" + "".join(secrets.choice("bcdfghjkmnpqrstvwxz2346789") for _ in range(5))


def seat(session: SessionRow, name: str, role: Role, base: str = "") -> Principal:
    """Take a new seat. A student's namespace is named here and made by the caller.

    `base` is what the slug begins with; the name's own slug where nobody says.

    Raises:
        ApiError: 429, the session is full.
    """
    taken = Participant.objects.filter(session_id=session.id)
    if taken.count() >= PEOPLE_MAX:
        raise ApiError(
            429,
            "TooManyRequests",
            said(
                "session.full",
                "this session has its {people_max} seats taken; ask the teacher for another one",
                people_max=PEOPLE_MAX,
            ),
        )
    base = base or slug_of(name)
    for suffix in range(1, PEOPLE_MAX + 2):
        slug = base if suffix == 1 else f"{base}-{suffix}"
        if slug in _TAKEN_SLUGS:
            continue
        try:
            with transaction.atomic():
                row = Participant.objects.create(
                    session_id=session.id,
                    name=name,
                    slug=slug,
                    role=role,
                    namespace=f"s-{slug}" if role == STUDENT else "default",
                    color=taken.count() + 1,
                )
        except IntegrityError:
            continue
        wake_people(session.id)
        return principal_for(row, session.code)
    raise ApiError(
        429,
        "TooManyRequests",
        said("name.taken", "too many people are called {name!r} here; add something to the name", name=name),
    )


def principal_for(row: Participant, code: str) -> Principal:
    """Return the principal of a seat."""
    return Principal(row.session_id, code, row.pk, row.slug, row.name, cast(Role, row.role), row.namespace, row.color)


def new_token(principal: Principal) -> str:
    """Return a further token for the seat; the oldest of too many stops working."""
    token = new_secret()
    own = Token.objects.filter(participant_id=principal.participant_id)
    with transaction.atomic():
        Token.objects.create(digest=digest(token), participant_id=principal.participant_id)
        kept = list(own.order_by("-pk").values_list("pk", flat=True)[:TOKENS_PER_SEAT_MAX])
        own.filter(pk__lt=kept[-1]).delete()
    return token


def new_link(principal: Principal) -> str:
    """Return a secret that signs its bearer in to the seat; the seat's former ones stop working."""
    secret = new_secret()
    with transaction.atomic():
        Link.objects.filter(participant_id=principal.participant_id).delete()
        Link.objects.create(digest=digest(secret), participant_id=principal.participant_id)
    return secret


def enter(session: SessionRow, secret: str) -> Principal | None:
    """Return the seat that a link's secret opens in this session."""
    link = (
        Link.objects.filter(digest=digest(secret), participant__session_id=session.id, participant__left=False)
        .select_related("participant")
        .first()
    )
    return None if link is None else principal_for(link.participant, session.code)


def teacher_of(session: SessionRow) -> Principal:
    """Return the seat of the session's first teacher, whom the teacher's link signs in."""
    row = Participant.objects.filter(session_id=session.id, role=TEACHER).order_by("pk").first()
    if row is None:
        raise ApiError(404, "NotFound", said("session.noTeacher", "this session has no teacher"))
    return principal_for(row, session.code)


def of_session(session_id: int) -> list[Person]:
    """Return everybody who has a seat, in order of taking it."""
    return [person for person in all_of_session(session_id) if not person.left]


def all_of_session(session_id: int) -> list[Person]:
    """Return everybody who has or had a seat, in order of taking it: what they did stays theirs."""
    now_ms = real_ms()
    rows = Participant.objects.filter(session_id=session_id).order_by("pk")
    found = []
    for row in rows:
        online = row.online_until_ms > now_ms
        looks_at = row.looks_at if online and not row.left else ""
        found.append(
            Person(
                row.pk, row.name, row.role, row.slug, row.color, online, row.namespace, row.left, looks_at, row.muted
            )
        )
    return found


def find(session_id: int, participant_id: str) -> Participant:
    """Return a seat of this session that is not given up.

    Raises:
        ApiError: 404.
    """
    row = None
    if participant_id.isdecimal() and len(participant_id) < 19:
        row = Participant.objects.filter(session_id=session_id, pk=int(participant_id), left=False).first()
    if row is None:
        raise ApiError(
            404,
            "NotFound",
            said(
                "people.unknown",
                "nobody with the id {participant_id} has a seat in this session",
                participant_id=participant_id,
            ),
        )
    return row


def rename(row: Participant, name: str) -> None:
    """Change the name that is shown; slug and namespace stay."""
    row.name = name
    row.save(update_fields=["name"])
    auth.forget_remembered()
    wake_people(row.session_id)


def leave(session_id: int, participant_id: int) -> None:
    """Give a seat up: its tokens and links stop working, its objects and its authorship stay."""
    with transaction.atomic():
        Token.objects.filter(participant_id=participant_id).delete()
        Link.objects.filter(participant_id=participant_id).delete()
        Participant.objects.filter(pk=participant_id).update(left=True, online_until_ms=0)
    auth.forget_remembered()
    wake_people(session_id)


def mark_present(participant_ids: Iterable[int]) -> None:
    """Note that these people have a page open."""
    Participant.objects.filter(pk__in=list(participant_ids)).update(online_until_ms=real_ms() + SEEN_FOR_MS)


def mark_absent(session_id: int, participant_id: int) -> None:
    """Note that a person's last page in this process was closed; another process that has one says so again soon."""
    Participant.objects.filter(pk=participant_id).update(online_until_ms=0, looks_at="")
    wake_people(session_id)


ROLES_GIVEN: Final = (VIEWER, COMPONENT)
"""Roles that a teacher hands out tokens for."""
