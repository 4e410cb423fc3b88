"""What a stage is: when it matches, how long it takes, and what is true afterwards.

A stage is chosen from the object's observed state alone, so a kubelet that has lost its memory plays on from where the
object stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from controllers.kubelet.orders import Orders

FREE: Final = Orders()
"""A pod that no annotation tells anything."""

Containers = Literal["none", "waiting", "running", "ended"]


@dataclass(frozen=True, slots=True)
class When:
    """What an object must look like; an empty field matches anything."""

    deleting: bool = False
    phases: tuple[str, ...] = ()
    containers: tuple[Containers, ...] = ()
    ready: bool | None = None
    """Only where the Ready condition is true, or is not."""
    runs: tuple[str, ...] = ()
    """Only where the pod's annotation `run` is one of these; a stage that says nothing is for any but `hold`."""
    timed: bool | None = None
    """Only where the pod is told for how many seconds to run, or is not."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a step takes: `base_ms` plus a draw below `jitter_ms`; `within_grace` adds the
    containers' preStop sleep and cuts it at the grace period.
    """

    base_ms: int
    jitter_ms: int = 0
    within_grace: bool = False
    as_told: bool = False
    """Plus the seconds for which the pod is told to run."""


@dataclass(frozen=True, slots=True)
class Say:
    """An event; the message may use {image}, {container}, {size}, {took} and {waited}."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it is afterwards; the message may use {containers}."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """The status afterwards; `removed`: the object is gone."""

    phase: str = ""
    containers: Containers = "none"
    exit_code: int = 0
    """With which containers have ended, where the pod's annotation names no other."""
    reason: str = ""
    conditions: tuple[Condition, ...] = ()
    addressed: bool = False
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a life cycle.

    `containers` plays pull, create and start of each container in turn before `next`; `each` is said of every running
    container when the stage begins.
    """

    name: str
    when: When
    wait: Wait
    next: Next
    each: tuple[Say, ...] = ()
    containers: bool = False


def containers_state(pod: Mapping[str, Any]) -> Containers:
    """Return how far the pod's containers are."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    if not statuses:
        return "none"
    states = [entry.get("state") or {} for entry in statuses]
    if any("running" in state for state in states):
        return "running"
    if all("terminated" in state for state in states):
        return "ended"
    return "waiting"


def is_ready(document: Mapping[str, Any]) -> bool:
    """Return whether the object's Ready condition is true."""
    conditions = (document.get("status") or {}).get("conditions") or ()
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def choose(stages: Sequence[Stage], pod: Mapping[str, Any], orders: Orders = FREE) -> Stage | None:
    """Return the stage that the pod is in; None where nothing is to be done for it."""
    deleting = "deletionTimestamp" in pod["metadata"]
    phase = (pod.get("status") or {}).get("phase") or "Pending"
    state = containers_state(pod)
    for stage in stages:
        when = stage.when
        if when.deleting != deleting or (when.ready is not None and when.ready != is_ready(pod)):
            continue
        if (orders.run not in when.runs) if when.runs else (orders.run == "hold" and not deleting):
            continue
        if when.timed is not None and when.timed != bool(orders.seconds):
            continue
        if (not when.phases or phase in when.phases) and (not when.containers or state in when.containers):
            return stage
    return None
