"""Who is told nothing while a poll is open, and how that is said."""

from __future__ import annotations

from typing import Final

from clustersim.classroom.auth import Principal
from clustersim.feed.seal import NO_SEAL, Seal, seal_of
from controllers.log.store import Store
from scheduler_core.api.errors import ApiError

LATER: Final = "a poll is open: this opens at the reveal"
LATER_COPY: Final = "a poll is open: your copy opens at the reveal"


def seal_for(principal: Principal, store: Store) -> Seal:
    """Return what is sealed for somebody now."""
    return seal_of(store).of(principal.role)


def refuse_all(seal: Seal, text: str = LATER) -> None:
    """Refuse what could tell the answer of any poll.

    Raises:
        ApiError: 409, something is sealed.
    """
    if seal:
        raise ApiError(409, "Conflict", text, name=seal.polls[0].poll)


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


__all__ = ["NO_SEAL", "Seal", "refuse_all", "refuse_fork", "refuse_pod", "seal_for", "seal_of"]
