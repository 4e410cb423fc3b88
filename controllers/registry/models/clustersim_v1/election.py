"""What a replica tells of leader election."""

from __future__ import annotations

from typing import ClassVar

from controllers.registry.models.clustersim_v1.shape import Shape


class Outcome(Shape, frozen=True):
    """Outcome is what came of a verdict."""

    open_fields: ClassVar[bool] = True

    id: int = 0
    uid: str = ""
    outcome: str = ""


class Exit(Shape, frozen=True):
    """Exit is how a replica's process ended last: 0 when it was asked to, 1 when it lost its lease."""

    open_fields: ClassVar[bool] = True

    code: int = 0
    reason: str = ""
    at_ms: int = 0


class Callback(Shape, frozen=True):
    """Callback is one that client-go's elector made; `identity` is the new leader's where it tells of one."""

    open_fields: ClassVar[bool] = True

    callback: str = ""
    at_ms: int = 0
    identity: str = ""


class Belief(Shape, frozen=True):
    """Belief is a time during which a replica believed that it leads; `to_ms` is null while it does."""

    open_fields: ClassVar[bool] = True

    from_ms: int = 0
    to_ms: int | None = None


class Election(Shape, frozen=True):
    """Election is a try for the lock that says something, in simulated milliseconds, and what the replica had seen."""

    open_fields: ClassVar[bool] = True

    at_ms: int = 0
    branch: str = ""
    leading: bool = False
    conflict: bool = False
    holder: str = ""
    seen_ms: int = 0
    expires_ms: int = 0
