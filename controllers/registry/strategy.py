"""What one kind adds to the common way of a document into the store: a value with functions, one file a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from scheduler_core.api.errors import Cause
from scheduler_core.framework.registry import PluginRegistry

Document = dict[str, Any]


class Lookup(Protocol):
    """What admission may look up: other objects as the transaction sees them, and which plugins are installed."""

    plugins: PluginRegistry | None
    """Scheduler plugins beside the in-tree ones."""

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return another object."""

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource."""

    @property
    def now(self) -> str:
        """Return the wire timestamp of this write."""


def _nothing(document: Document) -> None:
    return None


def _no_causes(document: Document) -> list[Cause]:
    return []


def _no_change_causes(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    return []


def _admit_all(document: Document, lookup: Lookup) -> list[Cause]:
    return []


def _admit_any_change(new: Document, old: Mapping[str, Any], lookup: Lookup) -> list[Cause]:
    return []


class Column(NamedTuple):
    """One column that `kubectl get` prints; priority 1 columns show with `-o wide`.

    `cell` gets the object and the age function (timestamp to `5m`, by session time).
    """

    name: str
    type: Literal["string", "integer", "boolean", "date"]
    description: str
    cell: Callable[[Mapping[str, Any], Callable[[str | None], str]], Any]
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Strategy:
    """How documents of one kind are defaulted, validated and changed.

    All functions work on complete, schema-checked documents. `prepare` runs on create only (what upstream's
    PrepareForCreate resets), `defaults` on every write, `admit` on create with a view of other objects, `admit_update`
    on changes: it also carries over what the server had given the old one.
    """

    prepare: Callable[[Document], None] = _nothing
    defaults: Callable[[Document], None] = _nothing
    admit: Callable[[Document, Lookup], list[Cause]] = _admit_all
    admit_update: Callable[[Document, Mapping[str, Any], Lookup], list[Cause]] = _admit_any_change
    validate: Callable[[Document], list[Cause]] = _no_causes
    validate_update: Callable[[Document, Mapping[str, Any]], list[Cause]] = _no_change_causes
    names: Literal["subdomain", "label", "service", "path"] = "subdomain"
    generation: bool = False
    generation_counts_annotations: bool = False
    graceful: bool = False
    columns: tuple[Column, ...] = ()
    selectable: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    """Field selectors besides metadata.name and metadata.namespace."""


def at(document: Mapping[str, Any], *path: str) -> Any:
    """Return the value at a path of keys, or None where one is missing."""
    value: Any = document
    for key in path:
        if not isinstance(value, Mapping):
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
