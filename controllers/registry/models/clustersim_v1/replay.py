"""Replay: a trace that is played into a session."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Shape


class ReplaySpec(Shape, frozen=True):
    """ReplaySpec is the trace and how fast it is played."""

    nodes: Annotated[str, Meta(description="The node list, CSV.")] = ""
    pods: Annotated[str, Meta(description="The pod list, CSV.")] = ""
    divisor: Annotated[float, Meta(gt=0, description="Trace seconds per session second.")] = 1.0
    start: Annotated[float, Meta(description="Session second at which the trace begins.")] = 0.0


class ReplayStatus(Shape, frozen=True):
    """ReplayStatus is how far the trace has been played."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    created: Annotated[int, Meta(ge=0)] = 0
    deleted: Annotated[int, Meta(ge=0)] = 0
    total: int = 0
    done: bool = False


class Replay(Shape, frozen=True):
    """Replay plays a recorded trace of nodes and pods into the session."""

    spec: ReplaySpec = ReplaySpec()
    status: ReplayStatus = ReplayStatus()
