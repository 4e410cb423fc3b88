"""A cycle's scratch made readable: which plugin keeps what from one extension point to the next."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Final

import msgspec
import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.snapshot.node_info import PodInfo

VALUE_LENGTH_MAX: Final = 160
"""Characters of a value as it is shown; a longer one is cut and ends in `…`."""

MEMBERS_MAX: Final = 4
"""Members of a collection that are shown; the rest is counted."""

DEPTH_MAX: Final = 3
"""Nesting that is shown; what lies deeper is named by its type."""


def state_entries(state: CycleState) -> list[dict[str, Any]]:
    """Return what was written, in order: key, the plugin that wrote it, the value, whether a dry run gets its own copy.

    Values look the same in a replay: an array is shown by its type and shape, since rows may have another order there.
    """
    return [
        {
            "key": key,
            "writer": key.partition("/")[0],
            "value": _cut(_shown(value, DEPTH_MAX)),
            "cloned": hasattr(value, "clone"),
        }
        for key, value in state.items()
    ]


def _cut(text: str) -> str:
    return text if len(text) <= VALUE_LENGTH_MAX else text[: VALUE_LENGTH_MAX - 1] + "…"


def _shown(value: Any, depth: int) -> str:
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, PodInfo):
        return f"pod {value.key}"
    if not depth:
        return type(value).__name__.lstrip("_")
    if isinstance(value, Mapping):
        return _listed("{", "}", [f"{_shown(key, 0)}: {_shown(one, depth - 1)}" for key, one in value.items()])
    if isinstance(value, AbstractSet):
        return _listed("{", "}", sorted(_shown(one, depth - 1) for one in value))
    if isinstance(value, Sequence):
        return _listed("[", "]", [_shown(one, depth - 1) for one in value])
    name = type(value).__name__.lstrip("_")
    fields = _fields(value)
    return (
        name
        if not fields
        else _listed(
            f"{name}(",
            ")",
            [f"{field}={_shown(getattr(value, field), depth - 1)}" for field in fields],
            most=len(fields),
        )
    )


def _fields(value: Any) -> list[str]:
    """Return the public fields of a dataclass or a struct; others are shown by their type alone."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif isinstance(value, msgspec.Struct):
        names = list(value.__struct_fields__)
    else:
        names = []
    return [name for name in names if not name.startswith("_")]


def _listed(opening: str, closing: str, members: Sequence[str], most: int = MEMBERS_MAX) -> str:
    more = len(members) - most
    return opening + ", ".join([*members[:most], *([f"… {more} more"] if more > 0 else [])]) + closing
