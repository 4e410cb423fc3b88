"""A replica under election: one component that acts only while its elector leads.

The election runs beside the component, on the same clock and watch. Losing the lease drops the component with all its
memory and begins anew as a follower, as the real processes exit and are restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from controllers.faults.process import RELEASE_TIMER
from controllers.kit.recorder import Recorder
from controllers.leaderelection.elector import Elector, Failed, Get, Request, Response, Settings
from controllers.leaderelection.lease import LeaseLock
from controllers.log.store import Event, Stored
from controllers.loop.component import Flagged
from controllers.loop.loop import Answer, Elected, Tick
from scheduler_core.api.draw import draw
from scheduler_core.api.errors import ApiError

_TRY: Final = ("election", "try")
_RESTART: Final = ("election", "restart")

RESTART_MS: Final = 1_000
"""How long a replica that has stopped leading takes until it is back as a follower; also how often one that starts
looks whether it can reach the API server."""

RELEASED_MS: Final = 5_000
"""How long a replica that has stepped down stays away: longer than others wait between two tries (4.4 s at most)."""


class _ElectionToken:
    """Marks the results that belong to the elector; `made` tells a stale one from the present elector's."""

    __slots__ = ("made",)

    def __init__(self, made: int) -> None:
        self.made = made


class Replica:
    """`Component` that runs an election and, while it leads, another component."""

    def __init__(
        self,
        identity: str,
        lock: LeaseLock,
        make: Callable[[], Elected],
        *,
        source: str,
        settings: Callable[[], Settings] = Settings,
    ) -> None:
        """Begin as a follower.

        Args:
            identity: written into the Lease.
            lock: the Lease that all replicas of this component share.
            make: makes the component that acts; called again whenever leadership was lost.
            source: the component that events name.
            settings: returns the election's timing as of its beginning.
        """
        self.identity = identity
        self.lock = lock
        self.inner = make()
        self.elector: Elector | None = None
        self.last_branch = ""
        self.restarts = 0
        self._make = make
        self._settings = settings
        self._recorder = Recorder(source, instance=identity)
        self._made = 0

    @property
    def resources(self) -> frozenset[str]:
        """Return what the component watches; the elector reads its lock itself."""
        return self.inner.resources

    @property
    def leading(self) -> bool:
        """Return whether this replica believes that it leads."""
        return self.elector is not None and self.elector.leading

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Start the component's caches and the election; both wait until the API server can be reached."""
        if not tick.reachable:
            tick.plan(_RESTART, tick.now_ms + RESTART_MS)
            return
        self.inner.start(tick)
        self._begin(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Hand rows to the component; between exit and restart nobody is there to take them."""
        if self.elector is not None:
            self.inner.observe(rows, tick)

    def observe_gone(self, tick: Tick) -> None:
        """Hand the 410 to the component."""
        if self.elector is not None:
            self.inner.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """Take the elector's results; hand the others to the component."""
        others: list[Answer] = []
        for answer in answers:
            if isinstance(answer.token, _ElectionToken):
                if answer.token.made == self._made and self.elector is not None:
                    self.elector.epoch_ms = tick.epoch_ms
                    self._carry_on(self.elector.answer(tick.now_ms, self.lock.written(answer.result)), tick)
            else:
                others.append(answer)
        if others:
            self.inner.settle(others, tick)

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """Try, restart, step down, or hand the timer to the component."""
        if timer == _TRY:
            if self.elector is not None:
                self.elector.epoch_ms = tick.epoch_ms
                self._carry_on(self.elector.poll(tick.now_ms), tick)
        elif timer == _RESTART:
            self.start(tick)
        elif timer == RELEASE_TIMER:
            self._release(tick)
        else:
            self.inner.fire(timer, tick)

    def flags_changed(self, tick: Tick) -> None:
        """Hand it to the component, where that plans by flags."""
        inner: object = self.inner
        if isinstance(inner, Flagged):
            inner.flags_changed(tick)

    # -- for who looks at it ------------------------------------------------------------------------------------

    def lease_view(self) -> dict[str, Any] | None:
        """Return what this replica has observed of its lease, on its own clock."""
        elector = self.elector
        if elector is None or elector.observed is None:
            return None
        return {
            "holder": elector.observed.holder,
            "observedAtMs": elector.observed_ms,
            "renewedAtMs": elector.renewed_ms,
            "durationMs": elector.observed.lease_duration_seconds * 1000,
            "transitions": elector.observed.transitions,
        }

    # -- the election -------------------------------------------------------------------------------------------

    def _begin(self, tick: Tick) -> None:
        seed, key = tick.seed, f"{self.lock.describe()}/{self.identity}/{tick.now_ms}"

        def jitter(attempt: int, below: int) -> int:
            return draw(seed, "election-jitter", key, attempt, below=below)

        self._made += 1
        self.elector = Elector(self.identity, jitter, self._settings(), epoch_ms=tick.epoch_ms)
        self._carry_on(self.elector.poll(tick.now_ms), tick)

    def _carry_on(self, request: Request | None, tick: Tick) -> None:
        elector = self.elector
        assert elector is not None, "an election that has not begun was carried on"
        while isinstance(request, Get):
            request = elector.answer(tick.now_ms, self._looked_up(tick))
        if request is not None:
            tick.emit(self.lock.write(request), _ElectionToken(self._made))
        self.last_branch = elector.branch or self.last_branch
        self._announce(elector, tick)
        at_ms = elector.next_ms()
        if self.elector is elector and at_ms is not None:
            tick.plan(_TRY, at_ms)

    def _looked_up(self, tick: Tick) -> Response:
        try:
            return self.lock.read(self._read(tick))
        except ApiError:
            return Failed()

    def _read(self, tick: Tick) -> Stored | None:
        return tick.get("leases.coordination.k8s.io", self.lock.namespace, self.lock.name)

    def _about(self, tick: Tick) -> dict[str, Any]:
        try:
            stored = self._read(tick)
        except ApiError:
            stored = None
        return self.lock.about(stored.object if stored is not None else None)

    def _release(self, tick: Tick) -> None:
        """Step down on request: give the lease up, exit, and be back once another has had time to take it."""
        elector = self.elector
        if elector is None or not elector.leading:
            return
        request = elector.cancel(tick.now_ms)
        if request is not None:
            tick.emit(self.lock.write(request), _ElectionToken(self._made))
        self.last_branch = elector.branch or self.last_branch
        self._announce(elector, tick)
        tick.plan(_RESTART, tick.now_ms + RELEASED_MS)

    def _announce(self, elector: Elector, tick: Tick) -> None:
        notices, elector.notices = elector.notices, []
        for notice in notices:
            if notice == "new leader":
                continue
            self._recorder.event(tick, self._about(tick), "Lease", "LeaderElection", f"{self.identity} {notice}")
            if notice == "became leader":
                self.inner.lead(tick)
            elif notice == "stopped leading":
                self._exit(tick)

    def _exit(self, tick: Tick) -> None:
        """Lose everything, and come back as a follower a little later."""
        self.elector = None
        self.restarts += 1
        tick.forget_all()
        self.inner = self._make()
        tick.plan(_RESTART, tick.now_ms + RESTART_MS)
