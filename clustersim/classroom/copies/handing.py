"""Handing copies out, taking one, and going into one: a copy is a fork whose student is its teacher."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from django.db import transaction

from clustersim.classroom import auth, opening, people
from clustersim.classroom.auth import STUDENT, TEACHER, VIEWER, Principal
from clustersim.classroom.commanding import set_clock
from clustersim.classroom.models import Copy, Participant
from clustersim.classroom.polls.sealing import LATER_COPY, refuse_all, seal_of
from clustersim.classroom.writing import SESSION_ACTOR, writes
from clustersim.feed.hints import wake_class
from clustersim.store import SqlStore, forking, open_store, sessions
from clustersim.store.sessions import SessionRow
from controllers.predicates import ExpressionError, Predicate
from scheduler_core.api.draw import draw
from scheduler_core.api.errors import ApiError, Cause, invalid
from scheduler_core.api.said import said

COPIES_MAX: Final = 400
"""Copies handed out at once: a full lecture hall."""

Seeds = Literal["same", "each"]


def hand_out(
    store: SqlStore,
    session: SessionRow,
    seats: Sequence[Participant],
    revision: int,
    seeds: Seeds,
    until: str = "",
    *,
    taken: bool = False,
) -> list[Copy]:
    """Make a copy of a moment for each of the seats; a seat's earlier ones are kept as such.

    Copies sleep until somebody goes in. With seeds `same` the engine draws the same in each; with `each` every seat has
    its own, which another hand-out gives it again. `until` is a predicate: a copy in which it holds is done. One that
    cannot be made says why. A seat is told of its copy, unless it has `taken` it by itself.

    Raises:
        ApiError: 409 while a poll seals a pod; 410 the revision is no longer kept.
    """
    check_unsealed(store)
    made = []
    for row in seats:
        seed = session.seed if seeds == "same" else draw(session.seed, "seat", str(row.color), below=2**31)
        student = people.principal_for(row, session.code)
        problem, code_id = "", None
        try:
            code_id = opening.fork_asleep(student, store, revision, seed).id
        except ApiError as error:
            if error.code == 410:
                raise
            problem = error.message
        made.append(_keep(session.id, row.pk, code_id, revision, problem, until, handed=not taken))
    wake_class(session.id)
    return made


def put_on_wall(teacher: Principal, copy: Copy) -> Copy:
    """Make a copy of a copy that tells nobody's name, for the whole class to look at and to be asked about.

    It stands at the moment that the copy has come to, and sleeps until somebody goes in. It takes the place of what was
    on the wall before.

    Raises:
        ApiError: 409 while a poll is open; 410, 503.
    """
    assert copy.fork_id is not None, "a copy with a code is there"
    source = open_store(copy.fork_id)
    check_unsealed(source)
    made = opening.fork_asleep(replace(teacher, session_id=copy.fork_id), source, source.revision, prepare=unname)
    return hang(teacher, made.id, source.revision)


def open_for_wall(teacher: Principal, copy: Copy, revision: int) -> opening.Opened:
    """Make such a copy of a moment of a copy, in which time stands; it hangs nowhere yet.

    Raises:
        ApiError: 409 while a poll is open; 410, 503.
    """
    assert copy.fork_id is not None, "a copy with a code is there"
    source = open_store(copy.fork_id)
    check_unsealed(source)
    return opening.fork_session(replace(teacher, session_id=copy.fork_id), source, revision, prepare=_stand_unnamed)


def _stand_unnamed(made: SqlStore) -> None:
    unname(made)
    with writes(made, SESSION_ACTOR) as transaction:
        set_clock(made, transaction, paused=True)


def hang(teacher: Principal, fork_id: int, revision: int) -> Copy:
    """Let the class look at a fork of its session, which tells nobody's name; what hung there before comes down."""
    before = Copy.objects.filter(session_id=teacher.session_id, wall=True, earlier=False).select_related("fork")
    for other in list(before):
        take_from_wall(teacher.session_id, other)
    with transaction.atomic():
        found = Copy.objects.create(
            session_id=teacher.session_id,
            participant_id=teacher.participant_id,
            fork_id=fork_id,
            revision=revision,
            made_ms=sessions.real_ms(),
            wall=True,
        )
    _wake(teacher.session_id, found)
    return found


def take_from_wall(session_id: int, copy: Copy) -> None:
    """Let the class go on with its own session."""
    Copy.objects.filter(pk=copy.pk, wall=True).update(earlier=True)
    _wake(session_id, copy)


def _wake(session_id: int, hung: Copy) -> None:
    """Have the class told what hangs on its wall, those who are in it, and whoever plays on where it came about."""
    came_about = None if hung.fork is None else hung.fork.parent_id
    for told in (session_id, hung.fork_id, came_about):
        if told is not None:
            wake_class(told)


def unname(made: SqlStore) -> None:
    """Take people's names out of a fork before anybody runs it."""
    forking.forget_people(made.session_id, auth.CREATED_BY)


def note(session_id: int, participant_id: int, fork_id: int, revision: int) -> Copy:
    """Keep that somebody has forked a session: it is their copy of it."""
    return _keep(session_id, participant_id, fork_id, revision, "")


def _keep(
    session_id: int,
    participant_id: int,
    fork_id: int | None,
    revision: int,
    problem: str,
    until: str = "",
    *,
    handed: bool = False,
) -> Copy:
    with transaction.atomic():
        Copy.objects.filter(session_id=session_id, participant_id=participant_id).update(earlier=True)
        return Copy.objects.create(
            session_id=session_id,
            participant_id=participant_id,
            fork_id=fork_id,
            revision=revision,
            made_ms=sessions.real_ms(),
            problem=problem[:300],
            until=until,
            handed=handed,
        )


def check_unsealed(store: SqlStore) -> None:
    """Refuse copies while a poll is open: a copy would run on and tell what is asked.

    Raises:
        ApiError: 409.
    """
    refuse_all(seal_of(store), LATER_COPY)


def checked_goal(text: str) -> str:
    """Return a predicate as it is kept.

    Raises:
        ApiError: 422, it cannot be compiled; with what is wrong where.
    """
    try:
        if text:
            Predicate.compile(text)
    except ExpressionError as wrong:
        raise invalid("Request", "clustersim.io", "", [Cause("until", str(wrong))]) from wrong
    return text


def students(session_id: int, ids: Iterable[str] | None) -> list[Participant]:
    """Return students' seats by their ids, or (None) all of them.

    Raises:
        ApiError: 404, one is nobody's, or no student's.
    """
    if ids is None:
        return list(Participant.objects.filter(session_id=session_id, role=STUDENT, left=False).order_by("pk"))
    found = [people.find(session_id, one) for one in ids]
    for row in found:
        if row.role != STUDENT:
            raise ApiError(
                404,
                "NotFound",
                said("copies.noStudent", "{name} is no student: copies are for students", name=row.name),
            )
    return found


def own(session_id: int, participant_id: int) -> list[Copy]:
    """Return somebody's copies, the newest first."""
    rows = Copy.objects.filter(session_id=session_id, participant_id=participant_id, fork__isnull=False, wall=False)
    return list(rows.select_related("fork").order_by("-pk"))


def newest(session_id: int) -> list[Copy]:
    """Return each seat's newest copy, by seat."""
    rows = Copy.objects.filter(session_id=session_id, earlier=False, participant__left=False, wall=False)
    return list(rows.select_related("fork", "participant").order_by("participant__color"))


def find(session_id: int, code: str) -> Copy:
    """Return the copy with this code.

    Raises:
        ApiError: 404.
    """
    wanted = sessions.find(code)
    row = None
    if wanted is not None:
        row = Copy.objects.filter(session_id=session_id, fork_id=wanted.id).select_related("participant").first()
    if row is None:
        raise ApiError(
            404,
            "NotFound",
            said("copies.unknown", "no copy of this session has the code {code!r}", code=code[:20]),
            name=code[:20],
        )
    return row


def go_in(principal: Principal, copy: Copy) -> tuple[SessionRow, Principal, str]:
    """Return (the copy, the seat there, a token for it): its student teaches it, the teacher looks.

    Into what is on the wall the whole class goes, each as who they are.

    Raises:
        ApiError: 403, it is somebody else's.
    """
    assert copy.fork_id is not None, "a copy with a code is there"
    session = sessions.get(copy.fork_id)
    if principal.participant_id == copy.participant_id:
        seat = people.teacher_of(session)
    elif copy.wall and principal.role in (STUDENT, VIEWER):
        seat = _in_class(session, principal)
    elif principal.role == TEACHER:
        seat = _looking_in(session, principal)
    else:
        raise ApiError(
            403, "Forbidden", said("copies.others", "this copy is somebody else's: ask the teacher for one of your own")
        )
    return session, seat, people.new_token(seat)


def _in_class(session: SessionRow, principal: Principal) -> Principal:
    """Return somebody's seat in what is on the wall: the same slug, however often they go in."""
    row = Participant.objects.filter(session_id=session.id, slug=principal.slug, role=principal.role).first()
    if row is None and principal.role != STUDENT:
        return people.seat(session, principal.name, VIEWER, principal.slug)
    seat = (
        people.principal_for(row, session.code)
        if row
        else opening.seat_student(session, principal.name, principal.slug)[0]
    )
    # Who is muted in the class is muted there.
    muted = Participant.objects.filter(pk=principal.participant_id, muted=True).exists()
    Participant.objects.filter(pk=seat.participant_id, muted=False).update(muted=muted)
    return seat


def _looking_in(session: SessionRow, teacher: Principal) -> Principal:
    """Return the seat from which a class's teacher looks into a copy; its student sees it taken."""
    rows = Participant.objects.filter(session_id=session.id, role=VIEWER, name=teacher.name, left=False)
    row = rows.order_by("pk").first()
    if row is not None:
        return people.principal_for(row, session.code)
    return people.seat(session, teacher.name, VIEWER)


def parent_of(session: SessionRow) -> SessionRow | None:
    """Return whereto one goes back from a fork, while it is there: what it was made of, from a wall the class.

    What hangs on a wall was made of somebody's own copy, whose code is nobody else's business.
    """
    parent = _class_of(session)
    return _there(session.parent_id if parent is None else parent)


def joined_at(session: SessionRow) -> SessionRow:
    """Return the session by whose code newcomers join: of what hangs on a wall, or hung there, it is the class."""
    return _there(_class_of(session)) or session


def _class_of(session: SessionRow) -> int | None:
    return Copy.objects.filter(fork_id=session.id, wall=True).values_list("session_id", flat=True).first()


def _there(session_id: int | None) -> SessionRow | None:
    try:
        return None if session_id is None else sessions.get(session_id)
    except sessions.NoSession:
        return None
