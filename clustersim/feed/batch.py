"""What feeds hand out: a run of the log, encoded once however many read it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import msgspec

from clustersim.feed.palette import Palette
from clustersim.feed.seal import Seal
from clustersim.feed.slim import fitted, slim
from controllers.log.store import Event

FRAME_BYTES: Final = 256 * 1024
"""A run of events is cut into frames of about this size; the websocket itself ends at a MiB."""

_encode = msgspec.json.Encoder().encode


class Batch:
    """Events with `from_` < revision ≤ `to`, in order; without events it only moves the reader on."""

    def __init__(
        self,
        from_: int,
        to: int,
        events: Sequence[Event],
        encoded: list[Encoded] | None = None,
        palette: Palette | None = None,
        decisions: Sequence[Decision] = (),
    ) -> None:
        self.from_ = from_
        self.to = to
        self.events = events
        self.decisions = decisions
        self._encoded = encoded
        self._palette = palette
        self._sealed: tuple[Seal, Batch] | None = None

    def sealed(self, seal: Seal) -> Batch:
        """Return the batch as it is shown to those whom a seal concerns; made once for all of them."""
        if not seal:
            return self
        if self._sealed is None or self._sealed[0] != seal:
            self._sealed = seal, self._cut(seal)
        return self._sealed[1]

    def _cut(self, seal: Seal) -> Batch:
        events: list[Event] = []
        encoded: list[Encoded] = []
        for event, made in zip(self.events, self.encoded, strict=True):
            shown = seal.event(event)
            if shown is not None:
                events.append(shown)
                encoded.append(made if shown is event else Encoded(shown, self._palette))
        decisions = [one for one in self.decisions if not seal.hides_pod(one.pod)]
        return Batch(self.from_, self.to, events, encoded, self._palette, decisions)

    @property
    def size(self) -> int:
        """Return how many bytes of documents the events hold."""
        return sum(len(event.data) for event in self.events)

    @property
    def encoded(self) -> list[Encoded]:
        """Return the page's form of each event, made on first use."""
        if self._encoded is None:
            self._encoded = [Encoded(event, self._palette) for event in self.events]
        return self._encoded

    @cached_property
    def frames(self) -> list[str]:
        """Return the `events` frames of docs/protocol.md, each going on where the one before ended.

        Sockets send text, so they are kept as text.
        """
        made: list[str] = []
        rows: list[bytes] = []
        told: list[bytes] = []
        from_, size, next_ = self.from_, 0, 0
        for one in self.encoded:
            if rows and size + len(one.row) > FRAME_BYTES:
                to = one.event.revision - 1
                made.append(_frame(from_, to, rows, told))
                from_, rows, told, size = to, [], [], 0
            rows.append(one.row)
            size += len(one.row)
            while next_ < len(self.decisions) and self.decisions[next_].revision <= one.event.revision:
                told.append(self.decisions[next_].row)
                size += len(told[-1])
                next_ += 1
        made.append(_frame(from_, self.to, rows, told + [one.row for one in self.decisions[next_:]]))
        return made

    def after(self, revision: int) -> Batch:
        """Return the part of this batch that a reader at `revision` has not seen."""
        if revision <= self.from_:
            return self
        start = bisect_right(self.events, revision, key=_revision)
        encoded = self._encoded[start:] if self._encoded is not None else None
        decisions = [one for one in self.decisions if one.revision > revision]
        return Batch(revision, self.to, self.events[start:], encoded, self._palette, decisions)


def _frame(from_: int, to: int, rows: list[bytes], told: list[bytes]) -> str:
    decisions = b',"decisions":[%b]' % b",".join(told) if told else b""
    return (b'{"type":"events","from":%d,"to":%d,"events":[%b]%b}' % (from_, to, b",".join(rows), decisions)).decode()


class Decision(NamedTuple):
    """A scheduling attempt in a line, as the page gets it; `revision` is the log row that came with it."""

    revision: int
    row: bytes
    pod: str

    @classmethod
    def of(cls, revision: int, envelope: Mapping[str, Any]) -> Decision:
        """Return what is told of a trace; its envelope is docs/trace.md's."""
        return cls(revision, _encode(line(revision, envelope)), envelope["pod"])


def line(revision: int, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Return `Decision` of docs/protocol.md."""
    return {
        "id": envelope["id"],
        "revision": revision,
        "simTimeMs": round(envelope["simTime"] * 1000),
        **{member: envelope[member] for member in ("pod", "uid", "attempt", "replica")},
        **envelope.get("summary", {}),
    }


def _revision(event: Event) -> int:
    return event.revision


def encode(resource: str, document: Mapping[str, Any], palette: Palette | None) -> bytes:
    """Return an object's form for the page as JSON, with the hues that it is drawn in."""
    shown = slim(resource, document)
    if palette is not None:
        shown.update(palette.told(resource, document))
    return fitted(shown)


class Encoded:
    """One event as the page gets it: `object` is the Slim document, `row` the event around it."""

    __slots__ = ("event", "object", "row")

    def __init__(self, event: Event, palette: Palette | None) -> None:
        self.event = event
        self.object = encode(event.resource, event.object, palette)
        self.row = b'{"revision":%d,"verb":%b,"simTimeMs":%d,"actor":%b,"resource":%b,"object":%b}' % (
            event.revision,
            _encode(event.verb),
            event.now_ms,
            _encode(event.actor),
            _encode(event.resource),
            self.object,
        )
