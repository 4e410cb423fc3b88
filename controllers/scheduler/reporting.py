"""What the scheduler says of itself in command objects: its queue, and the cycle in hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.log.operations import Patch
from controllers.loop.loop import Tick
from controllers.registry.models.clustersim_v1 import Cycle, QueueStatus, ReplicaStatus, Waiting
from controllers.registry.structs import is_whole, read
from controllers.scheduler.driver import Driver, Job
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.queued import Lane, QueuedPod

QUEUES: Final = "queues.clustersim.io"
LISTED_MAX: Final = 50
"""Pods listed by lane; `counts` has them all."""

QUEUE_STATUS_MS: Final = 200
"""The queue's status is written at most this often, and only when it has changed."""

_PARTS: Final = ("active", "backoff", "unschedulable", "gated", "waiting", "binding", "assumed")

EMPTY_QUEUE: Final[Mapping[str, Any]] = {
    **{part: [] for part in _PARTS},
    "counts": dict.fromkeys(_PARTS, 0),
}
"""The queue of a replica that does not schedule."""


def queue_status(scheduler: Scheduler, driver: Driver) -> dict[str, Any]:
    """Return the status of `queues.clustersim.io/<identity>`.

    Args:
        scheduler: whose queue.
        driver: who knows which pods are on their way to a node.
    """
    queue = scheduler.queue
    waiting = scheduler.waiting.listed()
    held = {one.info.uid for one in waiting}
    binding = [job for uid, job in driver.bindings.items() if uid not in held]
    assumed = list(scheduler.cache.assumed())
    return {
        "active": [_base(queued) for queued in queue.listed(Lane.ACTIVE, LISTED_MAX)],
        "backoff": [
            {**_base(queued), "readyAtMs": queue.ready_at_ms(queued), "attempts": queued.attempts}
            for queued in queue.listed(Lane.BACKOFF, LISTED_MAX)
        ],
        "unschedulable": [
            {
                **_base(queued),
                "plugins": sorted(queued.rejectors),
                "message": queued.message,
                "attempts": queued.attempts,
                "movedBy": queued.moved_by,
                "wakes": [event.name for event in scheduler.wakes(queued)],
            }
            for queued in queue.listed(Lane.UNSCHEDULABLE, LISTED_MAX)
        ],
        "gated": [
            {"pod": queued.key, "uid": queued.uid, "plugin": queued.gating_plugin, "message": queued.gate_message}
            for queued in queue.listed(Lane.GATED, LISTED_MAX)
        ],
        "waiting": [
            {
                "pod": one.info.key,
                "uid": one.info.uid,
                "node": one.node_name,
                "plugins": [{"name": name, "untilMs": until} for name, until in sorted(one.until_ms.items())],
            }
            for one in waiting[:LISTED_MAX]
        ],
        "binding": [
            {"pod": job.run.info.key, "uid": job.run.uid, "node": job.run.chosen}
            for job in binding[:LISTED_MAX]
            if job.run is not None
        ],
        "assumed": [_assumed(*one) for one in assumed[:LISTED_MAX]],
        "counts": {**queue.counts(), "waiting": len(waiting), "binding": len(binding), "assumed": len(assumed)},
    }


def _assumed(pod: PodInfo, node_name: str, expires_at_ms: int | None) -> dict[str, Any]:
    shown = {"pod": pod.key, "uid": pod.uid, "node": node_name}
    return shown if expires_at_ms is None else {**shown, "expiresAtMs": expires_at_ms}


def _base(queued: QueuedPod) -> dict[str, Any]:
    return {"pod": queued.key, "uid": queued.uid, "priority": queued.priority, "movedBy": queued.moved_by}


def attempt_of(run: Run, point: str) -> dict[str, Any]:
    """Return what names an attempt and its input, as a trace's envelope and a replica's cycle hold it."""
    return {
        "pod": run.info.key,
        "uid": run.uid,
        "attempt": run.given.attempt,
        "point": point,
        "profile": run.framework.name,
        "era": run.framework.rules.era,
        "scoreMax": run.framework.rules.score_max,
        "input": run.given.as_dict(),
    }


def envelope_of(attempt: Mapping[str, Any], identity: str, revision: int, at_ms: int) -> dict[str, Any]:
    """Return the envelope of an attempt's trace.

    Args:
        attempt: as `attempt_of` gave it, or the cycle in a replica's status, which holds the same members.
        identity: the replica.
        revision: the log's newest when the trace was taken.
        at_ms: simulated time of it.
    """
    return {
        "id": f"{attempt['uid']}-{attempt['attempt']}",
        "revision": revision,
        "seenRevision": attempt["input"]["seenRevision"],
        "simTime": at_ms / 1000,
        "replica": identity,
        **{member: attempt[member] for member in _OF_AN_ATTEMPT if member in attempt},
    }


def cycle_of(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the cycle in hand that a replica's document holds; None where there is none that can be run again."""
    cycle = read(document.get("status"), ReplicaStatus).cycle
    return cycle if is_whole(cycle, Cycle) else None


def waiting_of(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the pods that a queue's document shows as waiting at Permit, without those that nobody could wait for."""
    return [one for one in read(document.get("status"), QueueStatus).waiting or () if is_whole(one, Waiting)]


_OF_AN_ATTEMPT: Final = ("pod", "uid", "profile", "era", "scoreMax", "attempt", "point", "input")


def cycle_status(job: Job, trace: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return `status.cycle` of the replica for the cycle in hand; `trace` is its result so far."""
    run = job.run
    assert run is not None
    shown: dict[str, Any] = {
        **attempt_of(run, run.point),
        "startedAtMs": job.begun_ms,
        "dueAtMs": job.due_ms,
        "seenRevision": run.given.seen_revision,
        "traceId": f"{run.uid}-{run.given.attempt}",
    }
    if run.chosen:
        shown["node"] = run.chosen
    if job.calls:
        shown["calls"] = [{"extender": call.extender.name, "verb": call.purpose} for call in job.calls]
    if trace is not None:
        shown["trace"] = dict(trace)
    return shown


def tell_queue(tick: Tick, identity: str, status: Mapping[str, Any]) -> None:
    """Write a queue's status; every list and count is named, so nothing old stays."""
    tick.emit(Patch(QUEUES, "", identity, {"status": dict(status)}, "merge", "status"))
