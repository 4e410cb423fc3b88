"""What the command objects ask for: clock, steps, faults and verdicts. `controllers.obeying` does it.

What the engine made of a command is written as a row from elsewhere, with the place in the loop's run (`engine`: events
run, time) at which it took effect; a second run from the log lets it take effect at the same place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from controllers.faults.active import Active
from controllers.faults.fault import Asked
from controllers.faults.table import FAULTS
from controllers.registry.context import SESSION as SESSION
from controllers.registry.models import clustersim_v1 as api
from controllers.registry.structs import is_whole, read

CLOCKS: Final = "clocks.clustersim.io"
CLOCK: Final = "clock"
REPLICAS: Final = "replicas.clustersim.io"


@dataclass(frozen=True, slots=True)
class Hold:
    """A pod (`namespace/name`) at which time is to stand, before PreFilter of its cycle; `id` says who asked."""

    id: str
    pod: str

    @classmethod
    def of(cls, asked: api.Hold | None) -> Hold | None:
        """Return the hold that a clock's spec asks for."""
        return cls(asked.id, asked.pod) if asked is not None and asked.pod else None


@dataclass(frozen=True, slots=True)
class RunAsked:
    """A run that was asked for: until a predicate holds, at most so many real seconds; see `controllers.running`."""

    id: int
    until: str
    seconds: float
    began_ms: int
    """What `since()` counts from."""
    waits_ms: int | None
    """What `waited()` counts from."""

    @classmethod
    def of(cls, asked: api.Run | None) -> RunAsked | None:
        """Return the run that a clock's spec asks for."""
        if asked is None or not asked.id or not asked.until:
            return None
        return cls(asked.id, asked.until, asked.seconds, asked.began_ms, asked.waits_ms)


@dataclass(frozen=True, slots=True)
class RunTold:
    """What is known of the newest run: `state` is running, reached, timeout or failed; since or until when."""

    id: int
    state: str
    message: str
    sim_time_ms: int

    @classmethod
    def of(cls, told: api.RunStatus | None) -> RunTold | None:
        """Return what a clock's status tells of a run."""
        return cls(told.id, told.state, told.message, told.sim_time_ms) if told is not None and told.id else None

    def document(self) -> dict[str, Any]:
        """Return it as the clock's status has it."""
        return {"id": self.id, "state": self.state, "message": self.message, "simTimeMs": self.sim_time_ms}


@dataclass(slots=True)
class ClockView:
    """The clock as the cluster obeys it. `rate`: simulated per real second. `pace`: simulated ms at each point."""

    paused: bool = False
    rate: float = 1.0
    pace: int = 0
    hold: Hold | None = None
    """The pod at which time is to stand: before PreFilter of its cycle."""
    held: dict[str, str] | None = None
    run: RunTold | None = None
    """The newest run; while it is `running`, time goes as fast as it can."""
    stepped: int = 0
    """How many of the steps last asked for could be taken."""
    effective_rate: float | None = None
    """Simulated seconds per real second as measured by whoever drives; None: not measured."""

    @property
    def runs_on(self) -> bool:
        """Return whether a run is under way: nobody waits for real time then."""
        return self.run is not None and self.run.state == "running"


@dataclass(frozen=True, slots=True)
class Step:
    """Steps that were asked for: `by` is point, cycle, event or seconds."""

    id: int
    by: str
    count: int

    @classmethod
    def of(cls, asked: api.Step | None) -> Step | None:
        """Return the steps that a clock's spec asks for."""
        return cls(asked.id, asked.by or "event", asked.count or 1) if asked is not None and asked.id else None


@dataclass(frozen=True, slots=True)
class ClockCommand:
    """A generation of the clock's spec."""

    generation: int
    paused: bool
    rate: float
    pace: int
    step: Step | None
    hold: Hold | None = None
    run: RunAsked | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ClockCommand:
        """Return what a clock's document asks for."""
        spec = read(document.get("spec"), api.ClockSpec)
        step, hold, run = Step.of(spec.step), Hold.of(spec.hold), RunAsked.of(spec.run)
        return cls(generation_of(document), spec.paused, spec.rate, spec.pace, step, hold, run)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word on a pod that Permit holds: in one plugin's name, or in that of every plugin that holds it."""

    id: int
    uid: str
    plugin: str
    allow: bool
    message: str

    @classmethod
    def of(cls, asked: api.Verdict | None) -> Verdict | None:
        """Return the newest verdict that a replica's spec asks for."""
        if asked is None or not asked.id:
            return None
        return cls(asked.id, asked.uid, asked.plugin, asked.verdict == "allow", asked.message)


@dataclass(frozen=True, slots=True)
class ReplicaCommand:
    """A generation of a replica's spec: a fault, and a verdict."""

    identity: str
    generation: int
    fault: Asked | None = None
    verdict: Verdict | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ReplicaCommand:
        """Return what a replica's document asks for."""
        spec = read(document.get("spec"), api.ReplicaSpec)
        return cls(
            document["metadata"]["name"], generation_of(document), asked_of(spec.fault), Verdict.of(spec.verdict)
        )


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What was last obeyed of a replica's spec."""

    generation: int = 0
    fault_id: int = 0
    verdict: Mapping[str, Any] | None = None
    """What came of the last verdict: `id` and `outcome`."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Obeyed:
        """Return what a replica's status says; a replica without one, of which nothing is asked, obeys already."""
        if not document.get("status") and ReplicaCommand.of(document).fault is None:
            return cls(generation_of(document))
        status = read(document.get("status"), api.ReplicaStatus)
        verdict = None if status.verdict is None else msgspec.to_builtins(status.verdict)
        return cls(status.observed_generation, status.fault_id, verdict)


def asked_of(fault: api.Fault | None) -> Asked | None:
    """Return the fault that a replica's spec or status holds; None where there is none, or none that can be had."""
    if fault is None or fault.kind is None:
        return None
    row = FAULTS[fault.kind]
    given = {"seconds": fault.seconds, "rate": fault.rate}
    if any(given[name] is None for name in row.needs):
        return None
    return Asked(fault.id, fault.kind, fault.seconds, fault.rate)


def active_of(document: Mapping[str, Any]) -> list[Active]:
    """Return the faults that a replica's status says it has."""
    status = status_of(document)
    several = status.get("faults")
    # A status from before replicas had several names the one.
    found = []
    for told in several if isinstance(several, list) else [status.get("fault")]:
        if is_whole(told, api.Fault):
            left = read(told, api.Fault)
            asked = asked_of(left)
            found += [] if asked is None else [Active(asked, left.until_ms)]
    return found


def generation_of(document: Mapping[str, Any]) -> int:
    """Return metadata.generation."""
    generation = document["metadata"].get("generation")
    return generation if isinstance(generation, int) else 0


def status_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the status, empty where there is none."""
    status = document.get("status")
    return status if isinstance(status, Mapping) else {}
