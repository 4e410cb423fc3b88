"""Documents: API objects as they are on the wire, plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Document = dict[str, Any]
FrozenDocument = Mapping[str, Any]
"""A document that others hold too: it is only read."""

ENDED_PHASES: Final = ("Succeeded", "Failed")
"""Phases of pods whose containers have all ended, for good."""


def at(document: Mapping[str, Any], *path: str) -> Any:
    """Return the value at a path of keys, or None where one is missing."""
    value: Any = document
    for key in path:
        # The abstract test costs ten times the other, and tables of thousands of rows ask a million times.
        if type(value) is not dict and not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def child(document: Document, key: str) -> Document:
    """Return the struct under `key`, made when it is missing."""
    value = document.get(key)
    if not isinstance(value, dict):
        value = document[key] = {}
    return value


def condition(document: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """Return the status condition of a type."""
    for entry in (document.get("status") or {}).get("conditions") or ():
        if entry.get("type") == kind:
            found: Mapping[str, Any] = entry
            return found
    return None


def has_ended(pod: Mapping[str, Any]) -> bool:
    """Return whether all containers of the pod have ended, for good: it holds nothing of its node any more."""
    return (pod.get("status") or {}).get("phase") in ENDED_PHASES
