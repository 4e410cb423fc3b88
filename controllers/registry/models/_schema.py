"""What the generated model modules import: only their annotations and docstrings are read, so nothing is built."""

from __future__ import annotations

from typing import Any, TypeVar

_T = TypeVar("_T")


class DictMixin:
    """Base class of the generated models."""


def dataclass(model: type[_T]) -> type[_T]:
    """Return the class as it is: annotations are all that the schema needs."""
    return model


def field(*, metadata: dict[str, str] | None = None, default: Any = None) -> dict[str, str]:
    """Return the field's metadata; `json` in it is the wire name where Python could not spell it."""
    return metadata or {}
