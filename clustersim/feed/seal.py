"""Seals: what nobody but the teacher is told while a poll is open, cut out of whatever would tell it.

One mechanism for every door: `seal_of` reads from the log which polls seal, `Seal.document` says what is left of an
object. What a scheduler makes of a sealed pod (its node, its conditions, its Events, its cycle, its place in the queue,
its decisions) is not there; everything else of the cluster is as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import msgspec

from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.log.store import Event, Store, Stored
from controllers.registry.models.clustersim_v1 import PollSpec, PollStatus
from controllers.registry.structs import read

PODS: Final = "pods"
TEACHER: Final = "teacher"
DONE: Final = ("revealed", "over")
"""States of a poll in which it seals no longer."""

STOOD: Final = "QueueSort"
"""The point at which a sealed cycle is shown, wherever it stands."""

Document = Mapping[str, Any]

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Sealed:
    """One poll that seals: its pod (`namespace/name`, or empty), the node it had, whether its asker learns alone."""

    poll: str
    pod: str
    node: str
    alone: bool


@dataclass(frozen=True)
class Seal:
    """What polls of a session seal; false where nothing is. Equal seals hide the same."""

    polls: tuple[Sealed, ...] = ()
    _nodes: Mapping[str, str] = field(default_factory=dict, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_nodes", {one.pod: one.node for one in self.polls if one.pod})

    def __bool__(self) -> bool:
        return bool(self.polls)

    def of(self, role: str) -> Seal:
        """Return what is sealed for a role: for teachers only what they ask themselves."""
        if role != TEACHER or not self.polls:
            return self
        alone = tuple(one for one in self.polls if one.alone)
        return self if len(alone) == len(self.polls) else Seal(alone)

    def hides_pod(self, key: str) -> bool:
        """Return whether the pod (`namespace/name`) is sealed."""
        return key in self._nodes

    def concerns(self, resource: str, namespace: str, name: str) -> bool:
        """Return whether an object may be shown otherwise than it is: cheap, and without reading it."""
        if resource == PODS:
            return f"{namespace}/{name}" in self._nodes
        return bool(self._nodes) and resource in _CUT

    def may_be_in(self, data: bytes) -> bool:
        """Return whether an encoded object may name a sealed pod: most do not, and need not be decoded."""
        return any(key.partition("/")[2].encode() in data for key in self._nodes)

    def document(self, resource: str, document: Document) -> Document | None:
        """Return what is left of an object; itself where nothing is sealed in it, None where it is not there."""
        cut = _CUT.get(resource)
        return document if cut is None or not self._nodes else cut(self._nodes, document)

    def stored(self, one: Stored) -> Stored | None:
        """Return a stored object as it is shown; None where it is not there."""
        if not self.concerns(one.resource, one.namespace, one.name) or not self.may_be_in(one.data):
            return one
        shown = self.document(one.resource, one.object)
        if shown is None or shown is one.object:
            return None if shown is None else one
        return Stored(one.resource, one.namespace, one.name, one.uid, one.revision, _encode(shown))

    def all_stored(self, objects: Iterable[Stored]) -> Sequence[Stored]:
        """Return stored objects as they are shown."""
        if not self._nodes:
            return objects if isinstance(objects, Sequence) else list(objects)
        return [shown for one in objects if (shown := self.stored(one)) is not None]

    def event(self, event: Event) -> Event | None:
        """Return a row of the log as it is shown; None where it is not there."""
        if not self.concerns(event.resource, event.namespace, event.name):
            return event
        now = self.document(event.resource, event.object)
        if now is None:
            return None
        before = event.previous
        was = None if before is None else self.document(event.resource, before)
        if now is event.object and was is before:
            return event
        return Event(
            event.resource,
            event.namespace,
            event.name,
            event.uid,
            event.revision,
            _encode(now),
            verb=event.verb,
            now_ms=event.now_ms,
            actor=event.actor,
            previous_revision=event.previous_revision,
            previous_data=None if was is None else _encode(was),
            read=event.read,
        )


NO_SEAL: Final = Seal()


def seal_of(store: Store) -> Seal:
    """Return what the polls of a session seal now, for whom it may be: see `Seal.of`."""
    polls, _ = store.list(POLLS)
    return _seal(tuple((one.name, one.revision, one.data) for one in polls)) if polls else NO_SEAL


@lru_cache(maxsize=256)
def _seal(polls: tuple[tuple[str, int, bytes], ...]) -> Seal:
    found = []
    for name, _, data in polls:
        document = msgspec.json.decode(data)
        spec, status = read(document.get("spec"), PollSpec), read(document.get("status"), PollStatus)
        if status.seals and status.state not in DONE:
            found.append(Sealed(name, spec.pod, spec.node, spec.alone))
    return Seal(tuple(found)) if found else NO_SEAL


# -- what is left of an object ----------------------------------------------------------------------------------------

Nodes = Mapping[str, str]


def _pod(nodes: Nodes, document: Document) -> Document | None:
    metadata = document["metadata"]
    key = f"{metadata.get('namespace', '')}/{metadata['name']}"
    if key not in nodes:
        return document
    spec, status = document.get("spec") or {}, document.get("status") or {}
    shown: dict[str, Any] = {**document, "metadata": {**metadata}}
    # Who wrote which field, and how often, would tell a binding.
    shown["metadata"].pop("managedFields", None)
    if (spec.get("nodeName") or "") != nodes[key]:
        shown["spec"] = {name: value for name, value in spec.items() if name != "nodeName"}
        shown["status"] = {"phase": "Pending", **({"qosClass": status["qosClass"]} if "qosClass" in status else {})}
        return shown
    kept = {name: value for name, value in status.items() if name != "nominatedNodeName"}
    if "conditions" in kept:
        kept["conditions"] = [_condition(one) for one in kept["conditions"]]
    shown["status"] = kept
    return document if shown == document else shown


def _condition(condition: Document) -> Document:
    if condition.get("type") != "PodScheduled":
        return condition
    return {name: value for name, value in condition.items() if name not in ("reason", "message")}


def _event(nodes: Nodes, document: Document) -> Document | None:
    """An Event about a sealed pod is not there, nor one that names it."""
    for member in ("involvedObject", "related", "regarding"):
        about = document.get(member) or {}
        if about.get("kind") == "Pod" and f"{about.get('namespace', '')}/{about.get('name', '')}" in nodes:
            return None
    text = str(document.get("message") or "")
    return None if any(key in text or key.partition("/")[2] in text.split() for key in nodes) else document


def _replica(nodes: Nodes, document: Document) -> Document | None:
    status = document.get("status") or {}
    cycle = status.get("cycle") or {}
    shown = dict(status)
    if cycle.get("pod") in nodes:
        kept = ("pod", "uid", "attempt", "startedAtMs", "profile", "era", "scoreMax", "seenRevision")
        shown["cycle"] = {**{name: cycle[name] for name in kept if name in cycle}, "point": STOOD}
    if shown.get("answer") is not None and any(key.partition("/")[2] in str(shown["answer"]) for key in nodes):
        shown.pop("answer")
    return document if shown == status else {**document, "status": shown}


def _queue(nodes: Nodes, document: Document) -> Document | None:
    status = document.get("status") or {}
    shown = {
        lane: [_place(nodes, one) for one in entries] if isinstance(entries, list) else entries
        for lane, entries in status.items()
    }
    return document if shown == status else {**document, "status": shown}


def _place(nodes: Nodes, entry: Document) -> Document:
    if entry.get("pod") not in nodes:
        return entry
    return {name: entry[name] for name in ("pod", "uid", "priority") if name in entry}


_CUT: Final[Mapping[str, Callable[[Nodes, Document], Document | None]]] = {
    # One line a kind in which a scheduler's decision shows.
    PODS: _pod,
    "events": _event,
    "replicas.clustersim.io": _replica,
    "queues.clustersim.io": _queue,
}

CUT: Final = frozenset(_CUT)
"""Resources of which an object may be shown otherwise than it is."""
