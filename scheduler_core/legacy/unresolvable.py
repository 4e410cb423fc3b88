"""Which refusals evicting pods can turn into a yes: the static table of the scheduler of 1.17 and 1.18.

Today each plugin says it itself, with the code UnschedulableAndUnresolvable. Then the scheduler held a list of
predicate failures that no eviction can mend, fifteen of them, and preemption tried every node where none of these was
among the reasons. Source: `unresolvablePredicateFailureErrors`, as the document on preemption quotes it, with the
reasons of `predicates/error.go`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.framework.status import Code, Status


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure that a predicate could give.

    Attributes:
        error: its name in the list.
        predicate: whose it was.
        reason: what the FitError says of it.
        helps: evicting pods can mend it.
    """

    error: str
    predicate: str
    reason: str
    helps: bool


def _never(error: str, predicate: str, reason: str) -> Failure:
    return Failure(error, predicate, reason, helps=False)


def _perhaps(error: str, predicate: str, reason: str) -> Failure:
    return Failure(error, predicate, reason, helps=True)


FAILURES: Final = (
    _never("ErrNodeSelectorNotMatch", "MatchNodeSelector", "node(s) didn't match node selector"),
    _never("ErrPodAffinityRulesNotMatch", "PodAffinityRulesNotMatch", "node(s) didn't match pod affinity rules"),
    _never("ErrPodNotMatchHostName", "HostName", "node(s) didn't match the requested hostname"),
    _never("ErrTaintsTolerationsNotMatch", "PodToleratesNodeTaints", "node(s) had taints that the pod didn't tolerate"),
    _never("ErrNodeLabelPresenceViolated", "CheckNodeLabelPresence", "node(s) didn't have the requested labels"),
    _never("ErrNodeNotReady", "NodeNotReady", "node(s) were not ready"),
    _never("ErrNodeNetworkUnavailable", "NodeNetworkUnavailable", "node(s) had unavailable network"),
    _never("ErrNodeUnderDiskPressure", "NodeUnderDiskPressure", "node(s) had disk pressure"),
    _never("ErrNodeUnderPIDPressure", "NodeUnderPIDPressure", "node(s) had pid pressure"),
    _never("ErrNodeUnderMemoryPressure", "NodeUnderMemoryPressure", "node(s) had memory pressure"),
    _never("ErrNodeUnschedulable", "NodeUnschedulable", "node(s) were unschedulable"),
    _never("ErrNodeUnknownCondition", "NodeUnknownCondition", "node(s) had unknown conditions"),
    _never("ErrVolumeZoneConflict", "NoVolumeZoneConflict", "node(s) had no available volume zone"),
    _never("ErrVolumeNodeConflict", "VolumeNodeAffinityConflict", "node(s) had volume node affinity conflict"),
    _never(
        "ErrVolumeBindConflict",
        "VolumeBindingNoMatch",
        "node(s) didn't find available persistent volumes to bind",
    ),
    _perhaps("ErrDiskConflict", "NoDiskConflict", "node(s) had no available disk"),
    _perhaps("ErrPodAffinityNotMatch", "MatchInterPodAffinity", "node(s) didn't match pod affinity/anti-affinity"),
    _perhaps(
        "ErrPodAntiAffinityRulesNotMatch",
        "PodAntiAffinityRulesNotMatch",
        "node(s) didn't match pod anti-affinity rules",
    ),
    _perhaps(
        "ErrExistingPodsAntiAffinityRulesNotMatch",
        "ExistingPodsAntiAffinityRulesNotMatch",
        "node(s) didn't satisfy existing pods anti-affinity rules",
    ),
    _perhaps(
        "ErrPodNotFitsHostPorts", "PodFitsHostPorts", "node(s) didn't have free ports for the requested pod ports"
    ),
    _perhaps("ErrServiceAffinityViolated", "CheckServiceAffinity", "node(s) didn't match service affinity"),
    _perhaps("ErrMaxVolumeCountExceeded", "MaxVolumeCount", "node(s) exceed max volume count"),
    _perhaps(
        "ErrTopologySpreadConstraintsNotMatch",
        "EvenPodsSpreadNotMatch",
        "node(s) didn't match pod topology spread constraints",
    ),
    _perhaps("InsufficientResourceError", "PodFitsResources", "Too many pods"),
)
"""Every failure; the first fifteen are the list of those that no eviction mends."""

UNRESOLVABLE: Final = tuple(failure for failure in FAILURES if not failure.helps)

_BY_REASON: Final = {failure.reason: failure for failure in FAILURES}

_INSUFFICIENT: Final = "Insufficient "


def failure_of(reason: str) -> Failure | None:
    """Return what a reason stands for; None: it is a plugin's that the era did not have."""
    if reason.startswith(_INSUFFICIENT):
        return Failure("InsufficientResourceError", "PodFitsResources", reason, helps=True)
    return _BY_REASON.get(reason)


def might_help(status: Status) -> bool:
    """Return whether evicting pods might help on a node that was turned away so.

    The list decides for the reasons that it knows; for other plugins' reasons their code does.
    """
    if status.code is Code.ERROR:
        return False
    failures = [failure_of(reason) for reason in status.reasons]
    if all(failure is None for failure in failures):
        return status.code is Code.UNSCHEDULABLE
    return all(failure is None or failure.helps for failure in failures)


def described(reason: str, status: Status) -> dict[str, Any]:
    """Return one reason as traces tell it: `reason`, `error`, `predicate`, `helps`."""
    failure = failure_of(reason)
    if failure is None:
        return {"reason": reason, "error": "", "predicate": status.plugin, "helps": might_help(status)}
    return {
        "reason": reason,
        "error": failure.error,
        "predicate": failure.predicate,
        "helps": failure.helps,
    }
