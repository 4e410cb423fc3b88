"""One owned session: its cluster, and simulated time against the wall clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from prometheus_client import Counter

from clustersim import feed
from clustersim.runtime import realtime
from clustersim.runtime.extenders import Caller
from clustersim.store import open_store
from controllers.cluster import Cluster

FAILURES: Final = Counter("clustersim_component_failures_total", "Components that raised", ["component"])

logger = logging.getLogger(__name__)

PULL_EVERY_MS: Final = 100
"""How often the log is looked at for people's writes when no hint comes; also how often the horizon moves on."""

SLICE_MS: Final = 20
"""How long one session runs before the others of this worker have their turn."""

BATCH_EVENTS: Final = 1
"""Events after which the wall clock is looked at; a tick of the loop is always run to its end."""

BEHIND_MS: Final = 500
"""Real milliseconds that simulated time may lag; past it the clock slips, and `effectiveRate` shows it."""

RATE_WINDOW_MS: Final = 2_000
"""Real milliseconds over which `effectiveRate` is measured."""


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
        )
        self.cluster.start()
        self._told_revision = 0
        self._pull_at_ms = 0
        self._hinted = True
        self._anchor_sim_ms = self.cluster.now_ms
        self._anchor_real_ms = realtime.monotonic_ms()
        self._anchored: tuple[bool, float] = (True, 1.0)
        self._measured_from = (self._anchor_real_ms, self._anchor_sim_ms)
        self._tell()

    def hint(self, revision: int) -> None:
        """Note that the log has reached `revision`; an echo of own writes is none."""
        if revision > self.store.seen_revision:
            self._hinted = True

    def wake_at_ms(self) -> int:
        """Return when this session wants to run next, on the monotonic clock."""
        if self._hinted or self._extenders.has_answers:
            return 0
        clock = self.cluster.clock
        due_ms = self.cluster.next_event_ms()
        if clock.paused or due_ms is None:
            return self._pull_at_ms
        real_ms = self._anchor_real_ms + int((due_ms - self._anchor_sim_ms) / clock.rate)
        return min(self._pull_at_ms, max(real_ms, 0))

    def run_slice(self) -> None:
        """Take people's writes, obey commands, and run what is due; at most about SLICE_MS."""
        began_ms = realtime.monotonic_ms()
        if self._hinted or began_ms >= self._pull_at_ms:
            self._hinted = False
            self._pull_at_ms = began_ms + PULL_EVERY_MS
            self.cluster.pull()
            self.cluster.obey(realtime.unix_ms())
            self._tell()
        self._anchor(began_ms)
        self._take_answers()
        if self.cluster.clock.paused:
            return
        while True:
            now_ms = realtime.monotonic_ms()
            target_ms = self._target(now_ms)
            ran = self.cluster.advance(target_ms, max_events=BATCH_EVENTS)
            self._tell()
            if ran < BATCH_EVENTS and self.cluster.now_ms >= target_ms:
                break
            if realtime.monotonic_ms() - began_ms >= SLICE_MS:
                self._slip()
                break
        self._measure()

    def metrics(self) -> dict[str, str]:
        """Return what each live scheduler has recorded, in Prometheus' text format, by identity."""
        return {
            identity: "".join(f"{line}\n" for line in one.lines()) for identity, one in self.cluster.metrics().items()
        }

    def _take_answers(self) -> None:
        """Let the answers of extenders come in, at the simulated time that it is by now."""
        if not self._extenders.has_answers:
            return
        if not self.cluster.clock.paused:
            self.cluster.advance(self._target(realtime.monotonic_ms()), max_events=BATCH_EVENTS)
        for number, record in self._extenders.taken():
            self.cluster.outside.answer(number, record)
        if self.cluster.clock.paused:
            # A step may have come to its point: the clock's status says where cycles rest now.
            self.cluster.obey(realtime.unix_ms())
        self._tell()

    def close(self) -> None:
        """Let the session go: what is still being asked outside is for nobody."""
        self._extenders.close()

    def _component_failed(self, component: str, error: Exception) -> None:
        """Keep a component's failure in the log; the cluster starts it again, as an operator's restart policy would."""
        FAILURES.labels(component=component.partition("/")[0]).inc()
        logger.error("%s failed and is started again", component, exc_info=error, extra={"session": self.session_id})

    def _target(self, now_ms: int) -> int:
        return self._anchor_sim_ms + int((now_ms - self._anchor_real_ms) * self.cluster.clock.rate)

    def _anchor(self, now_ms: int) -> None:
        """Begin to count from here when the clock was stopped, started or given another rate."""
        clock = self.cluster.clock
        if self._anchored != (clock.paused, clock.rate) or clock.paused:
            self._anchored = (clock.paused, clock.rate)
            self._anchor_sim_ms, self._anchor_real_ms = self.cluster.now_ms, now_ms
            self._measured_from = (now_ms, self.cluster.now_ms)

    def _slip(self) -> None:
        """Give up catching up with more than BEHIND_MS: a burst must not be followed by a rush."""
        now_ms = realtime.monotonic_ms()
        if (self._target(now_ms) - self.cluster.now_ms) / self.cluster.clock.rate > BEHIND_MS:
            self._anchor_sim_ms, self._anchor_real_ms = self.cluster.now_ms, now_ms

    def _measure(self) -> None:
        real_ms, sim_ms = self._measured_from
        now_ms = realtime.monotonic_ms()
        if now_ms - real_ms >= RATE_WINDOW_MS:
            self.cluster.clock.effective_rate = (self.cluster.now_ms - sim_ms) / (now_ms - real_ms)
            self._measured_from = (now_ms, self.cluster.now_ms)

    def _tell(self) -> None:
        """Wake the readers of the log when it has grown."""
        revision = self.store.seen_revision
        if revision > self._told_revision:
            self._told_revision = revision
            feed.wake(self.session_id, revision)
