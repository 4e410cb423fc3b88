"""What the teacher does to the class: what everybody is shown, whether students may act, whether walls tell names.

None of it is the cluster's, so it is not in the log: a rewound session is shown to the same class. One row a session,
which every process reads again on a hint; hints carry no more than "read it again".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from clustersim.classroom import people, together
from clustersim.classroom.auth import ACCOUNT, STUDENT, TEACHER, Principal
from clustersim.classroom.models import Copy, Lectern, Participant
from clustersim.feed.hints import wake_class, wake_people
from clustersim.store.sessions import real_ms
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, invalid, one_of
from scheduler_core.api.said import said

SCENES: Final = ("stage", "decision", "preemption", "election", "poll", "lesson")
"""What a projector shows, one at a time."""

TAB_LENGTH_MAX: Final = 30
"""Characters of a tab's name."""

ZOOM_MIN: Final = 1.0
ZOOM_MAX: Final = 5_000.0
"""How near the stage may be shown; 1 is what fits."""

PART_MAX: Final = 99.0
"""Parts of a tab of the inspector that may be counted; no tab has as many."""

RANGES: Final = {"zoom": (ZOOM_MIN, ZOOM_MAX), "part": (0.0, PART_MAX)}
"""The least and the most of fields that are numbers."""

FIELDS: Final = ("rv", "select", "inspectorTab", "part", "dockTab", "scene", "zoom")


@dataclass(frozen=True, slots=True)
class ClassState:
    """How a session's class stands: `view` None is nobody presenting; `by` the presenter's seat, `at_ms` Unix.

    `handed` tells of each seat whose newest copy was handed out when that was (Unix milliseconds), `wall` the code of
    the copy that the whole class looks at, `home` that of the class where this session hung on its wall and does no
    longer. `owner` is the seat of whoever came to what hangs there: it is told to nobody else.
    """

    view: Document | None = None
    by: int = 0
    at_ms: int = 0
    frozen: bool = False
    names: bool = False
    handed: Mapping[str, int] = field(default_factory=dict)
    wall: str = ""
    home: str = ""
    owner: int = 0

    def presenting(self) -> Document:
        """Return the frame `presenting` of docs/protocol.md."""
        return {"type": "presenting", "view": self.view, "by": str(self.by) if self.by else "", "at": self.at_ms}

    def told(self, *, yours: bool = False) -> Document:
        """Return the frame `class` of docs/protocol.md; `yours` to the owner of what hangs on the wall."""
        return {
            "type": "class",
            "frozen": self.frozen,
            "names": self.names,
            "handed": self.handed,
            "wall": self.wall,
            "home": self.home,
            "yours": yours,
        }


def state_of(session_id: int) -> ClassState:
    """Return how a session's class stands; one that nothing was done to is free, and its walls tell no names."""
    row = Lectern.objects.filter(session_id=session_id).first()
    copies = Copy.objects.filter(session_id=session_id, earlier=False, fork__isnull=False)
    to_seats = copies.filter(handed=True).order_by("pk").values_list("participant_id", "made_ms")
    handed = {str(seat): made_ms for seat, made_ms in to_seats}
    code, source = copies.filter(wall=True).values_list("fork__code", "fork__parent").first() or ("", None)
    wall, owner = _shown(code), _owner(session_id, source)
    taken = Copy.objects.filter(fork_id=session_id, wall=True, earlier=True)
    home = _shown(taken.values_list("session__code", flat=True).first())
    if row is None:
        return ClassState(handed=handed, wall=wall, home=home, owner=owner)
    return ClassState(row.view, row.by, row.at_ms, row.frozen, row.names, handed, wall, home, owner)


def _owner(session_id: int, source: int | None) -> int:
    """Return the seat of whoever came to what hangs on the wall, here or where they play on in their own copy.

    Args:
        session_id: of the class, or of a copy.
        source: what hangs on the wall of this session was made of it; None where nothing does.
    """
    if source is not None:
        own = Copy.objects.filter(session_id=session_id, fork_id=source, wall=False)
        return own.values_list("participant_id", flat=True).first() or 0
    if (
        not Copy.objects.filter(fork__parent_id=session_id, wall=True, earlier=False)
        .exclude(session_id=session_id)
        .exists()
    ):
        return 0
    seats = Participant.objects.filter(session_id=session_id, role=TEACHER)
    return seats.values_list("pk", flat=True).first() or 0


def _shown(code: str | None) -> str:
    return f"{code[:3]}-{code[3:]}" if code else ""


def present(session_id: int, by: int, view: Document) -> ClassState:
    """Show the class what the person `by` sees. `view` is checked (`checked_view`)."""
    return _change(session_id, view=view, by=by, at_ms=real_ms())


def stop_presenting(session_id: int) -> ClassState:
    """Let everybody see what they like."""
    return _change(session_id, view=None, by=0, at_ms=real_ms())


def shows_names(session_id: int) -> bool:
    """Return whether viewers' screens tell names."""
    return Lectern.objects.filter(session_id=session_id, names=True).exists()


def freeze(session_id: int, frozen: bool) -> ClassState:
    """Refuse what students write, or no longer. Votes count all the same."""
    return _change(session_id, frozen=frozen)


def show_names(session_id: int, names: bool) -> ClassState:
    """Have viewers' screens tell names, or no longer."""
    state = _change(session_id, names=names)
    wake_people(session_id)
    return state


def _change(session_id: int, **fields: Any) -> ClassState:
    Lectern.objects.update_or_create(session_id=session_id, defaults=fields)
    wake_class(session_id)
    return state_of(session_id)


def checked_view(view: object, newest: int) -> Document:
    """Return what is to be shown, with what was given alone.

    Raises:
        ApiError: 422 with the fields that are wrong.
    """
    if not isinstance(view, Mapping):
        raise invalid(
            "Request",
            "clustersim.io",
            "",
            [Cause("view", said("view.object", "give an object; an empty one shows what all see"))],
        )
    causes = [
        Cause(
            f"view.{name}"[:80],
            said("field.unknown", "there is no such field; known are {known}", known=", ".join(FIELDS)),
        )
        for name in view
        if name not in FIELDS
    ]
    kept = {name: view[name] for name in FIELDS if view.get(name) is not None}
    causes += [Cause(f"view.{name}", why) for name, value in kept.items() if (why := _wrong(name, value, newest))]
    if causes:
        raise invalid("Request", "clustersim.io", "", causes)
    return kept


def _wrong(name: str, value: object, newest: int) -> str:
    """Return what is wrong with a field of a view; "" nothing."""
    if name == "rv":
        good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= newest
        return (
            ""
            if good
            else said("give.revision", "give a whole number from 1 to {newest}, the newest revision", newest=newest)
        )
    if name in RANGES:
        least, most = RANGES[name]
        good = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
        return "" if good else said("give.number", "give a number from {least:g} to {most:g}", least=least, most=most)
    if name == "scene":
        return "" if value in SCENES else one_of(SCENES)
    if name == "select":
        resource, _, key = value.partition(" ") if isinstance(value, str) else ("", "", "")
        return (
            ""
            if together.look_of(resource, key)
            else said("view.select", 'give "<resource> <namespace>/<name>" of what pages show')
        )
    good = isinstance(value, str) and 0 < len(value) <= TAB_LENGTH_MAX and value.replace("-", "").isalnum()
    return "" if good else said("view.tab", "give a tab's name, at most {most} letters", most=TAB_LENGTH_MAX)


def check_may_act(principal: Principal) -> None:
    """Refuse what a student does while the class is frozen or they are muted, their accounts' too.

    Raises:
        ApiError: 403 that says which, and who undoes it.
    """
    if principal.role == STUDENT:
        seats = Participant.objects.filter(pk=principal.participant_id)
    elif principal.role == ACCOUNT:
        seats = Participant.objects.filter(
            session_id=principal.session_id, namespace=principal.namespace, role=STUDENT, left=False
        )
    else:
        return
    muted = seats.values_list("muted", flat=True).first()
    if muted is None:
        return
    if Lectern.objects.filter(session_id=principal.session_id, frozen=True).exists():
        raise ApiError(
            403,
            "Forbidden",
            said("class.frozen", "frozen by the teacher: nobody's changes are taken until they unfreeze; votes are"),
        )
    if muted:
        raise ApiError(
            403,
            "Forbidden",
            said("class.muted", "muted by the teacher: your changes are not taken until they unmute you; votes are"),
        )


def mute(row: Participant, muted: bool) -> None:
    """Refuse what one person writes, or no longer; at what they look is not told either."""
    row.muted = muted
    if muted:
        row.looks_at = ""
    row.save(update_fields=["muted", "looks_at"])
    wake_people(row.session_id)


def people_told_to(principal: Principal) -> list[dict[str, object]]:
    """Return everybody with a seat, as this person is told of them: walls tell no names unless the teacher says so."""
    names = shows_names(principal.session_id)
    return people.told_to(principal.role, people.of_session(principal.session_id), names=names)
