"""Scoped selector requirements: whether a scope selects an object by one value of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.selectors import Requirement


def selects(scope: Mapping[str, Any], value: str | None) -> bool:
    """Return whether a scope's operator and values accept a value; None: the object has none."""
    requirement = Requirement(scope["scopeName"], scope.get("operator", ""), frozenset(scope.get("values") or ()))
    return requirement.matches_value(value)
