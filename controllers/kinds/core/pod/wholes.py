"""Rules of what a pod as a whole asks for, against what its containers do.

Source: pkg/apis/core/validation (validatePodResources, validatePodResourceConsistency), v1.34; KEP-2837.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers.kinds.core import resources
from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause
from scheduler_core.api.quantity import Amount


def pod_resources(field: str, spec: Mapping[str, Any], claims: frozenset[str]) -> list[Cause]:
    """Check spec.resources of a pod spec at `field`."""
    asked = spec.get("resources")
    if asked is None:
        return []
    where = f"{field}.resources"
    if (spec.get("os") or {}).get("name") == "windows":
        return [fields.not_allowed(where, "may not be set for a windows pod")]
    causes: list[Cause] = []
    if asked.get("claims") is not None:
        causes.append(fields.not_allowed(f"{where}.claims", "claims may not be set for Resources at pod-level"))
    causes += resources.requirements(where, asked, claims, resources.pod_name)
    return causes + _consistent(where, spec, asked)


def _consistent(where: str, spec: Mapping[str, Any], asked: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key, told in (("requests", "container requests"), ("limits", "container limits")):
        whole: Mapping[str, str] = asked.get(key) or {}
        for name, total in _total(spec, key).items():
            if name not in whole or (key == "limits" and not name.startswith("hugepages-")):
                continue
            if total.nano > quantity.nano(whole[name]):
                why = f"must be greater than or equal to aggregate {told} of {total}"
                causes.append(fields.bad(f"{where}.{key}[{name}]", whole[name], why))
    limits: Mapping[str, str] = asked.get("limits") or {}
    for index, container in enumerate(spec.get("containers") or ()):
        for name, limit in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and quantity.nano(limit) > quantity.nano(limits[name]):
                place = f"{where}.containers[{index}][{name}].limits"
                causes.append(fields.bad(place, limit, f"must be less than or equal to pod limits of {limits[name]}"))
    return causes


def _total(spec: Mapping[str, Any], key: str) -> dict[str, Amount]:
    """Return what the containers ask for together: those that run on, or the most that an init container needs."""

    def of(container: Mapping[str, Any]) -> dict[str, Amount]:
        amounts = (container.get("resources") or {}).get(key) or {}
        return {name: Amount.read(text) for name, text in amounts.items()}

    def plus(one: Mapping[str, Amount], other: Mapping[str, Amount]) -> dict[str, Amount]:
        both = dict(one)
        for name, amount in other.items():
            both[name] = both[name].plus(amount) if name in both else amount
        return both

    running: dict[str, Amount] = {}
    for container in spec.get("containers") or ():
        running = plus(running, of(container))
    beside: dict[str, Amount] = {}
    most: dict[str, Amount] = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            running, beside = plus(running, of(container)), plus(beside, of(container))
            need = beside
        else:
            need = plus(of(container), beside)
        for name, amount in need.items():
            if name not in most or amount.nano > most[name].nano:
                most[name] = amount
    for name, amount in most.items():
        if name not in running or amount.nano > running[name].nano:
            running[name] = amount
    return running
