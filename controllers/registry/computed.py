"""Objects that no row of the log holds: what they follow from, and how a kind has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from controllers.log.store import Stored


class Facts(Protocol):
    """What computed objects follow from: a session's objects as they are shown, and what time it is there."""

    epoch_ms: int

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return an object."""

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""

    def stored(self, resource: str) -> Sequence[Stored]:
        """Return the objects that are stored, without those that are computed."""

    def unix_ms(self) -> int:
        """Return Unix milliseconds."""


class Computed(NamedTuple):
    """Objects of a kind that no row of the log holds. They are got and listed; a watch does not tell of them."""

    objects: Callable[[Facts, str | None, str], Iterable[Stored]]
    """(facts, namespace or None for all, name or empty for all) → the objects."""
    fixed: str = ""
    """Why one that is computed cannot be written, with `{name}`; empty: nothing of the kind is written at all."""
    missing: str = ""
    """What one that is not there is called in the answer; empty: the resource."""
    measured: str = ""
    """The resource of what the objects tell about: the kind is served while there is any; empty: always."""
