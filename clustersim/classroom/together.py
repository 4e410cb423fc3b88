"""What people have in common beside the cluster: at what each of them looks, and what the teacher points at.

It may be lost, so it is not in the log. A process says for its people where they look (`mark_looking`), every process
reads it with the list of people; hints carry no more than "read it again".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from clustersim.classroom.auth import STUDENT, TEACHER, Principal
from clustersim.classroom.models import Participant, Together
from clustersim.feed.hints import wake_people
from clustersim.store.sessions import real_ms
from controllers.kinds.table import page_of

LOOKERS: Final = (TEACHER, STUDENT)
"""Roles whose looks are told: one viewer's link may be on many walls."""

KEY_LENGTH_MAX: Final = 320
"""Characters of the namespace and name of what somebody looks at; a longer one is not told."""

POINTED_FOR_MS: Final = 20_000
"""A page that comes later than this is not told of what was pointed at."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """What somebody points at: one object, until another one or POINTED_FOR_MS have passed."""

    number: int
    by: int
    resource: str
    namespace: str
    name: str

    def as_dict(self) -> dict[str, Any]:
        """Return the frame `pointed` of docs/protocol.md."""
        place = {"namespace": self.namespace} if self.namespace else {}
        return {
            "type": "pointed",
            "id": self.number,
            "by": str(self.by),
            "resource": self.resource,
            **place,
            "name": self.name,
        }


def look_of(resource: object, key: object) -> str:
    """Return what somebody looks at as it is kept; "" where it is nothing that a page shows more of than its name."""
    if not isinstance(resource, str) or not isinstance(key, str) or not 0 < len(key) <= KEY_LENGTH_MAX:
        return ""
    return f"{resource} {key}" if page_of(resource) and key.isprintable() and " " not in key else ""


def mark_looking(session_id: int, looks: Mapping[int, str]) -> None:
    """Note where people look, by participant, and tell everybody; nothing while looks are switched off."""
    if not looks_on(session_id):
        return
    for participant_id, look in looks.items():
        Participant.objects.filter(pk=participant_id, session_id=session_id).update(looks_at=look)
    wake_people(session_id)


def looks_on(session_id: int) -> bool:
    """Return whether looks are told in this session."""
    return not Together.objects.filter(session_id=session_id, hidden=True).exists()


def switch_looks(session_id: int, on: bool) -> None:
    """Have looks told, or no longer: then what is known of them is forgotten."""
    Together.objects.update_or_create(session_id=session_id, defaults={"hidden": not on})
    if not on:
        Participant.objects.filter(session_id=session_id).exclude(looks_at="").update(looks_at="")
    wake_people(session_id)


def point(principal: Principal, resource: str, namespace: str, name: str) -> Pointed:
    """Point everybody at an object."""
    now_ms = real_ms()
    told = {"id": now_ms, "by": principal.participant_id, "resource": resource, "namespace": namespace, "name": name}
    Together.objects.update_or_create(session_id=principal.session_id, defaults={"pointed": told})
    wake_people(principal.session_id)
    return _pointed(told)


def of_session(session_id: int) -> tuple[bool, Pointed | None]:
    """Return whether looks are told, and what is pointed at just now."""
    row = Together.objects.filter(session_id=session_id).first()
    if row is None:
        return True, None
    told = row.pointed
    if told is None or real_ms() - told["id"] >= POINTED_FOR_MS:
        return not row.hidden, None
    return not row.hidden, _pointed(told)


def _pointed(told: Mapping[str, Any]) -> Pointed:
    return Pointed(told["id"], told["by"], told["resource"], told["namespace"], told["name"])
