"""The session's own component: replicas' statuses as their elections move, and the end of old Events.

Commands are not taken here but by `controllers.obeying`: they must be obeyed while time stands, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from controllers.commands import REPLICAS, SESSION
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.kit.recorder import sweep, trimmed
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from controllers.replicatelling import ReplicaTeller

SWEEP_MS: Final = 60_000
"""How often Events that have outlived their hour are looked for."""

SWEEP_MAX: Final = 200
"""Events removed in one round; what is left goes in rounds that follow at once."""

_SWEEP: Final = "sweep"


class SessionComponent:
    """Watches replicas and Events."""

    resources = frozenset({REPLICAS, "events"})

    def __init__(self, teller: ReplicaTeller) -> None:
        """Let this one tell of replicas."""
        self._teller = teller
        self._informers = Informers(self.resources, identity=SESSION, trims={"events": trimmed})

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Say how every replica is."""
        self._informers.start(tick)
        for document in self._informers[REPLICAS].all():
            self.show_replica(document["metadata"]["name"], tick)
        tick.plan(_SWEEP, tick.now_ms + SWEEP_MS)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        self._informers.observe(rows)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A status that was refused is not written again: the next change writes it anew."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """List again, or remove old Events."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
        else:
            due = sweep(self._informers["events"].each(), tick.epoch_ms + tick.now_ms)
            for operation in due[:SWEEP_MAX]:
                tick.emit(operation)
            tick.plan(_SWEEP, tick.now_ms + (SWEEP_MS if len(due) <= SWEEP_MAX else 1))

    # -- replicas' statuses -------------------------------------------------------------------------------------

    def show_replica(self, identity: str, tick: Tick) -> None:
        """Let a replica's status be written, if it has changed."""
        document = self._informers[REPLICAS].get("", identity)
        if document is not None:
            self._teller.show(document, tick)
