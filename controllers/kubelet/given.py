"""What a container was given of cpu and memory, beside what its pod asks for: they differ while a resize is under way.

Source: pkg/kubelet/kubelet_pods.go (convertContainerStatusResources), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.document import Document
from scheduler_core.api.quantity import Amount, QuantityError


def is_same(given: Mapping[str, Any], asked: Mapping[str, Any], *names: str) -> bool:
    """Return whether requests and limits are of the same amounts: of these resources, or of all."""
    if given == asked:
        return True
    return all(_amounts(given.get(key), names) == _amounts(asked.get(key), names) for key in ("requests", "limits"))


def as_run(resources: Mapping[str, Any]) -> Document:
    """Return what a container that runs was given: its limit of memory comes back from the runtime in bytes."""
    limits = resources.get("limits")
    if limits and "memory" in limits:
        limits = {**limits, "memory": str(Amount(_amount(limits["memory"]).nano, "binary"))}
        return {**resources, "limits": limits}
    return dict(resources)


def _amounts(quantities: Mapping[str, Any] | None, names: tuple[str, ...]) -> dict[str, int]:
    return {name: _amount(text).nano for name, text in (quantities or {}).items() if not names or name in names}


def _amount(quantity: Any) -> Amount:
    try:
        return Amount.read(quantity)
    except (QuantityError, TypeError):
        return Amount(0)
