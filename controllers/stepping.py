"""Pace, holds and steps: how the clock's commands reach the schedulers and the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from controllers.commands import ClockView, Step, Verdict
from controllers.leaderelection.replica import Replica
from controllers.loop.loop import Loop, Slot
from controllers.scheduler.component import RETELL_TIMER, STEP_TIMER, VERDICT_TIMER, SchedulerComponent

STEP_EVENTS_MAX: Final = 100_000
"""Events of the present time that are run for one step; past it the step goes on with what is there."""


class Stepper:
    """Carries out steps on one loop."""

    def __init__(self, loop: Loop, replicas: Mapping[str, Slot], clock: ClockView) -> None:
        """Step this loop; `clock` tells pace and rate."""
        self.holding = False
        """Whether cycles rest at every point until they are stepped."""
        self._loop = loop
        self._replicas = replicas
        self._clock = clock
        self._open: tuple[Step, list[int]] | None = None
        """What is left of a step that waits for an answer from outside, and how far the schedulers had come."""

    @property
    def waits(self) -> bool:
        """Return whether a step waits for an answer from outside; it goes on by itself."""
        return self._open is not None and self._clock.paused

    # -- schedulers ---------------------------------------------------------------------------------------------

    def schedulers(self) -> list[tuple[Slot, SchedulerComponent]]:
        """Return the schedulers that live, with their places in the loop."""
        found = [(slot, slot.component) for slot in self._replicas.values()]
        inner = [(slot, replica.inner) for slot, replica in found if isinstance(replica, Replica)]
        return [(slot, one) for slot, one in inner if isinstance(one, SchedulerComponent)]

    def leads(self) -> bool:
        """Return whether one of them leads."""
        return any(scheduler.leading for _, scheduler in self.schedulers())

    def held(self) -> dict[str, str] | None:
        """Return the cycle that rests at a point."""
        return next((held for _, one in self.schedulers() if (held := one.held) is not None), None)

    def stayed(self) -> dict[str, str] | None:
        """Return the cycle that stays before PreFilter because time is to stand at its pod."""
        return next((one.held for _, one in self.schedulers() if one.stays), None)

    def narrated_one_in(self) -> int:
        """Return N where one cycle in N is told at the pace."""
        return max((one.narrated_one_in for _, one in self.schedulers()), default=1) if self._clock.pace else 1

    @property
    def told(self) -> tuple[int, bool, float, str]:
        """Return what schedulers are told: the pace, whether cycles rest, the rate, and the pod that is stopped."""
        clock = self._clock
        return clock.pace, self.holding, clock.rate, "" if clock.hold is None else clock.hold.pod

    def tell(self) -> None:
        """Tell the schedulers the pace, whether cycles rest, the rate, and the pod that is stopped."""
        for slot, scheduler in self.schedulers():
            scheduler.tell(*self.told)
            self._loop.plan(slot, RETELL_TIMER, self._loop.now_ms)

    def hold(self, holding: bool) -> None:
        """Let cycles rest at every point, or no longer."""
        if holding != self.holding:
            self.holding = holding
            self.tell()

    def judge(self, slot: Slot, verdict: Verdict) -> str:
        """Hand a verdict on a pod that Permit holds to the scheduler that holds it; return what came of it."""
        scheduler = next((one for place, one in self.schedulers() if place is slot), None)
        if scheduler is None:
            return "gone"
        outcome = scheduler.judge(verdict.uid, verdict.plugin, allow=verdict.allow, message=verdict.message)
        self._loop.plan(slot, VERDICT_TIMER, self._loop.now_ms)
        if self._clock.paused:
            # What was held goes on although time stands, as far as it can in no time.
            self.run_present()
        return outcome

    # -- steps --------------------------------------------------------------------------------------------------

    def step(self, step: Step) -> int:
        """Take steps; return how many could be taken."""
        self._open = None
        self.hold(step.by in ("point", "cycle"))
        if step.by == "seconds":
            self.run_until(self._loop.now_ms + step.count * 1000)
            return step.count
        return self._take(step)

    def go_on(self) -> None:
        """Take up the step that waited for an answer from outside; without one the answer waits for time to go on."""
        if self._open is not None and self._clock.paused:
            step, before = self._open
            self._open = None
            self._clock.stepped += self._take(step, before)

    def _take(self, step: Step, begun: list[int] | None = None) -> int:
        """Take steps; the first has begun already where `begun` says how far the schedulers had come before it."""
        self._single(True)
        try:
            taken = 0
            while taken < step.count:
                before = self._progress(step.by) if begun is None else begun
                went = self._step_once(step.by, before) if begun is None else self._push_on(step.by, before)
                if not went:
                    if step.by != "event" and self._loop.has_calls:
                        self._open = replace(step, count=step.count - taken), before
                    break
                taken += 1
                begun = None
            return taken
        finally:
            self._single(False)

    def _single(self, single: bool) -> None:
        """Let the loop take one event at a time, and schedulers tell of each what it changed; or no longer."""
        self._loop.single_events = single
        for _, scheduler in self.schedulers():
            scheduler.stepped = single

    def _step_once(self, by: str, before: list[int]) -> bool:
        if by == "event":
            while (due_ms := self._loop.next_event_ms()) is not None:
                if self._loop.run_tick(due_ms):
                    return True
            return False
        self.run_present()
        if not any(scheduler.can_step for _, scheduler in self.schedulers()):
            # Let people's writes be heard that were made while time stood: they are stamped just after it.
            self.run_until(self._loop.horizon_ms)
        return self._push_on(by, before)

    def _push_on(self, by: str, before: list[int]) -> bool:
        """Step the schedulers until one has come further; False: nothing is left to be done now."""
        self.run_present()
        while self._progress(by) == before:
            marks = self._progress("point") + self._progress("cycle")
            for slot, scheduler in self.schedulers():
                if scheduler.can_step:
                    self._loop.plan(slot, STEP_TIMER, self._loop.now_ms)
            self.run_present()
            if self._progress("point") + self._progress("cycle") == marks:
                return False
        return True

    def run_present(self) -> None:
        """Run what is due at the present time; held cycles stay where they rest."""
        for _ in range(STEP_EVENTS_MAX):
            due_ms = self._loop.next_event_ms()
            if due_ms is None or due_ms > self._loop.now_ms or self._loop.run_tick(self._loop.now_ms) == 0:
                return

    def run_until(self, until_ms: int) -> None:
        """Run everything up to and at a time, and stand there."""
        while self._loop.run_tick(until_ms):
            pass
        self._loop.settle_at(until_ms)

    def _progress(self, by: str) -> list[int]:
        return [one.points if by == "point" else one.cycles for _, one in self.schedulers()]
