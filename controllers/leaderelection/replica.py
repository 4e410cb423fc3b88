"""A replica under election: one component that acts only while its elector leads.

The election runs beside the component, on the same clock and watch. Losing the lease drops the component with all its
memory and begins anew as a follower, as the real processes exit and are restarted. Without an election
(`--leader-elect=false`) the component acts at once.

Source: client-go `tools/leaderelection`, `cmd/kube-scheduler/app/server.go` (callbacks and exit codes).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.faults.process import RELEASE_TIMER
from controllers.kit.recorder import Recorder
from controllers.leaderelection.elector import Elector, Failed, Get, Notice, Request, Response, Settings
from controllers.leaderelection.lock import Lock, about, new_lock
from controllers.leaderelection.standing import Name, Standing
from controllers.log.store import Event
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


@dataclass(frozen=True, slots=True)
class Configuration:
    """LeaderElectionConfiguration: whether replicas of a component elect, by which lock, and how it is timed."""

    elect: bool = True
    settings: Settings = field(default_factory=Settings)
    resource_lock: str = "leases"
    resource_namespace: str = "kube-system"
    resource_name: str = ""


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
        make: Callable[[], Elected],
        *,
        source: str,
        configuration: Callable[[], Configuration],
        standing: Standing | None = None,
    ) -> None:
        """Begin as a follower.

        Args:
            identity: written into the lock.
            make: makes the component that acts; called again whenever leadership was lost.
            source: the component that events name.
            configuration: returns how it elects; read when the process starts.
            standing: what is known of the process from outside; it outlives this value.
        """
        self.identity = identity
        self.inner = make()
        self.elector: Elector | None = None
        """None: the process is away, or runs without an election."""
        self.last_branch = ""
        self.standing = standing or Standing()
        self.started_ms: int | None = None
        """When the process began, on its own clock; None: it has not reached the API server yet."""
        self.led_ms: int | None = None
        """Since when it leads; None: it follows."""
        self._running = False
        self._make = make
        self._configuration = configuration
        self._has = configuration()
        self.lock = self._new_lock()
        self._recorder = Recorder(source, instance=identity)
        self._made = 0

    @property
    def resources(self) -> frozenset[str]:
        """Return what the component watches; the elector reads its lock itself."""
        return self.inner.resources

    @property
    def leading(self) -> bool:
        """Return whether this replica believes that it leads, and so acts."""
        return self.elector.leading if self.elector is not None else self._running

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Start the component's caches and the election; both wait until the API server can be reached."""
        if not tick.reachable:
            tick.plan(_RESTART, tick.now_ms + RESTART_MS)
            return
        self._has = self._configuration()
        self.lock = self._new_lock()
        self._running = True
        self.started_ms, self.led_ms = tick.now_ms, None
        self.inner.start(tick)
        if self._has.elect:
            self._begin(tick)
        else:
            self.last_branch = ""
            self.led_ms = tick.now_ms
            self.inner.lead(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Hand rows to the component; between exit and restart nobody is there to take them."""
        if self._running:
            self.inner.observe(rows, tick)

    def observe_gone(self, tick: Tick) -> None:
        """Hand the 410 to the component."""
        if self._running:
            self.inner.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """Take the elector's results; hand the others to the component."""
        others: list[Answer] = []
        for answer in answers:
            if isinstance(answer.token, _ElectionToken):
                if answer.token.made == self._made and self.elector is not None:
                    self.elector.epoch_ms = tick.epoch_ms
                    self._settled(self.elector, answer, tick)
            else:
                others.append(answer)
        if others:
            self.standing.count(others, tick.world_ms)
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
            if self.elector is not None and self.elector.leading:
                self._terminate(tick, RELEASED_MS)
        else:
            self.inner.fire(timer, tick)

    def flags_changed(self, tick: Tick) -> None:
        """Start the process anew where its election is another one now; else tell the component that plans by flags."""
        if self._running and self._configuration() != self._has:
            self._terminate(tick, RESTART_MS)
            return
        inner: object = self.inner
        if isinstance(inner, Flagged):
            inner.flags_changed(tick)

    # -- for who looks at it ------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Return whether the process has begun; between exit and restart it has not."""
        return self._running

    @property
    def elects(self) -> bool:
        """Return whether it takes part in an election."""
        return self._has.elect

    @property
    def holder(self) -> str | None:
        """Return who holds the lease, as this replica has observed it; None: it has not yet."""
        return None if self.elector is None or self.elector.observed is None else self.elector.observed.holder

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

    def _new_lock(self) -> Lock:
        has = self._has
        return new_lock(has.resource_lock, has.resource_namespace, has.resource_name, self.identity)

    def _begin(self, tick: Tick) -> None:
        seed, key = tick.seed, f"{self.lock.describe()}/{self.identity}/{tick.now_ms}"

        def jitter(attempt: int, below: int) -> int:
            return draw(seed, "election-jitter", key, attempt, below=below)

        self._made += 1
        self.elector = Elector(self.identity, jitter, self._has.settings, epoch_ms=tick.epoch_ms)
        self._carry_on(self.elector.poll(tick.now_ms), tick)

    def _settled(self, elector: Elector, answer: Answer, tick: Tick) -> None:
        """Take the result of a write of the lock: some locks ask for another one."""
        try:
            following = self.lock.written(answer.result, tick.get)
        except ApiError:
            following = Failed()
        if isinstance(following, Response):
            self._carry_on(elector.answer(tick.now_ms, following), tick)
        else:
            tick.emit(following, answer.token)

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
            return self.lock.read(tick.get)
        except ApiError:
            return Failed()

    def _about(self, tick: Tick) -> dict[str, Any]:
        try:
            stored = tick.get(self.lock.resource, self.lock.namespace, self.lock.name)
        except ApiError:
            stored = None
        return about(self.lock, stored)

    def _terminate(self, tick: Tick, away_ms: int) -> None:
        """End as a process that was asked to: give the lease up where it is held, exit with 0, be back later."""
        elector = self.elector
        request = elector.cancel(tick.now_ms) if elector is not None else None
        if elector is not None:
            self.last_branch = elector.branch or self.last_branch
            self._announce(elector, tick, asked=True)
        if self._running:
            self._exit(tick, asked=True)
        if request is not None:
            tick.emit(self.lock.write(request), _ElectionToken(self._made))
        tick.plan(_RESTART, tick.now_ms + away_ms)

    def _announce(self, elector: Elector, tick: Tick, *, asked: bool = False) -> None:
        """Call back as client-go does: OnNewLeader, OnStartedLeading, OnStoppedLeading."""
        while elector.tries:
            one = elector.tries.popleft()
            self.standing.tried(one, tick.world_ms, tick.world(one.seen_ms), tick.world(one.expires_ms))
        notices, elector.notices = elector.notices, []
        for notice in notices:
            self.standing.called(_CALLBACKS[notice], tick.now_ms, elector.observed)
            if notice == "new leader":
                continue
            self._recorder.event(tick, self._about(tick), self.lock.kind, "LeaderElection", f"{self.identity} {notice}")
            if notice == "became leader":
                self.led_ms = tick.now_ms
                self.inner.lead(tick)
            elif notice == "stopped leading":
                self._exit(tick, asked=asked)

    def _exit(self, tick: Tick, *, asked: bool) -> None:
        """Lose everything, and come back as a follower a little later."""
        self.elector = None
        self._running = False
        self.started_ms = self.led_ms = None
        self.standing.exited(asked=asked, at_ms=tick.now_ms)
        tick.forget_all()
        self.inner = self._make()
        tick.plan(_RESTART, tick.now_ms + RESTART_MS)


_CALLBACKS: Final[dict[Notice, Name]] = {
    "became leader": "OnStartedLeading",
    "stopped leading": "OnStoppedLeading",
    "new leader": "OnNewLeader",
}
