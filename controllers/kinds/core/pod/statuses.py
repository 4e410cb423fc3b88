"""What may be written into a pod's status.

Source: pkg/registry/core/pod (podStatusStrategy), pkg/apis/core/validation (ValidatePodStatusUpdate), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from controllers.registry import addresses, fields
from controllers.registry.subresources import STATUS
from scheduler_core.api.containers import STATUSES
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import Cause

_SYSTEM_CONDITIONS: Final = ("PodScheduled", "Ready", "Initialized")
_ID_MAX: Final = 2**31 - 1
_ALWAYS: Final = {"state": {}, "lastState": {}, "ready": False, "restartCount": 0, "image": "", "imageID": ""}
"""What stands in every status of a container."""


def complete(document: Document, old: Mapping[str, Any], now: str) -> None:
    """Put in what a pod's status always says."""
    status, before = document["status"], old.get("status") or {}
    if not status.get("qosClass") and before.get("qosClass"):
        status["qosClass"] = before["qosClass"]
    for group in STATUSES:
        for entry in status.get(group) or ():
            for key, value in _ALWAYS.items():
                if key not in entry:
                    entry[key] = dict(value) if isinstance(value, dict) else value
    _keep_observed(status, before)
    address, several = status.get("podIP"), status.get("podIPs")
    if address and (not several or several[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif several and not address:
        status["podIP"] = several[0].get("ip", "")


def _keep_observed(status: Document, before: Mapping[str, Any]) -> None:
    """Let generations that were observed stand where a writer leaves them out (preserveOldObservedGeneration)."""
    if not status.get("observedGeneration") and before.get("observedGeneration"):
        status["observedGeneration"] = before["observedGeneration"]
    known: dict[Any, list[Any]] = {}
    for one in before.get("conditions") or ():
        known.setdefault(one.get("type"), []).append(one.get("observedGeneration"))
    for one in status.get("conditions") or ():
        same = known.get(one.get("type"))
        seen = same.pop(0) if same else None
        if seen and not one.get("observedGeneration"):
            one["observedGeneration"] = seen


def rules(document: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check a pod's status."""
    status, before = document["status"], old.get("status") or {}
    causes = _conditions(status.get("conditions") or ())
    nominated = status.get("nominatedNodeName")
    if nominated and nominated != before.get("nominatedNodeName"):
        causes += fields.subdomain("status.nominatedNodeName", nominated)
    causes += _counted("status.observedGeneration", status)
    if status.get("qosClass") != before.get("qosClass"):
        causes.append(fields.bad("status.qosClass", status.get("qosClass") or "", "field is immutable"))
    causes += _restarts(status, before, old.get("spec") or {})
    causes += _claims(status, old.get("spec") or {})
    causes += _addresses("podIPs", status, before)
    several = status.get("hostIPs")
    if several and (several[0].get("ip") or "") != (status.get("hostIP") or ""):
        causes.append(fields.bad("status.hostIPs[0].ip", several[0].get("ip") or "", "must be equal to `hostIP`"))
    causes += _addresses("hostIPs", status, before)
    return causes + [cause for group in STATUSES for cause in _users(group, status, at(old, "spec", "os", "name"))]


def _users(group: str, status: Mapping[str, Any], system: str | None) -> list[Cause]:
    """Check as whom containers are said to run (validateContainerStatusUsers)."""
    causes: list[Cause] = []
    for index, one in enumerate(status.get(group) or ()):
        user, where = at(one, "user", "linux"), f"status.{group}[{index}].user.linux"
        if user is None:
            continue
        if system == "windows":
            causes.append(fields.not_allowed(where, "cannot be set for a windows pod"))
            continue
        numbers = [(key, user.get(key) or 0) for key in ("uid", "gid")]
        numbers += [
            (f"supplementalGroups[{place}]", number)
            for place, number in enumerate(user.get("supplementalGroups") or ())
        ]
        why = f"must be between 0 and {_ID_MAX}, inclusive"
        causes += [fields.bad(f"{where}.{key}", number, why) for key, number in numbers if not 0 <= number <= _ID_MAX]
    return causes


def _conditions(conditions: Sequence[Mapping[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    for index, condition in enumerate(conditions):
        where = f"status.conditions[{index}]"
        causes += _counted(f"{where}.observedGeneration", condition)
        if condition.get("type") not in _SYSTEM_CONDITIONS:
            causes += fields.qualified_name(f"{where}.Type", condition.get("type") or "")
    return causes


def _counted(field: str, holder: Mapping[str, Any]) -> list[Cause]:
    seen = holder.get("observedGeneration") or 0
    return [fields.bad(field, seen, "must be a non-negative integer")] if seen < 0 else []


def _restarts(status: Mapping[str, Any], before: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    """Refuse that a container runs again which must not be started again."""
    policy = spec.get("restartPolicy", "Always")
    sidecars = {one.get("name") for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"}
    causes: list[Cause] = []
    for group in STATUSES:
        new = {one.get("name"): one for one in status.get(group) or ()}
        for index, one in enumerate(before.get(group) or ()):
            ended = at(one, "state", "terminated")
            if ended is None or one.get("name") not in new or at(new[one.get("name")], "state", "terminated"):
                continue
            again = policy == "Always" or (policy == "OnFailure" and ended.get("exitCode", 0) != 0)
            if group == STATUSES[2] or not (again or (group == STATUSES[1] and one.get("name") in sidecars)):
                why = "may not be transitioned to non-terminated state"
                causes.append(fields.not_allowed(f"status.{group}[{index}].state", why))
    return causes


def _addresses(key: str, status: Mapping[str, Any], before: Mapping[str, Any]) -> list[Cause]:
    several = status.get(key) or ()
    kept = {one.get("ip") for one in before.get(key) or ()}
    texts = [one.get("ip") or "" for one in several]
    causes = [
        cause
        for index, text in enumerate(texts)
        if text not in kept
        for cause in addresses.legacy(f"status.{key}[{index}]", text)
    ]
    said = "failed to check for dual stack with error"
    return causes + addresses.one_a_family(f"status.{key}", texts, said, "IP")


def _claims(status: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Cause]:
    """Check that claims are told of that the pod asks for."""
    asked = {one.get("name") for one in spec.get("resourceClaims") or ()}
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, one in enumerate(status.get("resourceClaimStatuses") or ()):
        where, name = f"status.resourceClaimStatuses[{index}].name", one.get("name") or ""
        if name not in asked:
            causes.append(fields.bad(where, name, "must match the name of an entry in `spec.resourceClaims`"))
        causes += [fields.duplicate(where, name)] if name in seen else []
        seen.add(name)
        claim = one.get("resourceClaimName")
        if claim is not None:
            causes += [replace(cause, field=where) for cause in fields.subdomain(where, claim)]
    return causes


STATUS_PART: Final = replace(
    STATUS, carries=("labels", "annotations", "finalizers", "generateName"), complete=complete, part_rules=rules
)
"""Owners are not taken along: old kubelets corrupt them."""
