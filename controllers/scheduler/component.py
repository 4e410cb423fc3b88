"""`SchedulerComponent`: one scheduler replica as the event loop sees it.

Whoever owns the session's clock calls `tell(pace_ms, hold, rate, stop_at)` and, when one of them changes, plans
`RETELL_TIMER`.
With a pace, cycles rest at each point for that long in simulated time. With `hold` (the clock stands) they rest at
each point until `STEP_TIMER` fires, at whatever pace; a step also begins the next cycle where none is in hand. So a
step by point is: plan `STEP_TIMER` now, and run the loop at the present time until `points` has grown or nothing is
left to run; a step by cycle is steps by point until `cycles` has grown. `held` says where a cycle rests, `can_step`
whether there is anything to step, `narrated_one_in` how many cycles run straight through.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from controllers.commands import REPLICAS
from controllers.flags.flag import InForce
from controllers.flags.scheduler import POLL_PERIOD, SOURCES
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.kit.recorder import Recorder
from controllers.log.store import Event, Gone
from controllers.loop.loop import Answer, Tick
from controllers.replicatelling import tell_cycle
from controllers.scheduler.driver import PERMIT_TIMER, POINT_TIMER, SLEEP_TIMER, Driver, Job
from controllers.scheduler.reporting import (
    EMPTY_QUEUE,
    QUEUE_STATUS_MS,
    QUEUES,
    cycle_of,
    cycle_status,
    queue_status,
    tell_queue,
    waiting_of,
)
from controllers.scheduler.settings import NAME, RESOURCE, Settings
from controllers.scheduler.telling import tell_running
from controllers.scheduler.tracing import Tracer
from controllers.scheduler.watching import WATCHED, CacheListers, Watching
from scheduler_core.api.errors import ApiError
from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.profile import ProfileError
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.replay import Seen
from scheduler_core.scheduler.run import CycleInput, Run
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.waiting import WaitingPods
from scheduler_core.volumes.assumed import AssumedObjects

NEXT_TIMER: Final = ("scheduler", "next")
FLUSH_TIMER: Final = ("scheduler", "flush")
STATUS_TIMER: Final = ("scheduler", "status")
EXPIRY_TIMER: Final = ("scheduler", "expiry")

LEASES: Final = "leases.coordination.k8s.io"
LEASE: Final = ("kube-system", "kube-scheduler")
"""Namespace and name of the Lease that scheduler replicas share."""

VERDICT_TIMER: Final = ("scheduler", "verdict")
"""Plan this on the slot after `judge`, so that what was held goes on."""

RETELL_TIMER: Final = ("scheduler", "retell")
"""Plan this on the component's slot after `tell`, so that what rests goes on as told."""

STEP_TIMER: Final = ("scheduler", "step")
"""Plan this on the slot while it holds: the cycle in hand goes to its next point, or the next one begins."""

NARRATED_ACTIVE_MAX: Final = 10
"""With more pods than this in the active lane only some cycles are told at the pace; others run straight through."""


class SchedulerComponent:
    """One scheduler replica. Follows with warm caches until `lead`, then schedules."""

    resources = WATCHED

    def __init__(self, identity: str, timer: Callable[[], int] | None = None, flags: InForce | None = None) -> None:
        """Make a replica that has not begun.

        Args:
            identity: as it signs Leases.
            timer: real nanoseconds, for durations in its metrics; None: they are not measured.
            flags: the flags in force; None: all have their defaults.
        """
        self.identity = identity
        self._flags = flags or InForce()
        self._metrics = Metrics(timer)
        self.leading = False
        self._pace_ms = 0
        self._hold = False
        self._rate = 1.0
        self._stop_at = ""
        self._seen_revision = 0
        self._begun = 0
        self._next_planned = False
        self._shown_cycle: Mapping[str, Any] | None = None
        self._shown_queue: Mapping[str, Any] | None = None
        self._status_planned = False
        self._status_ms = -QUEUE_STATUS_MS
        self._left_cycle: Mapping[str, Any] | None = None
        self._left_waiting: Sequence[Mapping[str, Any]] = ()
        self.stepped = False
        """People step now, so that what a step changes in the lanes is told at once."""
        self._asked_anew = False
        """Another configuration was asked for, and nobody has been told yet what came of it."""
        self._told_of: tuple[Mapping[str, Any] | None, Configuration | None] = None, None
        """The configuration's document that says what runs, and that which runs."""

    # For whoever owns the clock.

    def tell(self, pace_ms: int, hold: bool, rate: float = 1.0, stop_at: str = "") -> None:
        """Set how long a told cycle rests at a point, and whether it rests there until it is stepped.

        `rate` is the clock's, in simulated per real seconds: it bounds how much is kept of each decision. The pod
        `stop_at` (`namespace/name`) stays before PreFilter, steps or no steps, until another is told; `stays` says so.
        """
        self._pace_ms, self._hold, self._rate, self._stop_at = pace_ms, hold, rate, stop_at
        if self.started:
            self.driver.pace_ms, self.driver.hold, self.driver.stop_at = pace_ms, hold, stop_at
            self._tracer.rate = rate

    @property
    def started(self) -> bool:
        """Return whether the caches are filled."""
        return hasattr(self, "driver")

    @property
    def points(self) -> int:
        """Return how many points told cycles have passed; grows while this component lives."""
        return self.driver.points if self.started else 0

    @property
    def cycles(self) -> int:
        """Return how many scheduling cycles have ended; grows while this component lives."""
        return self.driver.cycles if self.started else 0

    @property
    def held(self) -> dict[str, str] | None:
        """Return the cycle that rests at a point: pod, point and replica; None where none does."""
        job = self.driver.hand if self.started else None
        if job is None or job.run is None or not job.rests:
            return None
        return {"pod": job.run.info.key, "point": job.run.point, "replica": self.identity}

    @property
    def stays(self) -> bool:
        """Return whether the pod that is to be stopped is in hand, before PreFilter."""
        return self.started and self.driver.stays

    @property
    def can_step(self) -> bool:
        """Return whether a cycle is in hand or may begin now."""
        return self.started and self.leading and (self.driver.hand is not None or self.scheduler.queue.has_next)

    @property
    def narrated_one_in(self) -> int:
        """Return N where one cycle in N is told at the pace."""
        active = self.scheduler.queue.active_count if self.started else 0
        return 1 if active <= NARRATED_ACTIVE_MAX else -(-active // NARRATED_ACTIVE_MAX)

    def judge(self, uid: str, plugin: str, *, allow: bool, message: str) -> str:
        """Say a person's word on a pod that Permit holds; whoever says it plans `VERDICT_TIMER`.

        Args:
            uid: the pod.
            plugin: in whose name; empty: in that of every plugin that holds the pod.
            allow: yes or no.
            message: why not.

        Returns:
            `allowed` or `rejected` where that decided the wait, `waits` where another plugin still holds the pod,
            `gone` where the pod, or that plugin, holds nothing.
        """
        waiting = self.scheduler.waiting if self.started else WaitingPods()
        held = waiting.get(uid)
        if held is None or held.is_decided or (plugin and plugin not in held.until_ms):
            return "gone"
        names = [plugin] if plugin else sorted(held.until_ms)
        if not allow:
            waiting.reject(uid, names[0], message)
            return "rejected"
        return "allowed" if [waiting.allow(uid, name) for name in names][-1] else "waits"

    def metrics(self) -> Metrics:
        """Return what this replica has counted and timed since it began, the queue's gauges as they are now."""
        return (self.scheduler.show_metrics() if self.started else None) or self._metrics

    @property
    def informers(self) -> Informers | None:
        """Return its caches; None before it has begun."""
        return self._informers if self.started else None

    @property
    def configured(self) -> Configuration | None:
        """Return what it runs; None before it has begun."""
        return self.scheduler.configuration if self.started else None

    @property
    def binding(self) -> int:
        """Return how many binding cycles are under way, waits at Permit included."""
        return len(self.driver.bindings) if self.started else 0

    @property
    def _poll_ms(self) -> int:
        return self._flags[POLL_PERIOD] if self._flags[SOURCES] == "poll" else 0

    def flags_changed(self, tick: Tick) -> None:
        """Poll, or watch, as the flags say now."""
        if self.started:
            self._informers.poll(self._poll_ms, tick)

    # Component.

    def start(self, tick: Tick) -> None:
        """Fill the caches, and read what a former owner had left in this replica's command objects."""
        self._informers = Informers(self.resources, identity=self.identity)
        self._informers.always_watched = frozenset({RESOURCE})
        self._informers.poll_ms = self._poll_ms
        self._listers = AssumedObjects(CacheListers(self._informers))
        nominator = Nominator()
        found = tick.get(RESOURCE, "", NAME)
        self._plugins = tick.plugins
        self._settings = Settings.of(found.object.get("spec") if found is not None else None, self._plugins)
        self.scheduler = Scheduler(
            self._settings.build(nominator, self._listers, self._metrics),
            nominator,
            seed=tick.seed,
            metrics=self._metrics,
            volumes=self._listers,
        )
        self.scheduler.now_ms = tick.now_ms
        recorder = Recorder("default-scheduler", instance=self.identity)
        self.driver = Driver(
            self.scheduler,
            recorder,
            on_point=self._show_point,
            on_outcome=self._keep_trace,
            on_idle=self._show_idle,
        )
        self._tracer = Tracer(self.identity, self.scheduler)
        self.tell(self._pace_ms, self._hold, self._rate, self._stop_at)
        Watching(self.scheduler, self._informers, self._reconfigure)
        self._informers.start(tick)
        self._note_lists()
        self._read_left(tick)

    def lead(self, tick: Tick) -> None:
        """Begin to schedule; a cycle that was in hand when the former owner stopped is taken up first."""
        self.leading = True
        self.scheduler.now_ms = tick.now_ms
        self._say_configuration(tick)
        for left in self._left_waiting:
            until_ms = {plugin["name"]: plugin["untilMs"] for plugin in left["plugins"]}
            run = self.scheduler.wait_again(left["uid"], left["node"], until_ms, self._seen_revision)
            if run is not None:
                self.driver.bind_again(run, tick)
        left_cycle, self._left_cycle, self._left_waiting = self._left_cycle, None, ()
        if left_cycle is not None and not self._resume(left_cycle, tick):
            self._show_cycle(None, tick)
        self._after(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        self.scheduler.now_ms = tick.now_ms
        self._informers.observe(rows)
        if not self._informers.poll_ms:
            self._seen_revision = max(self._seen_revision, tick.position)
        self._after(tick)

    def observe_gone(self, tick: Tick) -> None:
        """The watch's place is compacted: list again after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """Take results; whoever waits for one goes on."""
        for answer in answers:
            self.driver.settle(answer, tick)
        self._after(tick)

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """A timer is due; one that was planned for a former incarnation finds nothing to do."""
        if not self.started:
            return
        self.scheduler.now_ms = tick.now_ms
        if timer == NEXT_TIMER:
            self._next_planned = False
            if not self._hold:
                self._next(tick)
                while self._after(tick, goes_on=True):
                    self._next(tick)
                return
        elif timer == POINT_TIMER:
            if not self._hold:
                self.driver.go_on(tick)
        elif timer == STEP_TIMER:
            self._step(tick)
        elif timer == FLUSH_TIMER:
            self.scheduler.queue.flush(tick.now_ms)
        elif timer == EXPIRY_TIMER:
            self.scheduler.expire()
        elif timer == STATUS_TIMER:
            self._status_planned = False
            self._show_queue(tick)
            return
        elif timer == RETELL_TIMER:
            self.driver.retell(tick)
        elif timer == VERDICT_TIMER:
            self.driver.check_waits(tick)
            self._show_queue(tick)
        elif timer == RELIST_TIMER:
            self._informers.relist(tick)
            self._note_lists()
        elif timer not in (PERMIT_TIMER, SLEEP_TIMER):
            raise ValueError(f"unknown timer {timer!r}")
        self._after(tick)

    def _note_lists(self) -> None:
        if self._informers.poll_ms:
            self._seen_revision = max(self._seen_revision, self._informers.polled_revision)
            return
        lists = (reflector.revision for reflector in self._informers.reflectors.values())
        self._seen_revision = max(self._seen_revision, *lists)

    # Scheduling.

    def _next(self, tick: Tick) -> None:
        if not self.leading or self.driver.hand is not None:
            return
        one_in = self.narrated_one_in if self._pace_ms else 1
        run = self.scheduler.begin(self._seen_revision)
        if run is None:
            return
        narrated = self._hold or (self._pace_ms > 0 and self._begun % one_in == 0)
        self._begun += 1
        self.driver.begin(run, tick, narrated=narrated)

    def _step(self, tick: Tick) -> None:
        if self.driver.hand is not None:
            self.driver.go_on(tick)
        else:
            self._next(tick)

    def _after(self, tick: Tick, *, goes_on: bool = False) -> bool:
        """Plan what follows from what just happened; return whether the next cycle is to begin at once (`goes_on`)."""
        self.driver.check_waits(tick)
        self.driver.wake(tick)
        if self.driver.hand is None:
            self.scheduler.take_configuration()
        if self._asked_anew and self.leading:
            self._say_configuration(tick)
        queue = self.scheduler.queue
        may_begin = self.leading and not self._hold and not self._next_planned
        at_once = False
        if may_begin and self.driver.hand is None and queue.has_next:
            at_once = goes_on and tick.next_now()
            if not at_once:
                self._next_planned = True
                tick.plan(NEXT_TIMER, tick.now_ms)
        flush_ms = queue.next_flush_ms()
        if flush_ms is not None:
            tick.plan(FLUSH_TIMER, flush_ms)
        expiry_ms = self.scheduler.cache.next_expiry_ms
        if expiry_ms is not None:
            tick.plan(EXPIRY_TIMER, expiry_ms)
        if self.leading and self.stepped:
            # A status that waited for time to pass would be seen by nobody who steps.
            self._show_queue(tick)
        elif self.leading and not self._status_planned:
            self._status_planned = True
            tick.plan(STATUS_TIMER, max(tick.now_ms, self._status_ms + QUEUE_STATUS_MS))
        return at_once

    def _reconfigure(self, document: Mapping[str, Any]) -> None:
        """Take a changed configuration; it takes effect at the next cycle. A wrong one changes nothing."""
        self._asked_anew = True
        try:
            settings = Settings.of(document.get("spec"), self._plugins)
            if settings.hash == self._settings.hash:
                return
            scheduler = self.scheduler
            scheduler.next_configuration = settings.build(
                scheduler.nominator, self._listers, self._metrics, scheduler.waiting
            )
        except (ApiError, ProfileError):
            return
        self._settings = settings

    # Telling.

    def _show_point(self, job: Job, tick: Tick) -> None:
        if job.run is not None:
            self._show_cycle(cycle_status(job, self._tracer.live(job.run)), tick)

    def _show_idle(self, tick: Tick) -> None:
        if self._shown_cycle is not None:
            self._show_cycle(None, tick)
        self._say_configuration(tick)

    def _show_cycle(self, cycle: Mapping[str, Any] | None, tick: Tick) -> None:
        tell_cycle(tick, self.identity, cycle, self._shown_cycle)
        self._shown_cycle = cycle

    def _keep_trace(self, run: Run, point: str, tick: Tick) -> None:
        self._tracer.write(run, point, tick)

    def _show_queue(self, tick: Tick) -> None:
        status = queue_status(self.scheduler, self.driver)
        if status != self._shown_queue:
            self._shown_queue = status
            self._status_ms = tick.now_ms
            tell_queue(tick, self.identity, status)

    def _say_configuration(self, tick: Tick) -> None:
        """Let the command object's status say what runs."""
        document = self._informers[RESOURCE].get("", NAME)
        self._asked_anew = False
        configuration = self.scheduler.next_configuration or self.scheduler.configuration
        if document is None or (document is self._told_of[0] and configuration is self._told_of[1]):
            return
        if not tell_running(document, self._settings, configuration, tick):
            self._told_of = document, configuration

    # Taking up what a former owner left.

    def _read_left(self, tick: Tick) -> None:
        """Read what the former owner of this session had under way; wipe it where another replica leads by now."""
        replica = tick.get(REPLICAS, "", self.identity)
        queue = tick.get(QUEUES, "", self.identity)
        if replica is not None:
            self._shown_cycle = cycle_of(replica.object)
            if self._shown_cycle is None and (replica.object.get("status") or {}).get("cycle") is not None:
                # Nobody can run it again, whoever wrote it.
                tell_cycle(tick, self.identity, None, None)
        if queue is not None:
            self._shown_queue = queue.object.get("status")
        lease = tick.get(LEASES, *LEASE)
        holder = "" if lease is None else (lease.object.get("spec") or {}).get("holderIdentity") or ""
        if holder in ("", self.identity):
            self._left_cycle = self._shown_cycle
            self._left_waiting = () if queue is None else waiting_of(queue.object)
            return
        if self._shown_cycle is not None:
            self._show_cycle(None, tick)
        if self._shown_queue is not None and self._shown_queue != EMPTY_QUEUE:
            self._shown_queue = EMPTY_QUEUE
            tell_queue(tick, self.identity, EMPTY_QUEUE)

    def _resume(self, left: Mapping[str, Any], tick: Tick) -> bool:
        """Run a left cycle again to its point, from its input; False: it cannot be, and its pod waits as others do."""
        given = CycleInput.of(dict(left["input"]))
        current = self.scheduler.pods.get(left["uid"])
        if current is None or current.pod.spec.node_name or given.configuration != self._settings.hash:
            return False
        if given.profile not in self.scheduler.configuration.frameworks:
            return False
        try:
            nodes, pods = (tick.list_at(resource, given.seen_revision) for resource in ("nodes", "pods"))
        except Gone:
            return False
        seen = Seen.of((one.object for one in nodes), (one.object for one in pods))
        info = seen.pods.get(left["uid"])
        if info is None:
            return False
        run = self.scheduler.begin_again(left["uid"], given, info, seen.snapshot(given))
        if run is None:
            return False
        self.driver.resume(run, left["point"], tick)
        return True
