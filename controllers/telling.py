"""What a cluster says of a configuration where no scheduler would."""

from __future__ import annotations

from controllers.commands import (
    CONFIGURATION,
    CONFIGURATIONS,
    SESSION,
    ClockView,
    generation_of,
    status_of,
)
from controllers.kit.client import Client
from controllers.log.operations import Patch
from controllers.log.store import Store
from controllers.scheduler.settings import Settings
from controllers.stepping import Stepper


class Telling:
    """Writes the status of one cluster's configuration."""

    def __init__(self, store: Store, client: Client, clock: ClockView, stepper: Stepper) -> None:
        """Tell while this clock stands, or none of these schedulers leads."""
        self._store = store
        self._client = client
        self._clock = clock
        self._stepper = stepper

    def configuration(self) -> None:
        """Say what a changed configuration means where no scheduler would: time stands, or none leads."""
        if not self._clock.paused and any(scheduler.leading for _, scheduler in self._stepper.schedulers()):
            return
        stored = self._store.get(CONFIGURATIONS, "", CONFIGURATION)
        if stored is None:
            return
        generation = generation_of(stored.object)
        observed = status_of(stored.object).get("observedGeneration")
        if observed != generation and (observed is not None or self._clock.paused):
            patch = {"status": Settings.of(stored.object.get("spec"), self._store.plugins).status(generation)}
            self._client.apply(Patch(CONFIGURATIONS, "", CONFIGURATION, patch, "merge", "status"), SESSION)
