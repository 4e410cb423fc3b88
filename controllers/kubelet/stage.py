"""What a stage is: when it matches, how long it takes, and what is true afterwards.

A stage is chosen from the object's observed state alone, so a kubelet that has lost its memory plays on from where the
object stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Containers = Literal["none", "waiting", "running", "ended"]


@dataclass(frozen=True, slots=True)
class When:
    """What an object must look like; an empty field matches anything."""

    deleting: bool = False
    phases: tuple[str, ...] = ()
    containers: tuple[Containers, ...] = ()
    unready: bool = False
    """Only where the Ready condition is not true."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a step takes: `base_ms` plus a draw below `jitter_ms`; `within_grace` adds the
    containers' preStop sleep and cuts it at the grace period.
    """

    base_ms: int
    jitter_ms: int = 0
    within_grace: bool = False


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


def choose(stages: Sequence[Stage], pod: Mapping[str, Any]) -> Stage | None:
    """Return the stage that the pod is in; None where nothing is to be done for it."""
    deleting = "deletionTimestamp" in pod["metadata"]
    phase = (pod.get("status") or {}).get("phase") or "Pending"
    state = containers_state(pod)
    for stage in stages:
        when = stage.when
        if when.deleting != deleting or (when.unready and is_ready(pod)):
            continue
        if (not when.phases or phase in when.phases) and (not when.containers or state in when.containers):
            return stage
    return None
