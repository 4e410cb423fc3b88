"""Rules of resource amounts: names, signs, whole numbers, requests within limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

_STANDARD: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_NANO: Final = 10**9


def is_standard(name: str) -> bool:
    """Return whether a container may ask for it without a domain."""
    return name in _STANDARD or name.startswith("hugepages-")


def is_extended(name: str) -> bool:
    """Return whether it is counted in whole devices that nobody shares."""
    return "/" in name and not name.startswith(("kubernetes.io/", "requests.")) and ".kubernetes.io/" not in name


def may_overcommit(name: str) -> bool:
    """Return whether requests may be below limits: only what nobody shares may not."""
    return not is_extended(name) and not name.startswith("hugepages-")


def name(where: str, value: str, *, container: bool) -> list[Cause]:
    """Check the name of a resource; `container`: of what a container may ask for."""
    causes = fields.qualified_name(where, value)
    if container and "/" not in value and not is_standard(value):
        causes.append(fields.bad(where, value, "must be a standard resource for containers"))
    return causes


def amounts(field: str, resources: Mapping[str, str] | None, *, container: bool = False) -> list[Cause]:
    """Check a resource list: `spec.containers[0].resources.limits`, `status.capacity`, `spec.hard`."""
    causes: list[Cause] = []
    for name, text in (resources or {}).items():
        where = f"{field}[{name}]"
        causes += fields.qualified_name(where, name)
        if "/" not in name and container and not is_standard(name):
            causes.append(fields.bad(where, name, "must be a standard resource for containers"))
        number = quantity.nano(text)
        if number < 0:
            causes.append(fields.bad(where, text, "must be greater than or equal to 0"))
        if (is_extended(name) or name == "pods") and number % _NANO:
            causes.append(fields.bad(where, text, "must be an integer"))
    return causes


def requirements(field: str, resources: Mapping[str, Any] | None) -> list[Cause]:
    """Check a container's requests against its limits."""
    resources = resources or {}
    limits: Mapping[str, str] = resources.get("limits") or {}
    requests: Mapping[str, str] = resources.get("requests") or {}
    causes = amounts(f"{field}.limits", limits, container=True)
    causes += amounts(f"{field}.requests", requests, container=True)
    for name, text in requests.items():
        where, limit = f"{field}.requests", limits.get(name)
        whole = is_extended(name) or name.startswith("hugepages-")
        if limit is None:
            if whole:
                causes.append(fields.required(f"{field}.limits", "Limit must be set for non overcommitable resources"))
        elif whole and quantity.nano(text) != quantity.nano(limit):
            causes.append(fields.bad(where, text, f"must be equal to {name} limit of {limit}"))
        elif quantity.nano(text) > quantity.nano(limit):
            causes.append(fields.bad(where, text, f"must be less than or equal to {name} limit of {limit}"))
    return causes
