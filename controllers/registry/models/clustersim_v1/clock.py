"""Clock: how a session's time goes on, is held and stepped."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Object, Shape

RATE_MIN: Final = 0.1
"""Simulated seconds per real second: slower shows nothing more; outside these the answer is 422."""

RATE_MAX: Final = 100
"""Simulated seconds per real second: faster no worker keeps up with."""

PACE_MAX_MS: Final = 60_000
"""Simulated milliseconds at one extension point; more is refused with 422: a minute is longer than anybody waits."""

STEP_COUNT_MAX: Final = 10_000
"""Steps of one request; more are refused with 422: the owner answers within seconds."""

RUN_SECONDS_MAX: Final = 120
"""Real seconds that one run may take; more are refused with 422: a class has looked away by then."""


class Step(Shape, frozen=True):
    """ClockStep asks for steps; a new id is a new request."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    by: Annotated[
        Literal["cycle", "event", "point", "seconds"] | None, Meta(description="point, cycle, event or seconds.")
    ] = None
    count: Annotated[int, Meta(ge=0, le=STEP_COUNT_MAX, description="How many.")] | None = None


class Hold(Shape, frozen=True):
    """Hold stops time when a scheduler takes a pod, before anything of its decision is made."""

    id: Annotated[str, Meta(description="Who asks, as the name of a poll.")] = ""
    pod: Annotated[str, Meta(description="The pod, as namespace/name.")] = ""


class Run(Shape, frozen=True):
    """Run lets time go as fast as it can until something is true; a new id is a new request."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    until: Annotated[str, Meta(description="A predicate, as docs/lessons.md has them.")] = ""
    seconds: Annotated[
        float, Meta(gt=0, le=RUN_SECONDS_MAX, description="Real seconds after which it ends in any case.")
    ] = 20.0
    began_ms: Annotated[int, Meta(ge=0, description="Simulated milliseconds that since() counts from.")] = 0
    waits_ms: Annotated[int, Meta(ge=0, description="Simulated milliseconds that waited() counts from.")] | None = None


class RunStatus(Shape, frozen=True):
    """RunStatus is what became of a run: running, reached, timeout or failed."""

    open_fields: ClassVar[bool] = True

    id: int = 0
    state: str = ""
    message: str = ""
    sim_time_ms: Annotated[int, Meta(ge=0)] = 0


class ClockSpec(Shape, frozen=True):
    """ClockSpec is what is asked of the clock."""

    paused: Annotated[bool, Meta(description="Stop simulated time.")] = False
    rate: Annotated[
        float, Meta(ge=RATE_MIN, le=RATE_MAX, description="Simulated seconds per real second, 0.1 to 100.")
    ] = 1.0
    pace: Annotated[
        int,
        Meta(
            ge=0,
            le=PACE_MAX_MS,
            description="Simulated milliseconds a scheduling cycle spends at each extension point.",
        ),
    ] = 0
    step: Annotated[Step | None, Meta(description="Steps to take while paused.")] = None
    hold: Annotated[Hold | None, Meta(description="The pod before whose PreFilter time stops, as long as asked.")] = (
        None
    )
    run: Annotated[Run | None, Meta(description="How far time is to go by itself.")] = None


class ClockStatus(Shape, frozen=True):
    """ClockStatus is the clock as its owner runs it."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    paused: bool | None = None
    rate: Annotated[float, Meta(ge=RATE_MIN, le=RATE_MAX)] | None = None
    pace: Annotated[int, Meta(ge=0, le=PACE_MAX_MS)] | None = None
    sim_time_ms: Annotated[int, Meta(ge=0)] | None = None
    anchor_unix_ms: Annotated[int, Meta(ge=0)] | None = None
    carry_rate: Annotated[float, Meta(ge=0, le=RATE_MAX)] | None = None
    effective_rate: Annotated[float, Meta(ge=0, le=1_000)] | None = None
    stepped: Annotated[int, Meta(ge=0)] = 0
    step_id: Annotated[int, Meta(ge=0)] = 0
    stepping: bool = False
    held: Object | None = None
    run: RunStatus | None = None
    narrated: Object | None = None


class Clock(Shape, frozen=True):
    """Clock is the session's simulated clock: what is asked of it and what its owner has made of that."""

    spec: Annotated[ClockSpec, Meta(description="What is asked.")] = ClockSpec()
    status: Annotated[ClockStatus, Meta(description="What the owner has observed.")] = ClockStatus()
