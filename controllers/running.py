"""Runs: time goes as fast as it can until something is true, then it stands (`run` in the clock's spec).

Whoever drives runs ticks without waiting while `ClockView.run` is under way; after each tick it is asked whether the
predicate holds. A run ends by that, by real time, by a pod at which time is to stand, or because somebody stopped time.
"""

from __future__ import annotations

from controllers.commands import ClockView, RunAsked, RunTold
from controllers.log.store import Store
from controllers.loop.loop import Loop
from controllers.predicates import ExpressionError, Moment, Predicate, View


class Running:
    """The run under way, if any, of one session."""

    def __init__(self, store: Store, loop: Loop, clock: ClockView) -> None:
        """Nothing runs yet.

        Args:
            store: what predicates look at.
            loop: whose time is meant.
            clock: where the run is told, and stopped.
        """
        self._store = store
        self._loop = loop
        self._clock = clock
        self._until: Predicate | None = None
        self._asked: RunAsked | None = None
        self._deadline_unix_ms = 0

    @property
    def is_on(self) -> bool:
        """Return whether a run is under way."""
        return self._asked is not None

    def begin(self, asked: RunAsked, real_unix_ms: int) -> None:
        """Begin a run; the one before it is over."""
        self._asked = asked
        try:
            self._until = Predicate.compile(asked.until)
        except ExpressionError as wrong:
            self._end("failed", str(wrong))
            return
        self._deadline_unix_ms = real_unix_ms + round(asked.seconds * 1000)
        self._clock.run = RunTold(asked.id, "running", "", self._loop.now_ms)
        self._clock.paused = False
        self.look()

    def look(self) -> None:
        """End the run if what it waits for is true now, or if time stands already."""
        if self._asked is None or self._until is None:
            return
        rests = self._clock.held or {"pod": "", "point": ""}
        held = rests["pod"]
        moment = Moment(self._loop.now_ms, self._asked.began_ms, held, rests["point"], self._asked.waits_ms)
        if self._until.holds(View(self._store, moment)):
            self._end("reached", "")
        elif self._clock.paused:
            self._end("failed", f"time stands at {held}" if held else "time was stopped")

    def expire(self, real_unix_ms: int) -> None:
        """End the run if its real time is over."""
        if self._asked is not None and real_unix_ms >= self._deadline_unix_ms:
            self._end("timeout", f"not reached within {self._asked.seconds:g} s")

    def stop(self, why: str) -> None:
        """End the run, if one is under way, whether or not it has come to its end."""
        if self._asked is not None:
            self._end("failed", why)

    def _end(self, state: str, message: str) -> None:
        assert self._asked is not None
        self._clock.run = RunTold(self._asked.id, state, message, self._loop.now_ms)
        self._clock.paused = True
        self._asked = self._until = None
