"""Evictions: a pod goes only as far as the PodDisruptionBudget that is about it allows.

Source: pkg/registry/core/pod/storage/eviction.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.core.pod.binding import with_condition
from controllers.log.operations import Bind, Create, Delete, Propagation
from controllers.log.stamps import wire_time
from controllers.log.store import Stored, Transaction
from controllers.registry import fields
from controllers.registry.deletion import check_preconditions, options_wrong
from controllers.registry.kind import Subresource, Writing
from controllers.registry.reading import body_of
from scheduler_core.api.document import at, condition, has_ended
from scheduler_core.api.errors import ApiError, Cause, invalid
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector

BUDGETS: Final = "poddisruptionbudgets.policy"

WAIT_SECONDS: Final = 10
"""When to try again where a budget has not been looked at since it was changed."""

_REFUSED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL: Final = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def budget_spent(transaction: Transaction, pod: Mapping[str, Any], now: str) -> tuple[Stored, dict[str, Any]] | None:
    """Return the budget that an eviction spends, and what becomes of it; None: the pod may go without.

    Args:
        transaction: the one that the eviction is to be part of.
        pod: who is to go.
        now: wire time of the eviction.

    Raises:
        ApiError: 429, the budget allows no more; 500, several budgets are about the pod.
    """
    metadata = pod["metadata"]
    if "deletionTimestamp" in metadata or has_ended(pod) or at(pod, "status", "phase") == "Pending":
        return None
    labels = metadata.get("labels") or {}
    about = [stored for stored in transaction.list(BUDGETS, metadata["namespace"]) if _is_about(stored.object, labels)]
    if len(about) > 1:
        raise ApiError(500, "", _SEVERAL)
    if not about or _goes_unready(pod, about[0].object):
        return None
    stored = about[0]
    status = stored.object.get("status") or {}
    name = stored.name
    if status.get("observedGeneration", 0) < stored.object["metadata"].get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(why, WAIT_SECONDS)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        desired, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _too_many(f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently", 0)
    disrupted = {**(status.get("disruptedPods") or {}), metadata["name"]: now}
    spent = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
    return stored, {**stored.object, "status": spent}


_UNSAFE: Final = "ignoreStoreReadErrorWithClusterBreakingPotential"
_NOT_OF_EVICTIONS: Final = "can not be set for pod eviction, try after removing the option"


def _post(writing: Writing, operation: Create | Bind) -> Stored:
    """Delete a pod if the budget that is about it allows, and count it there."""
    assert isinstance(operation, Create), "nothing is bound by an eviction"
    body = body_of(operation, "policy_v1.Eviction", "Eviction")
    if (body.get("deleteOptions") or {}).get(_UNSAFE):
        cause = fields.bad(f"deleteOptions.{_UNSAFE}", True, _NOT_OF_EVICTIONS)
        raise invalid("Eviction", "policy", body["metadata"].get("name") or "", [cause])
    _take_dry_run(writing, body)
    deletion = _deletion_of(operation, body)
    pod = writing.existing(deletion.resource, deletion.namespace, deletion.name)
    now = wire_time(writing.context.unix_ms)
    spent = budget_spent(writing.transaction, pod.object, now)
    check_preconditions(writing.kind_of(deletion.resource), pod, deletion)
    if not writing.context.dry_run:
        # Everything that may refuse the delete is asked before the pod is told why it goes.
        writing.context.check(deletion, pod, None)
        writing.put(deletion.resource, _disrupted(pod.object, now), expected=pod.revision)
        deletion = replace(deletion, resource_version=None)
    last = writing.delete(deletion)
    if spent is not None:
        budget, changed = spent
        writing.put(BUDGETS, changed, expected=budget.revision)
    return last


def _disrupted(pod: Mapping[str, Any], now: str) -> dict[str, Any]:
    """Return the pod with the condition that says why it goes (addConditionAndDeletePod)."""
    status = pod.get("status") or {}
    known = condition(pod, "DisruptionTarget")
    since = known.get("lastTransitionTime") if known is not None and known.get("status") == "True" else None
    fresh = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": since or now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    conditions = with_condition(status.get("conditions") or (), fresh)
    return {**pod, "status": {**status, "conditions": conditions}}


def _take_dry_run(writing: Writing, body: Mapping[str, Any]) -> None:
    """Only try what the options of the delete want tried (propagateDryRun).

    Raises:
        ApiError: 500, request and options differ; 422, the options are wrong.
    """
    options = body.get("deleteOptions") or {}
    asked = list(options.get("dryRun") or ())
    if writing.context.dry_run and asked not in ([], ["All"]):
        why = f"Non-matching dry-run options in request and content: [All] and [{' '.join(asked)}]"
        raise ApiError(500, "", why)
    causes = options_wrong(options.get("propagationPolicy"), options.get("orphanDependents"), asked)
    if causes:
        raise invalid("DeleteOptions", "meta.k8s.io", "", causes)
    if asked:
        writing.context.dry_run = True


_OLD_POLICY: Final[dict[bool | None, Propagation]] = {None: "", True: "Orphan", False: "Background"}
"""What `orphanDependents` stands for."""


def _deletion_of(operation: Create, body: Mapping[str, Any]) -> Delete:
    options = body.get("deleteOptions") or {}
    preconditions = options.get("preconditions") or {}
    return Delete(
        operation.resource,
        operation.namespace,
        body["metadata"].get("name") or "",
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        propagation=options.get("propagationPolicy") or _OLD_POLICY[options.get("orphanDependents")],
        grace_period_seconds=options.get("gracePeriodSeconds"),
    )


def _is_about(budget: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    return selector is not None and view(selector, LabelSelector).matches(labels)


def _goes_unready(pod: Mapping[str, Any], budget: Mapping[str, Any]) -> bool:
    """Return whether a pod that is not ready may go whatever the budget allows."""
    ready = condition(pod, "Ready")
    if ready is not None and ready.get("status") == "True":
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired: int = status.get("desiredHealthy", 0)
    return desired > 0 and status.get("currentHealthy", 0) >= desired


def _too_many(why: str, seconds: int) -> ApiError:
    cause = Cause("", why, "DisruptionBudget")
    return ApiError(429, "TooManyRequests", _REFUSED, causes=[cause], retry_after_seconds=seconds)


EVICTION: Final = Subresource(
    "eviction", verbs=("create",), body=("policy", "v1", "Eviction"), post=_post, students=True
)
