"""Who is told nothing while a poll is open, and how that is said."""

from __future__ import annotations

from typing import Final

from clustersim.classroom.auth import Principal
from clustersim.feed.seal import NO_SEAL, Seal, Sealed, seal_of
from controllers.kinds.clustersim.lesson import NAME as LESSON_NAME
from controllers.kinds.clustersim.lesson import RESOURCE as LESSON
from controllers.log.store import Store
from controllers.registry.models.clustersim_v1 import LessonSpec
from controllers.registry.structs import read
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

LATER: Final = said("poll.later", "something is asked: this opens at the reveal")
LATER_COPY: Final = said("poll.laterCopy", "something is asked: your copy opens at the reveal")


def seal_for(principal: Principal, store: Store) -> Seal:
    """Return what is sealed for somebody now."""
    return seal_of(store).of(principal.role)


def later_for(principal: Principal, store: Store) -> Seal:
    """Return what is sealed for somebody now, or is about to be.

    While the scene of a lesson's step stands, its pod may be in hand already: whoever could take that moment with them
    would know the answer before they are asked.
    """
    return seal_for(principal, store) or _coming(store).of(principal.role)


def _coming(store: Store) -> Seal:
    stored = store.get(LESSON, "", LESSON_NAME)
    spec = read(None if stored is None else stored.object.get("spec"), LessonSpec)
    return Seal((Sealed(spec.step, "", "", spec.alone),)) if spec.phase == "scene" and spec.asks else NO_SEAL


def refuse_all(seal: Seal, text: str = LATER) -> None:
    """Refuse what could tell the answer of any poll.

    Raises:
        ApiError: 409, something is sealed.
    """
    if seal:
        raise ApiError(409, "Conflict", text, name=seal.polls[0].poll)


def refuse_copy(taker: Principal, store: Store) -> None:
    """Refuse to take a moment along into a copy, or to go on in one, while something is asked or about to be.

    Raises:
        ApiError: 409.
    """
    refuse_all(later_for(taker, store), LATER_COPY)


def refuse_pod(seal: Seal, key: str) -> None:
    """Refuse what is about one pod (`namespace/name`).

    Raises:
        ApiError: 409, it is sealed.
    """
    if seal.hides_pod(key):
        refuse_all(seal)


def refuse_fork(forker: Principal, store: Store) -> None:
    """Refuse a copy in which somebody could see what a poll asks.

    Raises:
        ApiError: 409, a poll is open to whoever forks.
    """
    refuse_all(seal_for(forker, store), LATER_COPY)


__all__ = [
    "NO_SEAL",
    "Seal",
    "later_for",
    "refuse_all",
    "refuse_copy",
    "refuse_fork",
    "refuse_pod",
    "seal_for",
    "seal_of",
]
