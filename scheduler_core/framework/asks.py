"""What a scheduling cycle asks of the loop besides binding: each is yielded, and answered with a `Reply`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from scheduler_core.api.pod import Pod
from scheduler_core.framework.interface import Ask, Reply

_Came = TypeVar("_Came")


@dataclass(frozen=True, slots=True)
class PatchPodStatus(Ask):
    """Set one condition of a pod, its nomination, or both.

    `condition` has type, status, reason and message. `nominated_node_name` None leaves the nomination alone; the empty
    text clears it.
    """

    pod: Pod
    condition: Mapping[str, str] | None = None
    nominated_node_name: str | None = None
    awaited: bool = False
    """Whether the steps go on only once the answer is known."""


@dataclass(frozen=True, slots=True)
class DeletePod(Ask):
    """Delete a pod gracefully: its own grace period counts."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class RecordEvent(Ask):
    """Tell people: an Event about `pod`. Never waited for."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    related: Pod | None = None


@dataclass(frozen=True, slots=True)
class WaitOnPermit(Ask):
    """Hold the pod until every waiting plugin has allowed it, one has rejected it, or one's time is up.

    The reply's `error` is empty when all allowed it, else the reason; `value` then is the plugin that said no.
    """

    uid: str


def refuse(ask: Ask) -> Reply:
    """Answer an ask that nobody is there to carry out."""
    return Reply(f"nobody carries out {type(ask).__name__} here")


def complete(steps: Generator[Ask, Reply, _Came], carry_out: Callable[[Ask], Reply] = refuse) -> _Came:
    """Run steps to their end without a loop, and return what they come to."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(carry_out(ask))
    except StopIteration as stop:
        came: _Came = stop.value
        return came


@dataclass(frozen=True, slots=True)
class PatchObject(Ask):
    """Merge a patch into an object that is no pod; the reply's `value` is what the API server has kept.

    A `resourceVersion` in the patch makes it fail where the object has changed since.
    """

    resource: str
    namespace: str
    name: str
    patch: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sleep(Ask):
    """Go on after this many simulated milliseconds. Beside other cycles: the scheduler goes on meanwhile."""

    ms: int
