"""One owned session: its cluster, and simulated time against the wall clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import ceil
from typing import Final

import msgspec
from prometheus_client import Counter

from clustersim import feed
from clustersim.classroom.keys import keys_of
from clustersim.runtime import realtime
from clustersim.runtime.extenders import Caller
from clustersim.store import open_store
from controllers.clocktelling import DRIFT_MS
from controllers.cluster import Cluster
from controllers.lesson.driving import ScriptDriver
from controllers.log.sessiontime import carry_ms
from scheduler_core.kernels.collecting import pass_over

FAILURES: Final = Counter("clustersim_component_failures_total", "Components that raised", ["component"])

logger = logging.getLogger(__name__)

SLICE_MS: Final = 20
"""How long one session runs before the others of this worker have their turn."""

BURST_EVENTS: Final = 64
"""Events in one slice from which on what they have made is passed over by looks for reference cycles."""

BEHIND_MS: Final = 500
"""Real milliseconds that simulated time may lag; past it the clock slips, and `effectiveRate` shows it."""

OWED_MS_MAX: Final = 10_000
"""Simulated milliseconds that were slipped and are still caught up with; what is more is lost."""

CATCH_UP: Final = 0.1
"""How much faster time goes while it catches up."""

CATCH_UP_MS_MAX: Final = 100
"""Simulated milliseconds that it catches up with at once."""

CAUGHT_UP_MS: Final = 1_000
"""Real milliseconds for which readers at least are told that the owner is behind, once it was."""

RATE_WINDOW_MS: Final = 2_000
"""Real milliseconds over which `effectiveRate` is measured."""

NEWS_OF_CARRY: Final = 0.8
"""The part of `sessiontime.CARRY_MS` after which an owner that wrote nothing says that it lives."""

RUN_TICKS_MAX: Final = 1_000
"""Ticks of a run in one slice at most: its end is looked for between slices, too."""

RUN_LOOK_MS: Final = 100
"""Real milliseconds after which a run in which nothing is due is looked at again."""

NEVER_MS: Final = 1 << 62


class Driver:
    """Runs a session's cluster while this worker owns it."""

    def __init__(self, session_id: int, epoch: int, wake: Callable[[], None]) -> None:
        """Take the session up; `wake`, from any thread, makes this worker look at its sessions at once."""
        self.session_id = session_id
        self.epoch = epoch
        self.store = open_store(session_id, owner=True)
        self._extenders = Caller(wake)
        self.cluster = Cluster(
            self.store,
            fence=epoch,
            on_failure=self._component_failed,
            timer=realtime.timer_ns,
            call=self._extenders.start,
            keys=keys_of(session_id),
        )
        self.cluster.start()
        self._script = ScriptDriver(self.cluster, epoch)
        self.is_read = False
        """Whether somebody reads this session's log, so that they are told when it grows."""
        self._told_revision = 0
        self._hinted = True
        self._obeyed_foreign = 0
        self._anchor_sim_ms = max(self.cluster.now_ms, self.cluster.teller.shown_ms(realtime.unix_ms()))
        self._anchor_real_ms = realtime.monotonic_ms()
        self._anchored: tuple[bool, float] = (self.cluster.clock.paused, self.cluster.clock.rate)
        self._measured_from = (self._anchor_real_ms, self._anchor_sim_ms)
        self._behind_since_ms = 0
        self._owed_ms = self._late_ms() if epoch == 1 else 0
        self._untold_ms = 0
        self._caught_up_ms = self._anchor_real_ms
        self._news_ms = self.cluster.now_ms
        self.wake_at_ms = 0
        """When this session wants to run next, on the monotonic clock."""
        if not self.cluster.clock.paused:
            # Before any row is written: what a former owner told, long ago, would carry readers on with each.
            self.cluster.tell_clock(realtime.unix_ms(), self._anchor_sim_ms)
        self._tell()

    def take_up(self) -> None:
        """Let all components list what is there; they do so later where the clock is paused."""
        self.cluster.run_starts()
        self._tell()

    def hint(self, revision: int) -> None:
        """Note that the log has reached `revision`; an echo of own writes is none."""
        if revision > self.store.seen_revision:
            self._hinted = True
            self.wake_at_ms = 0

    def look(self) -> None:
        """Have the log looked at, whether or not there is news."""
        self._hinted = True
        self.wake_at_ms = 0

    def run_slice(self) -> None:
        """Take people's writes, run what is due, obey commands; at most about SLICE_MS."""
        began_ms, ran = realtime.monotonic_ms(), self.cluster.events_run
        hinted, self._hinted = self._hinted, False
        if hinted:
            self.cluster.pull()
        self._take_answers(began_ms)
        if not self.cluster.clock.paused:
            self._run(began_ms)
        # Own commits take foreign rows along, whose hints say nothing new then.
        foreign = self.store.foreign_revision
        asked = hinted or foreign != self._obeyed_foreign
        self._say(asked)
        self._perform(asked, began_ms)
        if self.cluster.events_run - ran >= BURST_EVENTS:
            pass_over()
        self._hinted = self._hinted or self.store.foreign_revision != foreign
        self._obeyed_foreign = foreign
        self._tell()
        self.wake_at_ms = self._next_ms()

    def _run(self, began_ms: int) -> None:
        """Run what is due, until the slice is over; slip when that is not enough."""
        cluster, teller = self.cluster, self.cluster.teller
        if cluster.clock.runs_on:
            self._run_on(began_ms)
            return
        self._catch_up(began_ms)
        while cluster.run_tick(self._target(realtime.monotonic_ms())):
            if realtime.monotonic_ms() - began_ms >= SLICE_MS:
                break
        now_ms = realtime.monotonic_ms()
        due_ms = cluster.next_event_ms()
        lag_ms = 0.0 if due_ms is None else (self._target(now_ms) - due_ms) / cluster.clock.rate
        if due_ms is not None and lag_ms > BEHIND_MS:
            # A burst must not be followed by a rush: what is more than this is caught up with by and by.
            slipped_ms = self._target(now_ms)
            self._anchor_sim_ms, self._anchor_real_ms = max(due_ms, cluster.now_ms), now_ms
            self._owed_ms = min(OWED_MS_MAX, self._owed_ms + slipped_ms - self._anchor_sim_ms)
            self._behind_since_ms = now_ms
            teller.behind = True
        elif teller.behind and lag_ms <= 0 and now_ms - self._behind_since_ms > CAUGHT_UP_MS:
            teller.behind = False
        self._measure(now_ms)

    def _catch_up(self, now_ms: int) -> None:
        """Let time go a little faster while it owes something, so that at rate 1 it stays the wall clock's.

        Clients compare stamps of the session with their own clock: whether a pod has been ready for ten seconds, say.
        """
        passed_ms = now_ms - self._caught_up_ms
        given_ms = min(self._owed_ms, int(passed_ms * CATCH_UP), CATCH_UP_MS_MAX)
        if self.cluster.clock.rate != 1 or self.cluster.teller.behind or not self._owed_ms:
            self._caught_up_ms = now_ms
        elif given_ms > 0:
            self._anchor_sim_ms += given_ms
            self._owed_ms -= given_ms
            self._untold_ms += given_ms
            self._caught_up_ms = now_ms

    def _perform(self, asked: bool, began_ms: int) -> None:
        """Go on with the script of the session's lesson; what it asks for is obeyed before its next action."""
        script = self._script
        if asked:
            script.obey()
        while script.busy and script.go_on():
            self.cluster.pull()
            self._say(True)
            if realtime.monotonic_ms() - began_ms >= SLICE_MS:
                break

    def _run_on(self, began_ms: int) -> None:
        """Run what comes next without waiting for its time, until the slice is over or what the run is for is true."""
        cluster = self.cluster
        for _ in range(RUN_TICKS_MAX):
            due_ms = cluster.next_event_ms()
            if due_ms is None or not cluster.clock.runs_on or not cluster.run_tick(due_ms):
                break
            if realtime.monotonic_ms() - began_ms >= SLICE_MS:
                break
        cluster.end_run(realtime.unix_ms())
        self._anchor_sim_ms, self._anchor_real_ms = cluster.now_ms, realtime.monotonic_ms()
        self._measured_from = (self._anchor_real_ms, self._anchor_sim_ms)

    def _say(self, asked: bool) -> None:
        """Obey what was asked for, if anything may have been, and say what time it is."""
        cluster = self.cluster
        now_ms, unix_ms = realtime.monotonic_ms(), realtime.unix_ms()
        present_ms = self._target(now_ms)
        if asked:
            cluster.obey(unix_ms, present_ms)
        else:
            news_at_ms = self._news_ms + NEWS_OF_CARRY * carry_ms(cluster.clock.rate)
            moved = self._untold_ms > (DRIFT_MS if self._owed_ms else 0)
            self._untold_ms = 0 if moved else self._untold_ms
            anew = not cluster.clock.paused and not cluster.teller.behind and (moved or present_ms >= news_at_ms)
            cluster.tell_clock(unix_ms, present_ms, anew=anew)
        self._anchor(now_ms)

    def _next_ms(self) -> int:
        """Return when there is something to do: an event is due, or readers want to hear that this owner lives."""
        if self._hinted or self._extenders.has_answers or self._script.can_go_on:
            return 0
        if self.cluster.clock.paused:
            return NEVER_MS
        if self.cluster.clock.runs_on:
            # With nothing to do at all a run still ends when its real time is over.
            return 0 if self.cluster.next_event_ms() is not None else realtime.monotonic_ms() + RUN_LOOK_MS
        due_ms = self.cluster.next_event_ms()
        at_ms = self._news_ms + NEWS_OF_CARRY * carry_ms(self.cluster.clock.rate)
        if due_ms is not None and due_ms < at_ms:
            at_ms = due_ms
        return self._anchor_real_ms + ceil((at_ms - self._anchor_sim_ms) / self.cluster.clock.rate)

    def metrics(self) -> dict[str, str]:
        """Return what each live scheduler has recorded, in Prometheus' text format, by identity."""
        return {
            identity: "".join(f"{line}\n" for line in one.lines()) for identity, one in self.cluster.metrics().items()
        }

    def panels(self) -> dict[str, str]:
        """Return what the controllers of each live manager are at, as a JSON list, by identity."""
        panels = self.cluster.panels()
        return {identity: msgspec.json.encode(panels[identity]).decode() for identity in panels}

    def insides(self) -> dict[str, str]:
        """Return what each live replica is at, as a JSON object, by identity."""
        return {identity: msgspec.json.encode(told).decode() for identity, told in self.cluster.insides().items()}

    def watches(self) -> dict[str, str]:
        """Return what each component watches, as one JSON list."""
        return {"": msgspec.json.encode(self.cluster.watches()).decode()}

    def answers_are_there(self) -> None:
        """Have the answers of extenders taken, if there are any."""
        if self._extenders.has_answers:
            self.wake_at_ms = 0

    def _take_answers(self, now_ms: int) -> None:
        """Let the answers of extenders come in, at the simulated time that it is by now."""
        if not self._extenders.has_answers:
            return
        if not self.cluster.clock.paused:
            self.cluster.advance(self._target(now_ms), max_events=1)
        for number, record in self._extenders.taken():
            self.cluster.outside.answer(number, record)
        if self.cluster.clock.paused:
            # A step may have come to its point: the clock's status says where cycles rest now.
            self.cluster.obey(realtime.unix_ms())

    def close(self) -> None:
        """Let the session go: what is still being asked outside is for nobody."""
        self._extenders.close()

    def _component_failed(self, component: str, error: Exception) -> None:
        """Keep a component's failure in the log; the cluster starts it again, as an operator's restart policy would."""
        FAILURES.labels(component=component.partition("/")[0]).inc()
        logger.error("%s failed and is started again", component, exc_info=error, extra={"session": self.session_id})

    def _late_ms(self) -> int:
        """Return how long a new session's time stood until its first owner, as far as that is caught up with."""
        late_ms = realtime.unix_ms() - self.store.epoch_ms - self._anchor_sim_ms
        return late_ms if 0 < late_ms <= OWED_MS_MAX else 0

    def _target(self, now_ms: int) -> int:
        if self.cluster.clock.paused or self.cluster.clock.runs_on:
            return self.cluster.now_ms
        return self._anchor_sim_ms + int((now_ms - self._anchor_real_ms) * self.cluster.clock.rate)

    def _anchor(self, now_ms: int) -> None:
        """Begin to count from here when the clock was stopped, started or given another rate; never before what was
        told: readers go on from there.
        """
        clock = self.cluster.clock
        if self._anchored != (clock.paused, clock.rate) or clock.paused:
            paused, rate = self._anchored
            present_ms = self._anchor_sim_ms + int((now_ms - self._anchor_real_ms) * rate)
            self._anchored = (clock.paused, clock.rate)
            self._anchor_sim_ms = (
                self.cluster.now_ms if paused or clock.paused else max(self.cluster.now_ms, present_ms)
            )
            self._anchor_real_ms = now_ms
            self._measured_from = (now_ms, self._anchor_sim_ms)
            self._owed_ms = 0
        ahead_ms = self.cluster.teller.told_ms - self._target(now_ms)
        if ahead_ms > 0 and not clock.paused and not self.cluster.teller.behind:
            self._anchor_sim_ms += ahead_ms

    def _measure(self, now_ms: int) -> None:
        real_ms, sim_ms = self._measured_from
        if now_ms - real_ms >= RATE_WINDOW_MS:
            present_ms = self._target(now_ms)
            self.cluster.clock.effective_rate = (present_ms - sim_ms) / (now_ms - real_ms)
            self._measured_from = (now_ms, present_ms)

    def _tell(self) -> None:
        """Wake the readers of the log when it has grown."""
        revision = self.store.seen_revision
        if revision > self._told_revision:
            self._told_revision = revision
            self._news_ms = max(self.cluster.now_ms, self.cluster.teller.told_ms)
            if self.is_read:
                feed.wake(self.session_id, revision)
