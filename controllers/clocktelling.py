"""Telling what time it is: the one writer of the clock's status.

Readers carry time on from what is told (`controllers.log.sessiontime`), so it is told anew only when they would be
wrong; and nothing is told that is less than what they have reckoned already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.commands import CLOCK, CLOCKS, SESSION, ClockView
from controllers.kit.client import Client
from controllers.log.operations import Patch
from controllers.log.sessiontime import session_time_ms
from controllers.loop.loop import Loop
from controllers.stepping import Stepper

DRIFT_MS: Final = 300
"""The clock's status is written anew when readers would be wrong by this much, times the rate where that is above 1."""

TELL_EVERY_MS: Final = 1_000
"""... but at most this often, in real milliseconds."""


def beginning(*, paused: bool) -> Patch:
    """Return what tells of a session that nobody has taken up yet: whoever does begins so, before obeying anything."""
    return Patch(CLOCKS, "", CLOCK, {"status": {"paused": paused}}, "merge", "status")


class ClockTeller:
    """Keeps the clock's status true."""

    def __init__(self, loop: Loop, client: Client, stepper: Stepper, clock: ClockView) -> None:
        """Tell of this loop's time; nothing is told before `take_up`."""
        self._loop = loop
        self._client = client
        self._stepper = stepper
        self._clock = clock
        self.behind = False
        """Whether whoever drives cannot keep up with the rate: readers do not carry time on then."""
        self.engine: Mapping[str, Any] = {}
        """The place in the run at which the clock's last command took effect."""
        self._told: tuple[object, ...] = ()
        self._status: Mapping[str, Any] = {}

    def take_up(self, status: Mapping[str, Any]) -> None:
        """Go on from what a former owner has told."""
        self._status = status

    @property
    def told_ms(self) -> int:
        """Return the simulated time that was told last: the owner's time goes on from there."""
        return int(self._status.get("simTimeMs") or 0)

    def shown_ms(self, real_unix_ms: int) -> int:
        """Return what time it is for readers at a real moment: nothing that is told later may be less."""
        newest_ms = max(self._loop.now_ms, self._loop.ahead_ms or 0)
        return session_time_ms(self._status, newest_ms, real_unix_ms)

    def tell(
        self, generation: int, taken_step: int, real_unix_ms: int, present_ms: int | None = None, *, anew: bool = False
    ) -> None:
        """Write the clock's status, if readers of the one that stands there would be wrong.

        Args:
            generation: of the clock's spec, as obeyed.
            taken_step: the number of the steps last taken.
            real_unix_ms: the wall clock.
            present_ms: the simulated time that it is at that moment; None: that of the last event.
            anew: in any case, so that readers know that the owner lives.
        """
        clock = self._clock
        narrated = self._stepper.narrated_one_in()
        steps = (taken_step, clock.stepped, self._stepper.waits)
        stands = (clock.paused, clock.rate, str(clock.held), clock.run)
        told = (generation, *stands, clock.pace, steps, narrated, self.behind)
        present_ms = self._loop.now_ms if present_ms is None or clock.paused else present_ms
        if not anew and told == self._told and not self._has_drifted(real_unix_ms, present_ms):
            return
        if not self._told or self._told[1:3] != told[1:3]:
            clock.effective_rate = None  # what was measured belongs to the clock as it ran before
        self._told = told
        measured = clock.effective_rate if self.behind else None
        status = {
            "observedGeneration": generation,
            "engine": self.engine,
            "paused": clock.paused,
            "rate": clock.rate,
            "pace": clock.pace,
            "simTimeMs": present_ms if clock.paused else max(present_ms, self.shown_ms(real_unix_ms)),
            "anchorUnixMs": real_unix_ms,
            "carryRate": 0.0 if clock.paused or self.behind or clock.runs_on else clock.rate,
            "effectiveRate": round(clock.rate if measured is None else measured, 3),
            "stepped": clock.stepped,
            "stepId": taken_step,
            "stepping": self._stepper.waits,
            "held": clock.held,
            "narrated": {"oneIn": narrated},
        }
        if clock.run is not None:
            status["run"] = clock.run.document()
        self._status = status
        self._client.apply(Patch(CLOCKS, "", CLOCK, {"status": status}, "merge", "status"), SESSION)

    def _has_drifted(self, real_unix_ms: int, present_ms: int) -> bool:
        told, rate = self._status, self._clock.rate
        if self._clock.paused:
            return bool(told["simTimeMs"] != present_ms)
        if real_unix_ms - told["anchorUnixMs"] < TELL_EVERY_MS:
            return False
        if self.behind:
            measured = rate if self._clock.effective_rate is None else self._clock.effective_rate
            return bool(abs(measured - told["effectiveRate"]) > 0.1 * rate)
        expected_ms = session_time_ms(told, self._loop.now_ms, real_unix_ms)
        return abs(expected_ms - present_ms) > DRIFT_MS * max(1.0, rate)
