"""What the way in put into a document, told piece by piece: `spec.restartPolicy: Always`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from controllers.registry.kind import Kind
from controllers.registry.marks import Mark

VALUE_LENGTH_MAX: Final = 60
"""Letters of a value that are told."""

PIECES_MAX: Final = 24
"""Pieces of one step that are told; how many more there are is told too."""

_SYSTEMS: Final = ("metadata", "status")
"""Parts that the server fills: the rest is the body's own."""

_APPLIED: Final = "metadata.annotations.kubectl.kubernetes.io/last-applied-configuration"
_UNTOLD: Final = frozenset({"apiVersion", "kind", "metadata.managedFields", "metadata.resourceVersion", _APPLIED})
_SECRET: Final = frozenset({"data", "stringData", "metadata.annotations"})
"""Parts of a secret kind that may hold what is secret."""


class Pieces(NamedTuple):
    """What is told of the body's own part, and of what the server fills."""

    own: list[str]
    systems: list[str]


def added(kind: Kind, given: Mapping[str, Any], document: Mapping[str, Any]) -> Pieces:
    """Return what a create got beside what its body said."""
    before = _flat(kind, given)
    now = _flat(kind, document)
    return _pieces((path, f"{path}: {value}") for path, value in now.items() if path not in before)


def changed(kind: Kind, old: Mapping[str, Any], document: Mapping[str, Any]) -> Pieces:
    """Return what a change changes: new pieces, those that are other ones (`~`) and those that are gone (`−`)."""
    before, now = _flat(kind, old), _flat(kind, document)
    told = [
        (path, f"~ {path}: {value}" if path in before else f"{path}: {value}")
        for path, value in now.items()
        if before.get(path) != value
    ]
    return _pieces([*told, *((path, f"− {path}") for path in before if path not in now)])


def tell(mark: Mark | None, pieces: list[str]) -> None:
    """Note on a step what it put in, where somebody asks for it."""
    if mark is None or not pieces:
        return
    more = len(pieces) - PIECES_MAX
    mark.result = "changed"
    mark.message = ", ".join([*pieces[:PIECES_MAX], *([f"… {more}"] if more > 0 else [])])


def _pieces(told: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Pieces:
    pieces = Pieces([], [])
    for path, words in told:
        (pieces.systems if path.partition(".")[0] in _SYSTEMS else pieces.own).append(words)
    return pieces


def _flat(kind: Kind, document: Mapping[str, Any]) -> dict[str, str]:
    """Return each leaf by its path, as it is told."""
    untold = _UNTOLD | _SECRET if kind.secret else _UNTOLD
    return {path: _written(value) for path, value in _leaves("", document, untold)}


def _leaves(path: str, value: Any, untold: frozenset[str]) -> Iterator[tuple[str, Any]]:
    if path in untold:
        return
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, part, untold)
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from _leaves(f"{path}[{index}]", part, untold)
    elif path:
        yield path, value


def _written(value: Any) -> str:
    # Pieces are told apart by a comma and a space.
    text = (value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))).replace(", ", ",")
    return text if len(text) <= VALUE_LENGTH_MAX else f"{text[: VALUE_LENGTH_MAX - 1]}…"
