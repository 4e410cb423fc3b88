"""What only the loop can do: a cycle, or a plugin's generator, yields an `Ask` and is sent the `Reply`.

`Ask` is a closed union: whoever carries asks out names every kind of them, and the type checker sees that none is
missing. Treat them as frozen: dataclasses that are take three times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from scheduler_core.api.pod import Pod
from scheduler_core.framework.status import Status

_Came = TypeVar("_Came")


@dataclass(slots=True)
class Reply:
    """What came of an Ask: `error` is empty when it was done; `code` is the HTTP status of a refusal."""

    error: str = ""
    value: Any = None
    code: int = 0


@dataclass(slots=True)
class BindPod:
    """Write the pod's node through the `binding` subresource."""

    namespace: str
    name: str
    uid: str
    node_name: str


@dataclass(slots=True)
class PatchPodStatus:
    """Set one condition of a pod, its nomination, or both.

    `condition` has type, status, reason and message. `nominated_node_name` None leaves the nomination alone; the empty
    text clears it.
    """

    pod: Pod
    condition: Mapping[str, str] | None = None
    nominated_node_name: str | None = None
    awaited: bool = False
    """Whether the steps go on only once the answer is known."""


@dataclass(slots=True)
class DeletePod:
    """Delete a pod gracefully: its own grace period counts."""

    pod: Pod


@dataclass(slots=True)
class RecordEvent:
    """Tell people: an Event about `pod`. Never waited for."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    related: Pod | None = None


@dataclass(slots=True)
class WaitOnPermit:
    """Hold the pod until every waiting plugin has allowed it, one has rejected it, or one's time is up.

    The reply's `error` is empty when all allowed it, else the reason; `value` then is the plugin that said no.
    """

    uid: str


@dataclass(slots=True)
class PatchObject:
    """Merge a patch into an object that is no pod; the reply's `value` is what the API server has kept.

    A `resourceVersion` in the patch makes it fail where the object has changed since.
    """

    resource: str
    namespace: str
    name: str
    patch: Mapping[str, Any]
    subresource: str = ""


@dataclass(slots=True)
class Sleep:
    """Go on after this many simulated milliseconds. Beside other cycles: the scheduler goes on meanwhile."""

    ms: int


class Addressee(Protocol):
    """Somebody outside who is called."""

    @property
    def name(self) -> str:
        """Return what reports call it."""
        ...


class Call(Protocol):
    """A call to somebody outside; see `extender.calls.ExtenderCall`."""

    @property
    def extender(self) -> Addressee:
        """Return whom."""
        ...

    @property
    def purpose(self) -> str:
        """Return what it is asked for."""
        ...


@dataclass(slots=True)
class CallExtenders:
    """Carry these calls out at the same time; the reply's `value` is the list of their records, in order."""

    calls: Sequence[Call]


@dataclass(slots=True)
class Spawn:
    """Run these steps beside the cycle; never waited for."""

    name: str
    steps: Generator[Ask, Reply, Status]


Ask = BindPod | PatchPodStatus | DeletePod | RecordEvent | WaitOnPermit | PatchObject | Sleep | CallExtenders | Spawn
"""Every kind of ask."""


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
