"""What a cluster says of its clock, the one writer of that status; and of a configuration where no scheduler would."""

from __future__ import annotations

from typing import Any, Final

from controllers.commands import (
    CLOCK,
    CLOCKS,
    CONFIGURATION,
    CONFIGURATIONS,
    ClockView,
    generation_of,
    status_of,
)
from controllers.kit.client import Client
from controllers.log.operations import Patch
from controllers.log.store import Store
from controllers.scheduler.settings import Settings
from controllers.session import NAME
from controllers.stepping import Stepper

ANCHOR_DRIFT_MS: Final = 300
"""The clock's status is written anew when real and simulated time have come apart this far since."""

ANCHOR_EVERY_MS: Final = 1_000
"""... but at most this often, in real milliseconds."""


class Telling:
    """Writes the statuses of one cluster's clock and configuration."""

    def __init__(self, store: Store, client: Client, clock: ClockView, stepper: Stepper) -> None:
        """Tell of this clock and these steps."""
        self._store = store
        self._client = client
        self._clock = clock
        self._stepper = stepper
        self._told: tuple[object, ...] = ()
        self._anchor = (0, 0)
        self._rate = 1.0

    def clock(self, generation: int, taken_step: int, obeyed_at: dict[str, Any], now_ms: int, unix_ms: int) -> None:
        """Write the clock's status, if anything that it says has changed or time has drifted from it.

        Args:
            generation: of the clock's spec, as last obeyed.
            taken_step: id of the last steps that were taken.
            obeyed_at: the place in the loop's run at which that was.
            now_ms: simulated time.
            unix_ms: the wall clock, which the status anchors simulated time to.
        """
        clock = self._clock
        narrated = self._stepper.narrated_one_in()
        steps = (taken_step, clock.stepped, self._stepper.waits)
        told = (generation, clock.paused, clock.rate, clock.pace, steps, str(clock.held), narrated)
        if told == self._told and not self._has_drifted(now_ms, unix_ms):
            return
        if not self._told or self._told[1:3] != told[1:3]:
            clock.effective_rate = None  # what was measured belongs to the clock as it ran before
        self._told, self._anchor = told, (now_ms, unix_ms)
        self._rate = round(clock.effective_rate if clock.effective_rate is not None else clock.rate, 3)
        status = {
            "observedGeneration": generation,
            "engine": obeyed_at,
            "paused": clock.paused,
            "rate": clock.rate,
            "pace": clock.pace,
            "simTimeMs": now_ms,
            "anchorUnixMs": unix_ms,
            "effectiveRate": self._rate,
            "stepped": clock.stepped,
            "stepId": taken_step,
            "stepping": self._stepper.waits,
            "held": clock.held,
            "narrated": {"oneIn": narrated},
        }
        self._client.apply(Patch(CLOCKS, "", CLOCK, {"status": status}, "merge", "status"), NAME)

    def _has_drifted(self, now_ms: int, unix_ms: int) -> bool:
        sim_ms, anchor_ms = self._anchor
        if self._clock.paused:
            return sim_ms != now_ms
        if unix_ms - anchor_ms < ANCHOR_EVERY_MS:
            return False
        # Readers reckon with the rate that they were told; so a lag that is over must be told as well.
        expected_ms = sim_ms + (unix_ms - anchor_ms) * self._rate
        return abs(expected_ms - now_ms) > ANCHOR_DRIFT_MS * max(1.0, self._clock.rate)

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
            self._client.apply(Patch(CONFIGURATIONS, "", CONFIGURATION, patch, "merge", "status"), NAME)
