"""Obeying the command objects: clock, steps and faults.

They are read from the store itself, not through a watch: a command is obeyed while time stands, too. What the engine
made of it is written as a row from elsewhere, with the place in the loop's run (`engine`: events run, time) at which it
took effect; a second run from the log lets it take effect at the same place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.faults.active import Active
from controllers.faults.fault import Asked
from controllers.faults.table import FAULTS

CLOCKS: Final = "clocks.clustersim.io"
CLOCK: Final = "clock"
REPLICAS: Final = "replicas.clustersim.io"
CONFIGURATIONS: Final = "schedulerconfigs.clustersim.io"
CONFIGURATION: Final = "default"


@dataclass(slots=True)
class ClockView:
    """The clock as the cluster obeys it. `rate`: simulated per real second. `pace`: simulated ms at each point."""

    paused: bool = False
    rate: float = 1.0
    pace: int = 0
    held: dict[str, str] | None = None
    stepped: int = 0
    """How many of the steps last asked for could be taken."""


@dataclass(frozen=True, slots=True)
class Step:
    """Steps that were asked for: `by` is point, cycle, event or seconds."""

    id: int
    by: str
    count: int


@dataclass(frozen=True, slots=True)
class ClockCommand:
    """A generation of the clock's spec."""

    generation: int
    paused: bool
    rate: float
    pace: int
    step: Step | None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ClockCommand:
        """Return what a clock's document asks for."""
        spec = document.get("spec") or {}
        step = spec.get("step") or {}
        return cls(
            generation_of(document),
            bool(spec.get("paused")),
            float(spec.get("rate") or 1.0),
            int(spec.get("pace") or 0),
            Step(int(step["id"]), step.get("by") or "event", int(step.get("count") or 1)) if step.get("id") else None,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word on a pod that Permit holds: in one plugin's name, or in that of every plugin that holds it."""

    id: int
    uid: str
    plugin: str
    allow: bool
    message: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Verdict | None:
        """Return the newest verdict that a replica's document asks for."""
        asked = (document.get("spec") or {}).get("verdict") or {}
        if not asked.get("id"):
            return None
        uid, plugin, message = (str(asked.get(field) or "") for field in ("uid", "plugin", "message"))
        return cls(int(asked["id"]), uid, plugin, asked.get("verdict") == "allow", message)


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
        fault = asked_of((document.get("spec") or {}).get("fault"))
        return cls(document["metadata"]["name"], generation_of(document), fault, Verdict.of(document))


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
        status = status_of(document)
        if not status and ReplicaCommand.of(document).fault is None:
            return cls(generation_of(document))
        return cls(int(status.get("observedGeneration") or 0), int(status.get("faultId") or 0), status.get("verdict"))


def asked_of(fault: Mapping[str, Any] | None) -> Asked | None:
    """Return the fault that a replica's spec or status holds; None where there is none, or none that is known."""
    if not fault or fault.get("kind") not in FAULTS:
        return None
    return Asked(int(fault.get("id") or 0), fault["kind"], fault.get("seconds"), fault.get("rate"))


def active_of(document: Mapping[str, Any]) -> Active | None:
    """Return the fault that a replica's status says it has."""
    left = status_of(document).get("fault")
    asked = asked_of(left)
    return None if asked is None or left is None else Active(asked, left.get("untilMs"))


def generation_of(document: Mapping[str, Any]) -> int:
    """Return metadata.generation."""
    return int(document["metadata"].get("generation") or 0)


def status_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the status, empty where there is none."""
    status: Mapping[str, Any] = document.get("status") or {}
    return status
