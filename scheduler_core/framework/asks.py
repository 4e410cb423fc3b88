"""What a scheduling cycle asks of the loop besides binding: each is yielded, and answered with a `Reply`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.api.pod import Pod
from scheduler_core.framework.interface import Ask


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
