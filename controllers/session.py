"""The session's own component: replicas' statuses as their elections move, and the end of old Events.

Commands are not taken here but by `controllers.obeying`: they must be obeyed while time stands, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from controllers.commands import REPLICAS, SESSION
from controllers.expiry import Expiry
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from controllers.replicatelling import ReplicaTeller
from scheduler_core.api.errors import ApiError

EVENTS: Final = "events"

SWEEP_MS: Final = 60_000
"""How often Events that have outlived their hour are looked for."""

SWEEP_MAX: Final = 200
"""Events removed in one round; what is left goes in rounds that follow at once."""

_SWEEP: Final = "sweep"


class SessionComponent:
    """Watches replicas and Events."""

    resources = frozenset({REPLICAS, EVENTS})

    def __init__(self, teller: ReplicaTeller) -> None:
        """Let this one tell of replicas."""
        self._teller = teller
        self._informers = Informers([REPLICAS], identity=SESSION)
        self._expiry = Expiry()
        self._events_listed = False

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Say how every replica is."""
        self._informers.start(tick)
        self._list_events(tick)
        for document in self._informers[REPLICAS].all():
            self.show_replica(document["metadata"]["name"], tick)
        tick.plan(_SWEEP, tick.now_ms + SWEEP_MS)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        replicas = []
        for row in rows:
            if row.resource == EVENTS:
                self._expiry.take(row)
            else:
                replicas.append(row)
        self._informers.observe(replicas)

    def observe_gone(self, tick: Tick) -> None:
        """List again: replicas after a wait, Events when their ends are looked for next."""
        self._events_listed = False
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A status that was refused is not written again: the next change writes it anew."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """List again, or remove old Events."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
        else:
            if not self._events_listed:
                self._list_events(tick)
            due = self._expiry.due(tick.now_ms)
            for operation in due[:SWEEP_MAX]:
                tick.emit(operation)
            tick.plan(_SWEEP, tick.now_ms + (SWEEP_MS if len(due) <= SWEEP_MAX else 1))

    def _list_events(self, tick: Tick) -> None:
        try:
            events, _ = tick.list(EVENTS)
        except ApiError:
            return
        self._expiry.listed(events, tick.epoch_ms, tick.now_ms)
        self._events_listed = True

    # -- replicas' statuses -------------------------------------------------------------------------------------

    def show_replica(self, identity: str, tick: Tick) -> None:
        """Let a replica's status be written, if it has changed."""
        document = self._informers[REPLICAS].get("", identity)
        if document is not None:
            self._teller.show(document, tick)
