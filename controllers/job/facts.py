"""What a Job's controller asks about Jobs and their pods. Pure functions over documents.

Source: pkg/controller/job (job_controller.go, indexed_job_utils.go, backoff_utils.go, pod_failure_policy.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from controllers.log.stamps import unix_ms_of
from scheduler_core.api.containers import told_of_containers
from scheduler_core.api.document import Document, condition, has_ended

TRACKING: Final = "batch.kubernetes.io/job-tracking"
"""The finalizer that keeps a pod until it is counted."""

INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
MANAGER: Final = "kubernetes.io/job-controller"
INT32_MAX: Final = 2**31 - 1


def is_indexed(job: Mapping[str, Any]) -> bool:
    """Return whether each completion has a number."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def limits_each_index(job: Mapping[str, Any]) -> bool:
    """Return whether retries are limited index by index."""
    return job["spec"].get("backoffLimitPerIndex") is not None


def is_true(job: Mapping[str, Any], kind: str) -> bool:
    """Return whether a condition of a Job is true."""
    found = condition(job, kind)
    return found is not None and found.get("status") == "True"


def is_finished(job: Mapping[str, Any]) -> bool:
    """Return whether a Job is complete or has failed."""
    return is_true(job, "Complete") or is_true(job, "Failed")


def is_managed_here(job: Mapping[str, Any]) -> bool:
    """Return whether this controller, and no other, looks after a Job."""
    return job["spec"].get("managedBy") in (None, MANAGER)


def phase_of(pod: Mapping[str, Any]) -> str:
    """Return a pod's phase."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def is_terminating(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod is asked to end and has not ended."""
    return "deletionTimestamp" in pod["metadata"] and not has_ended(pod)


def is_failed(pod: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    """Return whether a pod counts as failed: one that is deleted does too, unless only failed pods are replaced."""
    if phase_of(pod) == "Failed":
        return True
    if job["spec"].get("podReplacementPolicy") == "Failed":
        return False
    return "deletionTimestamp" in pod["metadata"] and phase_of(pod) != "Succeeded"


def is_tracked(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod is not counted yet."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def index_of(pod: Mapping[str, Any]) -> int | None:
    """Return a pod's completion index."""
    return _count(pod, INDEX)


def failures_of(pod: Mapping[str, Any]) -> int:
    """Return how often its index had failed before this pod, without the failures that a policy ignores."""
    return _count(pod, FAILURES) or 0


def all_failures_of(pod: Mapping[str, Any]) -> int:
    """Return how often its index had failed before this pod."""
    return failures_of(pod) + (_count(pod, IGNORED_FAILURES) or 0)


def _count(pod: Mapping[str, Any], annotation: str) -> int | None:
    text = (pod["metadata"].get("annotations") or {}).get(annotation)
    if not isinstance(text, str) or not (text.isascii() and text.isdecimal()) or len(text) > 10:
        return None
    return int(text) if int(text) <= INT32_MAX else None


def finished_ms(pod: Mapping[str, Any]) -> int:
    """Return when a pod ended, in Unix milliseconds; the best that can be known of it."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    sidecars = {one["name"] for one in pod["spec"].get("initContainers") or () if one.get("restartPolicy") == "Always"}
    statuses = list(status.get("containerStatuses") or ())
    statuses += [one for one in status.get("initContainerStatuses") or () if one.get("name") in sidecars]
    ended = [((one.get("state") or {}).get("terminated") or {}).get("finishedAt") for one in statuses]
    if ended and all(ended):
        return max(unix_ms_of(str(text)) for text in ended)
    ready = condition(pod, "Ready")
    if ready is not None and ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return unix_ms_of(ready["lastTransitionTime"])
    if "deletionTimestamp" in metadata:
        return unix_ms_of(metadata["deletionTimestamp"]) - 1000 * int(metadata.get("deletionGracePeriodSeconds") or 0)
    return unix_ms_of(metadata["creationTimestamp"])


class Verdict(NamedTuple):
    """What a policy says of a failed pod: the Job's message where it fails all, whether it counts, the action."""

    message: str = ""
    counts: bool = True
    action: str = ""


def judged(job: Mapping[str, Any], pod: Mapping[str, Any]) -> Verdict:
    """Return what podFailurePolicy makes of a failed pod: the first rule that matches decides."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    place = f"{metadata['namespace']}/{metadata['name']}"
    for number, rule in enumerate((job["spec"].get("podFailurePolicy") or {}).get("rules") or ()):
        action = str(rule.get("action"))
        if rule.get("onExitCodes") is not None:
            found = _matching_container(pod, rule["onExitCodes"])
            if found is None:
                continue
            code = found["state"]["terminated"]["exitCode"]
            what = f"Container {found['name']} for pod {place} failed with exit code {code}"
        else:
            present = {(one["type"], one["status"]): one for one in status.get("conditions") or ()}
            patterns = rule.get("onPodConditions") or ()
            wanted = {(one.get("type"), one.get("status")) for one in patterns}
            matching = next((key for key in present if key in wanted), None)
            if matching is None:
                continue
            what = f"Pod {place} has condition {matching[0]}"
        message = f"{what} matching {action} rule at index {number}" if action == "FailJob" else ""
        return Verdict(message, action != "Ignore", action)
    return Verdict()


def _matching_container(pod: Mapping[str, Any], rule: Mapping[str, Any]) -> Mapping[str, Any] | None:
    values, operator = rule.get("values") or (), rule.get("operator")
    for one in told_of_containers(pod, ephemeral=False):
        ended = (one.get("state") or {}).get("terminated")
        if ended is None or rule.get("containerName") not in (None, one.get("name")) or not ended.get("exitCode"):
            continue
        if (ended["exitCode"] in values) == (operator == "In"):
            return one
    return None


def restarts_of(pods: Iterable[Document]) -> int:
    """Return how often containers of pods that have not ended were started again."""
    return sum(
        int(one.get("restartCount") or 0)
        for pod in pods
        if phase_of(pod) in ("Pending", "Running")
        for one in told_of_containers(pod, ephemeral=False)
    )
