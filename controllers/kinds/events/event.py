"""Events in the group events.k8s.io: the same objects as in the core group, under other names and stricter rules.

Source: pkg/apis/events/v1/conversion.go, pkg/apis/core/validation/events.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.core import event as core
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import Cause

_NAMES: Final = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""What is called otherwise here → its name in the core group."""

_FROM_CORE: Final = {there: here for here, there in _NAMES.items()}
_TEXTS: Final = ("reason", "message", "type", "action", "reportingComponent", "reportingInstance")
_KEPT: Final = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
"""What may not change, in upstream's order, which looks at the reason twice."""

_STRUCTS: Final = {
    "involvedObject": "core.ObjectReference",
    "related": "*core.ObjectReference",
    "source": "core.EventSource",
}
"""Those of them that sentences show as the server holds them."""


def _inward(document: Document) -> Document:
    named = {_NAMES.get(key, key): value for key, value in document.items()}
    return {**named, "apiVersion": core.KIND.api_version, "involvedObject": named.get("involvedObject") or {}}


def _outward(document: Mapping[str, Any]) -> Document:
    named = {
        _FROM_CORE.get(key, key): value
        for key, value in document.items()
        if value != "" or key not in ("reportingComponent", "reportingInstance")
    }
    return {**named, "apiVersion": "events.k8s.io/v1"}


def _series(document: Mapping[str, Any]) -> list[Cause]:
    series = document.get("series")
    if series is None:
        return []
    causes = [fields.bad("series.count", "", "should be at least 2")] if (series.get("count") or 0) < 2 else []
    return causes if series.get("lastObservedTime") else [*causes, fields.required("series.lastObservedTime")]


def _validate(document: dict[str, Any]) -> list[Cause]:
    return core.rules(document, "reportingController")


def _validate_new(document: dict[str, Any]) -> list[Cause]:
    """Check what only a new event of this version has to have."""
    causes = _series(document)
    if document.get("eventTime") is None:
        causes.append(fields.required("eventTime"))
    if document.get("type") not in ("Normal", "Warning"):
        causes.append(fields.bad("type", "", f"has invalid value: {document.get('type') or ''}"))
    unset = [key for key in ("firstTimestamp", "lastTimestamp", "count") if document.get(key)]
    if at(document, "source", "component") or at(document, "source", "host"):
        unset.append("source")
    return causes + [fields.bad(key, "", "needs to be unset") for key in unset]


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = _series(new) if new.get("series") != old.get("series") else []
    for key in _KEPT:
        field = "reportingController" if key == "reportingComponent" else key
        if key in _STRUCTS:
            causes += internal.immutable(field, new.get(key), old.get(key), _STRUCTS[key])
        else:
            blank = "" if key in _TEXTS else None
            causes += fields.immutable(field, new.get(key, blank), old.get(key, blank))
    return causes


def _shown(column: Column) -> Column:
    """Return a column of core Events as it shows one of this version."""
    return column._replace(cell=lambda document, age: column.cell(_inward(dict(document)), age))


def _selected(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda document: core.KIND.selectable[name](_inward(dict(document)))


_ABOUT: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")

KIND: Final = Kind(
    "Event",
    "events",
    group="events.k8s.io",
    short_names=core.KIND.short_names,
    names="path",
    stored_as=replace(
        core.KIND,
        validate_new=_validate_new,
        validate=_validate,
        validate_update=_validate_update,
        metadata_looks="c",
        any_finalizers=False,
    ),
    inward=_inward,
    outward=_outward,
    students=False,
    components=True,
    passing=True,
    made_by_put=True,
    whole_rules=True,
    columns=tuple(map(_shown, core.KIND.columns)),
    selectable={
        **{f"regarding.{key}": _selected(f"involvedObject.{key}") for key in _ABOUT},
        **{name: _selected(name) for name in ("reason", "type")},
        "reportingController": _selected("reportingComponent"),
    },
)
