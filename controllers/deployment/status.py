"""A Deployment's status: counts, the conditions Available, Progressing and ReplicaFailure, and when it is stuck.

Source: k8s.io/kubernetes/pkg/controller/deployment/progress.go and sync.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from controllers.deployment.sets import (
    NO_PROGRESS_DEADLINE,
    asked_replicas,
    replicas_of,
    status_of,
    surge_and_unavailable,
)
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document, condition

AVAILABLE: Final = "NewReplicaSetAvailable"
FOUND: Final = "FoundNewReplicaSet"
CREATED: Final = "NewReplicaSetCreated"
UPDATED: Final = "ReplicaSetUpdated"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
PAUSED: Final = "DeploymentPaused"
RESUMED: Final = "DeploymentResumed"


def has_deadline(deployment: Document) -> bool:
    """Return whether a rollout of this Deployment can be stuck."""
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    return deadline is not None and deadline != NO_PROGRESS_DEADLINE


def with_condition(
    conditions: Sequence[Document], kind: str, status: str, reason: str, message: str, unix_ms: int
) -> list[Document]:
    """Return the conditions with this one set; one that says the same already stays as it is."""
    known = next((entry for entry in conditions if entry["type"] == kind), None)
    if known is not None and known["status"] == status and known.get("reason") == reason:
        return list(conditions)
    now = wire_time(unix_ms)
    since = known["lastTransitionTime"] if known is not None and known["status"] == status else now
    entry = {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }
    return [*without_condition(conditions, kind), entry]


def without_condition(conditions: Sequence[Document], kind: str) -> list[Document]:
    """Return the conditions but for one type."""
    return [entry for entry in conditions if entry["type"] != kind]


def counted_status(deployment: Document, sets: Sequence[Document], new: Document | None, unix_ms: int) -> Document:
    """Return the status with its counts and the Available condition."""
    old = deployment.get("status") or {}
    available = sum(status_of(one, "availableReplicas") for one in sets)
    wanted = replicas_of(deployment)
    status: Document = {
        "observedGeneration": deployment["metadata"].get("generation", 1),
        "replicas": sum(status_of(one, "replicas") for one in sets),
        "updatedReplicas": status_of(new, "replicas") if new is not None else 0,
        "readyReplicas": sum(status_of(one, "readyReplicas") for one in sets),
        "availableReplicas": available,
        "unavailableReplicas": max(0, asked_replicas(sets) - available),
    }
    # The wire omits counts that are 0, as upstream's encoder does.
    status = {key: value for key, value in status.items() if value}
    if old.get("collisionCount"):
        status["collisionCount"] = old["collisionCount"]
    conditions = list(old.get("conditions") or ())
    if available >= wanted - surge_and_unavailable(deployment)[1]:
        text = "Deployment has minimum availability."
        conditions = with_condition(conditions, "Available", "True", "MinimumReplicasAvailable", text, unix_ms)
    else:
        text = "Deployment does not have minimum availability."
        conditions = with_condition(conditions, "Available", "False", "MinimumReplicasUnavailable", text, unix_ms)
    status["conditions"] = conditions
    return status


def is_complete(deployment: Document, status: Document) -> bool:
    """Return whether the rollout is over: all pods are of the newest template and available."""
    wanted = replicas_of(deployment)
    observed: int = status.get("observedGeneration", 0)
    return bool(
        status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
        and observed >= int(deployment["metadata"].get("generation", 1))
    )


def rollout_status(deployment: Document, sets: Sequence[Document], new: Document | None, unix_ms: int) -> Document:
    """Return the whole status of a Deployment that is being rolled out."""
    status = counted_status(deployment, sets, new, unix_ms)
    conditions: list[Document] = status["conditions"]
    progressing = condition(deployment, "Progressing")
    if not has_deadline(deployment):
        conditions = without_condition(conditions, "Progressing")
    elif not _was_complete(status, progressing):
        conditions = _with_progress(deployment, status, conditions, progressing, new, unix_ms)
    failure = _failure(sets, new)
    if failure is not None:
        text = failure.get("message", "")
        conditions = with_condition(conditions, "ReplicaFailure", "True", failure.get("reason", ""), text, unix_ms)
    else:
        conditions = without_condition(conditions, "ReplicaFailure")
    status["conditions"] = conditions
    return status


def _was_complete(status: Document, progressing: Any) -> bool:
    same = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    return bool(same and progressing is not None and progressing.get("reason") == AVAILABLE)


def _with_progress(
    deployment: Document,
    status: Document,
    conditions: list[Document],
    progressing: Any,
    new: Document | None,
    unix_ms: int,
) -> list[Document]:
    name = new["metadata"]["name"] if new is not None else ""
    subject = f'ReplicaSet "{name}"' if name else f'Deployment "{deployment["metadata"]["name"]}"'
    if is_complete(deployment, status):
        text = f"{subject} has successfully progressed."
        return with_condition(conditions, "Progressing", "True", AVAILABLE, text, unix_ms)
    if _is_progressing(deployment, status):
        text = f"{subject} is progressing."
        fresh = with_condition(
            without_condition(conditions, "Progressing"), "Progressing", "True", UPDATED, text, unix_ms
        )
        if progressing is not None and progressing["status"] == "True":
            fresh[-1]["lastTransitionTime"] = progressing["lastTransitionTime"]
        return fresh
    if has_timed_out(deployment, status, unix_ms):
        text = f"{subject} has timed out progressing."
        return with_condition(conditions, "Progressing", "False", TIMED_OUT, text, unix_ms)
    return conditions


def _is_progressing(deployment: Document, status: Document) -> bool:
    old = deployment.get("status") or {}
    old_olds = old.get("replicas", 0) - old.get("updatedReplicas", 0)
    new_olds = status.get("replicas", 0) - status.get("updatedReplicas", 0)
    return bool(
        status.get("updatedReplicas", 0) > old.get("updatedReplicas", 0)
        or new_olds < old_olds
        or status.get("readyReplicas", 0) > old.get("readyReplicas", 0)
        or status.get("availableReplicas", 0) > old.get("availableReplicas", 0)
    )


def deadline_unix_ms(deployment: Document, status: Document) -> int | None:
    """Return when the rollout counts as stuck; None where it cannot be."""
    progressing = condition({"status": status}, "Progressing")
    if progressing is None or not has_deadline(deployment):
        return None
    if progressing.get("reason") in (AVAILABLE, PAUSED):
        return None
    since = progressing.get("lastUpdateTime") or progressing["lastTransitionTime"]
    deadline_ms: int = deployment["spec"]["progressDeadlineSeconds"] * 1000
    return unix_ms_of(since) + deadline_ms


def has_timed_out(deployment: Document, status: Document, unix_ms: int) -> bool:
    """Return whether nothing has moved for longer than the progress deadline."""
    progressing = condition(deployment, "Progressing")
    if progressing is not None and progressing.get("reason") == TIMED_OUT:
        return True
    at_ms = deadline_unix_ms(deployment, status)
    return at_ms is not None and at_ms < unix_ms


def _failure(sets: Sequence[Document], new: Document | None) -> Any:
    """Return the ReplicaFailure condition of the newest set, else of any."""
    ordered = [new, *sets] if new is not None else list(sets)
    return next((found for one in ordered if (found := condition(one, "ReplicaFailure")) is not None), None)
