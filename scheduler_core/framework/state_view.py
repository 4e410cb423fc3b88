"""A cycle's scratch made readable: which plugin keeps what from one extension point to the next.

Values are written as upstream's own logs write them (Go's `%+v`): `map[cpu:300]`, `[1 2]`, `true`, `<nil>`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from itertools import islice
from typing import Any, Final

import msgspec
import numpy as np

from scheduler_core.api.document import at
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.snapshot.node_info import PodInfo

VALUE_LENGTH_MAX: Final = 160
"""Characters of a value as it is shown; a longer one is cut and ends in `…`."""

MEMBERS_MAX: Final = 4
"""Members of a collection that are shown; the rest is counted."""

DEPTH_MAX: Final = 3
"""Nesting that is shown; what lies deeper is named by its type."""


_SIMPLE: Final = frozenset({str, int, float})
"""Types of most of what is kept, shown as Python writes it."""


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
    plain = _plain(value)
    if plain is not None:
        return plain
    if not depth:
        return type(value).__name__.lstrip("_")
    if isinstance(value, Mapping):
        return _map(value.items(), len(value), depth)
    if isinstance(value, AbstractSet):
        return _listed("[", "]", sorted(_shown(one, depth - 1) for one in value))
    if isinstance(value, Sequence):
        if value and all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) for one in value):
            return _map(value, len(value), depth)
        return _listed("[", "]", [_shown(one, depth - 1) for one in value])
    name = type(value).__name__.lstrip("_")
    fields = _fields(value)
    members = [f"{field}:{_shown(getattr(value, field), depth - 1)}" for field in fields]
    return _listed(f"{name}{{", "}", members, most=len(fields)) if fields else name


def _plain(value: Any) -> str | None:
    """Return what has no members of its own as it is shown; None for what has."""
    if value is None:
        return "<nil>"
    if type(value) in _SIMPLE:
        return str(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.ndarray):
        return "".join(f"[{length}]" for length in value.shape) + str(value.dtype)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, PodInfo):
        return f"pod {value.key}"
    if isinstance(value, Mapping) and at(value, "metadata", "name"):
        # Objects of the API are named.
        names = (at(value, "metadata", "namespace"), value["metadata"]["name"])
        return f"{value.get('kind', 'object')} {'/'.join(filter(None, names))}"
    return str(value) if isinstance(value, int | float | str | np.generic) else None


def _map(pairs: Iterable[tuple[Any, Any]], count: int, depth: int) -> str:
    members = [f"{_shown(key, 0)}:{_shown(one, depth - 1)}" for key, one in islice(pairs, MEMBERS_MAX)]
    return _listed("map[", "]", members, count=count)


def _fields(value: Any) -> list[str]:
    """Return the public fields of a dataclass or a struct; others are shown by their type alone."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif isinstance(value, msgspec.Struct):
        names = list(value.__struct_fields__)
    else:
        names = []
    return [name for name in names if not name.startswith("_")]


def _listed(
    opening: str, closing: str, members: Sequence[str], most: int = MEMBERS_MAX, count: int | None = None
) -> str:
    """Return members between brackets; `count`: of how many, where not all are there."""
    more = (len(members) if count is None else count) - most
    return opening + " ".join([*members[:most], *([f"… {more} more"] if more > 0 else [])]) + closing
