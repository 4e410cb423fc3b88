"""What a scheduler tells of the cycle that it runs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Object, Shape


class CycleInput(Shape, frozen=True):
    """What must be there of a cycle's input, as `scheduler_core.scheduler.run.CycleInput` writes it."""

    seen_revision: Annotated[int, Meta(ge=0)]
    attempt: Annotated[int, Meta(ge=1)]
    assumed: dict[str, str]
    nominations: dict[str, str]
    waiting: list[str]
    start: Annotated[int, Meta(ge=0)]
    order: list[str]
    configuration: str
    profile: str
    now_ms: Annotated[int, Meta(ge=0)]
    preemptor: Object | None = None
    extenders: list[Object] = []
    volumes: dict[str, dict[str, str]] = {}
    claims: dict[str, str] = {}


class Cycle(Shape, frozen=True):
    """Cycle is a scheduling cycle in hand: what must be there for it to be run again to its point."""

    pod: str
    uid: str
    attempt: int
    point: str
    started_at_ms: Annotated[int, Meta(ge=0)]
    seen_revision: Annotated[int, Meta(ge=0)]
    trace_id: str
    input: CycleInput


class Held(Shape, frozen=True):
    """Held is one plugin that keeps a pod at Permit."""

    name: str
    until_ms: int


class Waiting(Shape, frozen=True):
    """Waiting is a pod that Permit holds: what must be there for it to go on waiting under a new owner."""

    uid: str
    node: str
    plugins: list[Held]
