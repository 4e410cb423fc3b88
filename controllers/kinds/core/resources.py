"""Rules of resource amounts: names, signs, whole numbers, requests within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

_CONTAINER: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED: Final = frozenset(
    {
        "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
        "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
_QUOTA: Final = frozenset(
    {
        *_CONTAINER, *_COUNTED, "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage",
        "limits.cpu", "limits.memory", "limits.ephemeral-storage",
    }
)  # fmt: skip
_STANDARD: Final = _QUOTA | {"storage"}
_HUGE: Final = "hugepages-"
_HUGE_IN_QUOTAS: Final = (_HUGE, "requests.hugepages-")
_OF_PODS: Final = ("cpu", _HUGE, "memory")
_NANO: Final = 10**9

Name = Callable[[str, str], list[Cause]]


def is_native(name: str) -> bool:
    """Return whether it is one of Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Return whether it is counted in whole devices that nobody shares."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not fields.qualified_name("", f"requests.{name}")


def is_of_quotas(name: str) -> bool:
    """Return whether it is a standard resource of quotas."""
    return name in _QUOTA or name.startswith(_HUGE_IN_QUOTAS)


def is_counted(name: str) -> bool:
    """Return whether it comes in whole units alone."""
    return name in _COUNTED or is_extended(name)


def may_overcommit(name: str) -> bool:
    """Return whether requests may be below limits: only what nobody shares may not."""
    return is_native(name) and not name.startswith(_HUGE)


def any_name(where: str, value: str) -> list[Cause]:
    """Check the name of a resource (validateResourceName)."""
    causes = fields.qualified_name(where, value)
    if not causes and "/" not in value and value not in _STANDARD and not value.startswith(_HUGE_IN_QUOTAS):
        causes.append(fields.bad(where, value, "must be a standard resource type or fully qualified"))
    return causes


def container_name(where: str, value: str) -> list[Cause]:
    """Check the name of what a container may ask for."""
    causes = any_name(where, value)
    if "/" not in value:
        if value not in _CONTAINER and not value.startswith(_HUGE):
            causes.append(fields.bad(where, value, "must be a standard resource for containers"))
    elif not is_native(value) and not is_extended(value):
        causes.append(fields.bad(where, value, "doesn't follow extended resource name standard"))
    return causes


def pod_name(where: str, value: str) -> list[Cause]:
    """Check the name of what a pod as a whole may ask for."""
    causes = any_name(where, value)
    if not causes and value not in _OF_PODS and not value.startswith(_HUGE):
        causes.append(fields.unsupported(where, value, _OF_PODS))
    return causes


def quota_name(where: str, value: str) -> list[Cause]:
    """Check the name of what a quota may bound."""
    causes = any_name(where, value)
    if "/" not in value and value not in _QUOTA and not value.startswith(_HUGE_IN_QUOTAS):
        causes.append(fields.bad(where, value, "must be a standard resource for quota"))
    return causes


def quantity_of(where: str, name: str, text: str) -> list[Cause]:
    """Check an amount: its sign, and whether it may have a fraction (ValidateResourceQuantityValue)."""
    number = quantity.nano(text)
    causes = [fields.bad(where, text, "must be greater than or equal to 0")] if number < 0 else []
    if is_counted(name) and number % _NANO:
        causes.append(fields.bad(where, text, "must be an integer"))
    return causes


def amounts(field: str, resources: Mapping[str, str] | None, name: Name = any_name) -> list[Cause]:
    """Check a resource list with its names: `spec.containers[0].resources.limits`, `spec.hard`."""
    causes: list[Cause] = []
    for key, text in (resources or {}).items():
        where = f"{field}[{key}]"
        causes += name(where, key) + quantity_of(where, key, text)
        if key.startswith(_HUGE) and name is not quota_name and not _is_divisible(key, text):
            why = f"{text} is not positive integer multiple of {key}"
            causes.append(fields.bad(where, text, why))
    return causes


def _is_divisible(name: str, text: str) -> bool:
    try:
        page = quantity.nano(name.removeprefix(_HUGE))
    except quantity.QuantityError:
        return False
    return page > 0 and page % _NANO == 0 and quantity.value(text) % (page // _NANO) == 0


def requirements(
    field: str,
    resources: Mapping[str, Any] | None,
    claims: frozenset[str] = frozenset(),
    name: Name = container_name,
) -> list[Cause]:
    """Check requests against limits, and claims against those of the pod (validateResourceRequirements)."""
    resources = resources or {}
    limits: Mapping[str, str] = resources.get("limits") or {}
    requests: Mapping[str, str] = resources.get("requests") or {}
    causes = amounts(f"{field}.limits", limits, name)
    for key, text in requests.items():
        where = f"{field}.requests"
        causes += name(f"{where}[{key}]", key) + quantity_of(f"{where}[{key}]", key, text)
        limit = limits.get(key)
        if limit is None:
            if not may_overcommit(key):
                causes.append(fields.required(f"{field}.limits", "Limit must be set for non overcommitable resources"))
        elif not may_overcommit(key) and quantity.nano(text) != quantity.nano(limit):
            causes.append(fields.bad(where, text, f"must be equal to {key} limit of {limit}"))
        elif quantity.nano(text) > quantity.nano(limit):
            causes.append(fields.bad(where, text, f"must be less than or equal to {key} limit of {limit}"))
        if key.startswith(_HUGE) and not _is_divisible(key, text):
            why = f"{text} is not positive integer multiple of {key}"
            causes.append(fields.bad(f"{where}[{key}]", text, why))
    asked = {*limits, *requests}
    if any(key.startswith(_HUGE) for key in asked) and not asked & {"cpu", "memory"}:
        causes.append(fields.not_allowed(field, "HugePages require cpu or memory"))
    return causes + _claims(f"{field}.claims", resources.get("claims") or (), claims)


def _claims(field: str, listed: Sequence[Mapping[str, Any]], known: frozenset[str]) -> list[Cause]:
    causes: list[Cause] = []
    names: set[str] = set()
    for index, claim in enumerate(listed):
        where, name, request = f"{field}[{index}]", claim.get("name") or "", claim.get("request") or ""
        if not name:
            causes.append(fields.required(where))
            continue
        if name in names:
            causes.append(fields.duplicate(where, name))
        else:
            causes += fields.label_name(f"{where}.request", request) if request else []
            key = f"{name}/{request}" if request else name
            if key in names:
                causes.append(fields.duplicate(where, key))
            elif not request:
                causes += [fields.duplicate(where, name) for one in names if one.partition("/")[0] == name]
            names.add(key)
        if name not in known:
            told = f": {', '.join(sorted(known))}" if known else " which is empty"
            found = fields.not_found(where, name)
            why = f"{found.message}: must be one of the names in pod.spec.resourceClaims{told}"
            causes.append(Cause(where, why, found.reason))
    return causes
