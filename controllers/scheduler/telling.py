"""Telling of the scheduler's configuration: the one writer of its command object's status.

The scheduler that leads says what it runs, in its own ticks. Where none would, because time stands or none leads, the
session's owner says what the configuration means that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controllers.commands import SESSION, generation_of, status_of
from controllers.kit.client import Client
from controllers.log.operations import Patch
from controllers.log.store import Store
from controllers.loop.loop import Tick
from controllers.scheduler import settings as reading
from controllers.scheduler.settings import NAME, RESOURCE, Settings
from scheduler_core.scheduler.configuration import Configuration


def tell_running(document: Mapping[str, Any], settings: Settings, configuration: Configuration, tick: Tick) -> bool:
    """Say what runs, when that or what was asked for is not what the status says; return whether it was.

    Args:
        document: the command object, as the scheduler that leads last saw it.
        settings: that it runs.
        configuration: what they were built to.
        tick: carries the row.
    """
    shown, generation = status_of(document), generation_of(document)
    if (shown.get("observedGeneration"), shown.get("hash")) != (generation, configuration.hash):
        tick.emit(_patch(reading.status_of(settings, configuration, generation)))
        return True
    return False


class StandIn:
    """Says for one cluster what a changed configuration means while no scheduler would."""

    def __init__(self, store: Store, client: Client, paused: Callable[[], bool], leads: Callable[[], bool]) -> None:
        """Tell while time stands (`paused`), or no scheduler `leads`."""
        self._store = store
        self._client = client
        self._paused = paused
        self._leads = leads

    def tell(self) -> None:
        """Say what was asked for, if it is new."""
        paused = self._paused()
        if not paused and self._leads():
            return
        stored = self._store.get(RESOURCE, "", NAME)
        if stored is None:
            return
        generation = generation_of(stored.object)
        observed = status_of(stored.object).get("observedGeneration")
        if observed != generation and (observed is not None or paused):
            asked = Settings.of(stored.object.get("spec"), self._store.plugins)
            self._client.apply(_patch(asked.status(generation)), SESSION)


def _patch(status: Mapping[str, Any]) -> Patch:
    return Patch(RESOURCE, "", NAME, {"status": dict(status)}, "merge", "status")
