"""The event recorder: Events with client-go's correlation (`tools/record/events_cache.go`).

The same event again raises `count` of the first one; more than ten that differ in their message alone become one
"(combined from similar events)"; a source that floods one object is cut off. When Events end: `controllers.expiry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.log.operations import Create, Form, Patch
from controllers.log.stamps import wire_time
from controllers.loop.loop import Tick
from scheduler_core.api.draw import draw

EVENT_TTL_MS: Final = 3_600_000
"""An Event is removed an hour after it was last written, as the API server's lease on it would."""

SIMILAR_MAX: Final = 10
SIMILAR_WINDOW_MS: Final = 600_000
"""More than ten events that differ only in their message within ten minutes of each other are combined."""

BURST: Final = 25
REFILL_MS: Final = 300_000
"""One source may write 25 events about one object at once and one more every five minutes; others are dropped."""

MESSAGE_LENGTH_MAX: Final = 1024
"""Longer messages are cut, as the API would refuse them."""

REMEMBERED_MAX: Final = 4096
"""Correlations that are remembered; the oldest go first, and their next event is written as a new one."""


@dataclass(slots=True)
class _Written:
    name: str
    count: int
    last_ms: int


@dataclass(slots=True)
class _Similar:
    messages: dict[str, None]
    last_ms: int


class Recorder:
    """Writes the events of one source. Its memory may be lost at any time: then counts begin anew."""

    def __init__(self, component: str, *, host: str = "", instance: str = "", actor: str = "") -> None:
        """Name the source: `component` as `kubelet`, `host` the node, `instance` the replica; `actor` as in `emit`."""
        self._component = component
        self._host = host
        self._instance = instance
        self._actor = actor
        self._written: dict[tuple[str, ...], _Written] = {}
        self._similar: dict[tuple[str, ...], _Similar] = {}
        self._spent: dict[tuple[str, str], int] = {}

    def event(
        self, tick: Tick, about: Mapping[str, Any], kind: str, reason: str, message: str, *, event_type: str = "Normal"
    ) -> None:
        """Write an event about an object.

        Args:
            tick: the present call.
            about: the object's document, or a dict with `metadata` and `apiVersion`.
            kind: the object's kind; documents in lists may lack it.
            reason: one CamelCase word.
            message: the sentence.
            event_type: `Normal` or `Warning`.
        """
        metadata = about["metadata"]
        uid = metadata.get("uid", "")
        if not self._may_spend(uid or metadata["name"], tick.now_ms):
            return
        message = message[:MESSAGE_LENGTH_MAX]
        group = (kind, metadata.get("namespace", ""), metadata["name"], uid, event_type, reason)
        key, message = self._combined(group, message, tick.now_ms)
        written = self._written.get(key)
        when = wire_time(tick.epoch_ms + tick.now_ms)
        namespace = metadata.get("namespace") or "default"
        if written is not None and tick.now_ms - written.last_ms < EVENT_TTL_MS:
            written.count += 1
            written.last_ms = tick.now_ms
            patch = {"count": written.count, "lastTimestamp": when, "message": message}
            tick.emit(Patch("events", namespace, written.name, patch), actor=self._actor)
            return
        name = self._name(tick, metadata["name"], key)
        self._remember(key, _Written(name, 1, tick.now_ms))
        document = self._document(about, kind, reason, message, event_type, name, when)
        involved: dict[str, str] = document["involvedObject"]
        place = (kind, involved["apiVersion"], involved.get("namespace"), involved.get("resourceVersion"))
        shared = (self, *place, reason, event_type, when)
        form = Form(shared, (name, message, involved["name"], uid)) if uid else None
        tick.emit(Create("events", namespace, document, form=form), actor=self._actor)

    def _document(
        self, about: Mapping[str, Any], kind: str, reason: str, message: str, event_type: str, name: str, when: str
    ) -> dict[str, Any]:
        metadata = about["metadata"]
        involved = {
            "kind": kind,
            "apiVersion": about.get("apiVersion", "v1"),
            "name": metadata["name"],
            "namespace": metadata.get("namespace", ""),
            "uid": metadata.get("uid", ""),
            "resourceVersion": metadata.get("resourceVersion", ""),
        }
        source = {"component": self._component}
        if self._host:
            source["host"] = self._host
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": metadata.get("namespace") or "default"},
            "involvedObject": {field: value for field, value in involved.items() if value},
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": when,
            "lastTimestamp": when,
            "count": 1,
            "type": event_type,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": self._instance or self._host,
        }

    def _name(self, tick: Tick, object_name: str, key: tuple[str, ...]) -> str:
        unix_ms = tick.epoch_ms + tick.now_ms
        purpose = "/".join((self._component, self._host, *key))
        nanos = unix_ms * 1_000_000 + draw(tick.seed, "event", purpose, unix_ms, below=1_000_000)
        return f"{object_name[:230]}.{nanos:016x}"

    def _combined(self, group: tuple[str, ...], message: str, now_ms: int) -> tuple[tuple[str, ...], str]:
        similar = self._similar.get(group)
        if similar is None or now_ms - similar.last_ms > SIMILAR_WINDOW_MS:
            similar = _Similar({}, now_ms)
            self._similar[group] = similar
            if len(self._similar) > REMEMBERED_MAX:
                del self._similar[next(iter(self._similar))]
        similar.last_ms = now_ms
        if len(similar.messages) < SIMILAR_MAX or message in similar.messages:
            similar.messages[message] = None
            return (*group, message), message
        return group, f"(combined from similar events): {message}"[:MESSAGE_LENGTH_MAX]

    def _remember(self, key: tuple[str, ...], written: _Written) -> None:
        self._written[key] = written
        if len(self._written) > REMEMBERED_MAX:
            del self._written[next(iter(self._written))]

    def _may_spend(self, uid: str, now_ms: int) -> bool:
        """Take one from the object's bucket of events; it refills by one every `REFILL_MS`."""
        key = (self._component, uid)
        empty_ms = max(self._spent.get(key, now_ms - BURST * REFILL_MS), now_ms - BURST * REFILL_MS)
        if empty_ms + REFILL_MS > now_ms:
            return False
        self._spent[key] = empty_ms + REFILL_MS
        if len(self._spent) > REMEMBERED_MAX:
            del self._spent[next(iter(self._spent))]
        return True
