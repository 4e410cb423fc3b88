"""Events: what happened to an object, told by a component."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.kinds.columns import NAME
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

MESSAGE_LETTERS_MAX: Final = 1024
"""Letters of an event's message, as the events API limits it; events are the most numerous objects."""


def _defaults(document: dict[str, Any]) -> None:
    for key, empty in (("source", {}), ("reportingComponent", ""), ("reportingInstance", "")):
        if document.get(key) is None:
            document[key] = dict(empty) if isinstance(empty, dict) else empty
    for key in ("firstTimestamp", "lastTimestamp", "eventTime"):
        document.setdefault(key, None)


def _limited(field: str, text: str, most: int) -> list[Cause]:
    return [fields.bad(field, "", f"can have at most {most} characters")] if len(text) > most else []


def rules(document: Mapping[str, Any], controller: str) -> list[Cause]:
    """Check an event; `controller` is how the version that is written calls the component that tells it."""
    namespace = document["metadata"].get("namespace") or ""
    about = at(document, "involvedObject", "namespace") or ""
    apart = [fields.bad("involvedObject.namespace", about, "does not match event.namespace")]
    if document.get("eventTime") is None:
        causes = apart if about != namespace and (about or namespace not in ("", "default")) else []
        # Of such events upstream limits nothing; they are the most numerous objects here.
        causes += _limited("reason", document.get("reason") or "", LEGACY_LETTERS_MAX)
        return causes + _limited("message", document.get("message") or "", LEGACY_LETTERS_MAX)
    causes = apart if not about and namespace not in ("default", "kube-system") else []
    told_by = document.get("reportingComponent") or ""
    causes += [] if told_by else [fields.required(controller)]
    causes += fields.qualified_name(controller, told_by)
    for key in ("reportingInstance", "action", "reason"):
        text = document.get(key) or ""
        causes += _limited(key, text, WORD_LETTERS_MAX) if text else [fields.required(key)]
    return causes + _limited("message", document.get("message") or "", MESSAGE_LETTERS_MAX)


def _validate(document: dict[str, Any]) -> list[Cause]:
    return rules(document, "reportingComponent")


def last_seen(document: Mapping[str, Any]) -> str | None:
    """Return the newest timestamp of an event, whichever field its writer used."""
    for path in (("series", "lastObservedTime"), ("lastTimestamp",), ("eventTime",), ("firstTimestamp",)):
        value = at(document, *path)
        if value:
            return str(value)
    created = document["metadata"].get("creationTimestamp")
    return str(created) if created else None


def _object(document: Mapping[str, Any], age: Any) -> str:
    about = document.get("involvedObject") or {}
    kind = (about.get("kind") or "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _count(document: Mapping[str, Any], age: Any) -> int:
    series = document.get("series")
    return int(series.get("count") or 0) if series else int(document.get("count") or 1)


def _source(document: Mapping[str, Any], age: Any) -> str:
    component = at(document, "source", "component") or document.get("reportingComponent") or ""
    host = at(document, "source", "host") or document.get("reportingInstance") or ""
    return f"{component}, {host}" if host else str(component)


def _text(*path: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda document: str(at(document, *path) or "")


LEGACY_LETTERS_MAX: Final = 64 * MESSAGE_LETTERS_MAX
"""Letters of the message of an event without an eventTime."""

WORD_LETTERS_MAX: Final = 128
"""Letters of an event's reason, action and instance, as the events API limits them."""

_TOLD: Final = (
    "reason",
    "message",
    "type",
    "count",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "series",
    "reportingComponent",
    "source",
)
"""What the page gets of an event besides what it is about."""

KIND: Final = Kind(
    "Event",
    "events",
    short_names=("ev",),
    names="path",
    rank=62,
    passing=True,
    in_rows=True,
    students=False,
    components=True,
    made_by_put=True,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    metadata_looks="",
    any_finalizers=True,
    collected=False,
    columns=(
        Column("Last Seen", "string", "", lambda doc, age: age(last_seen(doc)), source="core_v1.Event#lastTimestamp"),
        Column("Type", "string", "", lambda doc, age: doc.get("type") or "", source="core_v1.Event#type"),
        Column("Reason", "string", "", lambda doc, age: doc.get("reason") or "", source="core_v1.Event#reason"),
        Column("Object", "string", "", _object, source="core_v1.Event#involvedObject"),
        Column(
            "Subobject",
            "string",
            "",
            lambda doc, age: at(doc, "involvedObject", "fieldPath") or "",
            1,
            source="core_v1.ObjectReference#fieldPath",
        ),
        Column("Source", "string", "", _source, 1, source="core_v1.Event#source"),
        Column(
            "Message", "string", "", lambda doc, age: (doc.get("message") or "").strip(), source="core_v1.Event#message"
        ),
        Column(
            "First Seen",
            "string",
            "",
            lambda doc, age: age(doc.get("firstTimestamp") or doc.get("eventTime")),
            1,
            source="core_v1.Event#firstTimestamp",
        ),
        Column("Count", "string", "", _count, 1, source="core_v1.Event#count"),
        NAME._replace(priority=1),
    ),
    selectable={
        "involvedObject.kind": _text("involvedObject", "kind"),
        "involvedObject.namespace": _text("involvedObject", "namespace"),
        "involvedObject.name": _text("involvedObject", "name"),
        "involvedObject.uid": _text("involvedObject", "uid"),
        "involvedObject.apiVersion": _text("involvedObject", "apiVersion"),
        "involvedObject.resourceVersion": _text("involvedObject", "resourceVersion"),
        "involvedObject.fieldPath": _text("involvedObject", "fieldPath"),
        "reason": _text("reason"),
        "reportingComponent": _text("reportingComponent"),
        "source": lambda doc: str(at(doc, "source", "component") or doc.get("reportingComponent") or ""),
        "type": _text("type"),
    },
    page={
        "involvedObject": {"kind": True, "namespace": True, "name": True, "uid": True},
        **dict.fromkeys(_TOLD, True),
    },
)
