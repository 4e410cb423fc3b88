"""Priority: a pod's number and preemption policy come from its class. Source: plugin/pkg/admission/priority."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.admission.common import on
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api.document import child

CLASSES: Final = "priorityclasses.scheduling.k8s.io"
PODS: Final = "pods"
_COMPUTED: Final = ("priority", "preemptionPolicy", "priorityClassName")


def _mutate(attempt: Attempt) -> str:
    spec = child(attempt.document, "spec")
    if attempt.old is not None:
        # A plain replacement may leave out what was computed.
        for key in _COMPUTED:
            if key in attempt.old["spec"]:
                spec.setdefault(key, attempt.old["spec"][key])
        return ""
    found = _class_of(attempt, spec)
    priority = found["value"] if found is not None else 0
    policy = (found or {}).get("preemptionPolicy", "PreemptLowerPriority")
    if spec.get("priority") not in (None, priority):
        raise attempt.refuse(
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; priority admission "
            f"controller computed {priority} from the given PriorityClass name"
        )
    if spec.get("preemptionPolicy") not in (None, policy):
        raise attempt.refuse(
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name"
        )
    spec["priority"], spec["preemptionPolicy"] = priority, policy
    return f"priority {priority}, {policy}"


def _class_of(attempt: Attempt, spec: dict[str, Any]) -> Mapping[str, Any] | None:
    name = spec.get("priorityClassName") or ""
    if name:
        named = attempt.lookup.get(CLASSES, "", name)
        if named is None:
            raise attempt.refuse(f"no PriorityClass with name {name} was found")
        return named
    # Two global defaults can only come from a race; the lower one wins, as upstream decides.
    candidates = [entry for entry in attempt.lookup.list(CLASSES) if entry.get("globalDefault")]
    found = min(candidates, key=lambda entry: entry["value"], default=None)
    if found is not None:
        spec["priorityClassName"] = found["metadata"]["name"]
    return found


def _validate(attempt: Attempt) -> None:
    """There is one global default."""
    if attempt.kind.resource != CLASSES or not attempt.document.get("globalDefault"):
        return
    if attempt.old is not None and attempt.old.get("globalDefault"):
        return
    for other in attempt.lookup.list(CLASSES):
        if other.get("globalDefault"):
            taken = other["metadata"]["name"]
            raise attempt.refuse(f"PriorityClass {taken} is already marked as default. Only one default can exist")


def _mutate_pods(attempt: Attempt) -> str:
    return _mutate(attempt) if attempt.kind.resource == PODS else ""


PLUGIN: Final = Plugin(
    "Priority",
    "Gives pods the number of their PriorityClass, and lets one class be the default.",
    watches=on(PODS, CLASSES, verbs=("create", "update")),
    mutate=_mutate_pods,
    validate=_validate,
)
