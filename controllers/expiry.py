"""When Events end: an hour after they were last written, as the API server's lease on each would have it.

A busy hour leaves eighty thousand of them, and nobody reads one for it: of a row of the log its time alone is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

from controllers.kit.recorder import EVENT_TTL_MS
from controllers.log.operations import Delete
from controllers.log.stamps import unix_ms_of
from controllers.log.store import DELETED, Event, Stored


class Expiry:
    """The Events that there are, in the order in which they were last written."""

    def __init__(self) -> None:
        self._written: dict[tuple[str, str], tuple[int, str]] = {}
        """(namespace, name) → simulated milliseconds of the last write, uid; the oldest first."""

    def listed(self, events: Iterable[Stored], epoch_ms: int, now_ms: int) -> None:
        """Take a fresh list: of when each was written it says what the Event itself does, and nothing is yet to be."""
        aged = [
            (min(last_written_ms(one.object) - epoch_ms, now_ms), one.namespace, one.name, one.uid) for one in events
        ]
        self._written = {(namespace, name): (at_ms, uid) for at_ms, namespace, name, uid in sorted(aged)}

    def take(self, row: Event) -> None:
        """Take one watch row of an Event."""
        place = (row.namespace, row.name)
        self._written.pop(place, None)
        if row.verb != DELETED:
            self._written[place] = (row.now_ms, row.uid)

    def due(self, now_ms: int) -> list[Delete]:
        """Return the removals of those whose hour is over, in order of (namespace, name)."""
        over = []
        for (namespace, name), (at_ms, uid) in self._written.items():
            if at_ms + EVENT_TTL_MS > now_ms:
                break
            over.append((namespace, name, uid))
        over.sort(key=itemgetter(0, 1))
        return [Delete("events", namespace, name, uid=uid) for namespace, name, uid in over]


def last_written_ms(event: Mapping[str, Any]) -> int:
    """Return Unix milliseconds at which an Event was last written, as far as it says so itself."""
    times = (
        (event.get("series") or {}).get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        event["metadata"].get("creationTimestamp"),
    )
    return max((unix_ms_of(time) for time in times if time), default=0)
