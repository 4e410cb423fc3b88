"""What the command objects have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.api.document import at, child


def with_spec(document: dict[str, Any]) -> None:
    """Give a command object its spec."""
    child(document, "spec")


def shown(*path: str) -> Callable[[Mapping[str, Any], Any], str]:
    """Return the cell of a value, as text."""

    def cell(document: Mapping[str, Any], age: Any) -> str:
        value = at(document, *path)
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    return cell
