"""One control plane put together over a store, and stepped.

`Cluster` is what drives a session: the worker on real time, `simulate`, tests and benchmarks headless. See
`controllers/machinery/loop.py` for what holds inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER, initial_objects
from controllers.deployment import DeploymentController
from controllers.garbagecollector import GarbageCollector
from controllers.kubelet import Kubelets
from controllers.leaderelection.elector import Settings
from controllers.leaderelection.lease import LeaseLock
from controllers.leaderelection.replica import Replica
from controllers.machinery.client import Client
from controllers.machinery.loop import Elected, Loop, Slot, Tick
from controllers.machinery.manager import ControllerEntry, ControllerManager
from controllers.machinery.operations import Create, Patch, Result
from controllers.machinery.store import Store
from controllers.namespace import NamespaceController
from controllers.nodelifecycle import NodeLifecycleController
from controllers.nodelifecycle.controller import MONITOR_MS
from controllers.replay import ReplayComponent
from controllers.replicaset import ReplicaSetController
from controllers.scheduler.component import RETELL_TIMER, STEP_TIMER, SchedulerComponent
from controllers.session import CLOCK, CLOCKS, CONFIGURATIONS, NAME, REPLICAS, SessionComponent, Step
from scheduler_core.api.kinds import by_kind

Document = dict[str, Any]

CONTROLLERS: Final[tuple[ControllerEntry, ...]] = (
    ControllerEntry(DeploymentController, DeploymentController.NAME, DeploymentController.RESOURCES),
    ControllerEntry(ReplicaSetController, ReplicaSetController.NAME, ReplicaSetController.RESOURCES),
    ControllerEntry(NamespaceController, NamespaceController.NAME, NamespaceController.RESOURCES),
    ControllerEntry(GarbageCollector, GarbageCollector.NAME, GarbageCollector.RESOURCES),
    ControllerEntry(
        NodeLifecycleController, NodeLifecycleController.NAME, NodeLifecycleController.RESOURCES, MONITOR_MS
    ),
)
"""The table of controllers: one line each, in every controller manager."""

STEP_EVENTS_MAX: Final = 100_000
"""Events that one step by point or cycle may take; past it the step counts as not found."""

RESTART_MS: Final = 1_000
"""A component that failed is started again after this long."""

ANCHOR_DRIFT_MS: Final = 300
"""The clock's status is written anew when real and simulated time have come apart this far since."""

ANCHOR_EVERY_MS: Final = 1_000
"""... but at most this often, in real milliseconds."""


@dataclass(slots=True)
class ClockView:
    """The clock as the cluster obeys it. `rate`: simulated per real second. `pace`: simulated ms at each point."""

    paused: bool = False
    rate: float = 1.0
    pace: int = 0
    held: dict[str, str] | None = None
    stepped: int = 0
    """How many of the steps last asked for could be taken."""


class Cluster:
    """One session's control plane."""

    def __init__(
        self,
        store: Store,
        *,
        fence: int | None = None,
        kubelets: bool = True,
        on_failure: Callable[[str, Exception], None] | None = None,
    ) -> None:
        """Put the control plane together; nothing runs before `start`.

        Args:
            store: holds the session, its command objects included (`controllers.bootstrap.initial_objects`).
            fence: the owner's epoch.
            kubelets: whether hollow kubelets run; without them pods stay bound and Pending.
            on_failure: told (component, exception) when a component fails; it is started again. None: exceptions come
                out of `advance`.
        """
        self.store = store
        self.clock = ClockView()
        self.effective_rate: float | None = None
        """Simulated seconds per real second as measured by whoever drives; None: not measured."""
        self.obeys_pause = True
        """A run from the log takes every event at its time and passes over pauses."""
        self._client = Client(store, fence=fence)
        self._loop = Loop(
            store, self._client.commit, now_ms=store.horizon_ms, advance_horizon=self._client.advance_horizon
        )
        self._loop.after_event = self._after_event
        self._on_failure = on_failure
        if on_failure is not None:
            self._loop.on_failure = self._failed
        self._kubelets = kubelets
        self._session = SessionComponent(self)
        self._session_slot: Slot | None = None
        self._replicas: dict[str, Slot] = {}
        self._seen: dict[str, tuple[object, ...]] = {}
        self._steps: list[Step] = []
        self._taken_step = 0
        self._told: tuple[object, ...] = ()
        self._told_anchor = (0, 0)

    # -- life ---------------------------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        """Return simulated milliseconds since the session began."""
        return self._loop.now_ms

    @property
    def events_run(self) -> int:
        """Return how many events of the loop have run since `start`."""
        return self._loop.events_run

    def start(self) -> None:
        """Add all components and take up what the command objects hold."""
        loop = self._loop
        self._session_slot = loop.add(NAME, lambda: self._session, priority=0)
        for stored in self.store.list(REPLICAS)[0]:
            self._add_replica(stored.object)
        if self._kubelets:
            loop.add("kubelet", Kubelets)
        loop.add("replay", ReplayComponent)
        loop.run_urgent()
        status = (self._session.clock or {}).get("status") or {}
        self._taken_step = self._session.step_id
        self._follow_clock(bool(status.get("paused")))
        if self.clock.paused:
            # Replicas take up what they had in hand, and rest where their former owner had left it.
            self._hold(True)
            self._run_present()

    def _add_replica(self, document: Document) -> None:
        identity = document["metadata"]["name"]
        component = (document.get("spec") or {}).get("component")
        source = "default-scheduler" if component == SCHEDULER else str(component)
        lock = LeaseLock("kube-system", str(component))
        inner = self._inner_of(identity, str(component))
        if inner is None:
            return
        crashed = (document.get("status") or {}).get("state") == "Crashed"

        def make() -> Replica:
            return Replica(identity, lock, inner, source=source, settings=Settings())

        self._replicas[identity] = self._loop.add(identity, make, start=not crashed)

    def _inner_of(self, identity: str, component: str) -> Callable[[], Elected] | None:
        """Return what makes the component that a replica runs while it leads."""
        if component == CONTROLLER_MANAGER:
            return lambda: ControllerManager(identity, CONTROLLERS)
        if component == SCHEDULER:

            def make() -> Elected:
                scheduler = SchedulerComponent(identity)
                scheduler.tell(self.clock.pace, self._holding, self.clock.rate)
                return scheduler

            return make
        return None

    # -- driving ------------------------------------------------------------------------------------------------

    def pull(self) -> int:
        """Take foreign rows from the store, in revision order; return how many rows there were."""
        return self._loop.pull(force=self.clock.paused)

    def next_event_ms(self) -> int | None:
        """Return when the loop has something to do; None: nothing planned."""
        return self._loop.next_event_ms()

    def advance(self, until_ms: int, *, max_events: int | None = None) -> int:
        """Run events up to and at `until_ms`; return how many ran. Time is `until_ms` then, unless `max_events` or a
        pause came first.
        """
        ran = 0
        while not (self.clock.paused and self.obeys_pause):
            if max_events is not None and ran >= max_events:
                return ran
            count = self._loop.run_tick(until_ms)
            ran += count
            self._note_commands()
            self._take_steps()
            if count == 0:
                self._loop.settle_at(until_ms)
                return ran
        return ran

    def obey(self, real_unix_ms: int) -> None:
        """Observe new generations of command objects and write the clock's status.

        Args:
            real_unix_ms: the wall clock, which the clock's status anchors simulated time to.
        """
        self._loop.run_urgent()
        self._note_commands()
        if self.clock.paused and self.now_ms < self.store.horizon_ms:
            # The pause came while the loop was on its way to a time that it had promised to the store. What is written
            # now is stamped with that time, so the clock stands there and not before it.
            self._run_until(self.store.horizon_ms)
            self._note_commands()
        self._take_steps()
        self.clock.held = self._held() if self.clock.paused else None
        self._tell_clock(real_unix_ms)
        self._tell_configuration()

    # -- what the session's component carries out ----------------------------------------------------------------

    def set_pace(self, pace_ms: int) -> None:
        """Set how long cycles rest at an extension point."""
        if pace_ms != self.clock.pace:
            self.clock.pace = pace_ms
            self._tell_schedulers()

    def ask_step(self, step: Step) -> None:
        """Take note of steps; they are taken after the present tick."""
        self._steps.append(step)

    def crash(self, identity: str) -> None:
        """Stop a replica."""
        self._loop.crash(self._replicas[identity])

    def recover(self, identity: str) -> None:
        """Start a stopped replica."""
        self._loop.recover(self._replicas[identity])

    def slot_of(self, identity: str) -> Slot | None:
        """Return a replica's place in the loop."""
        return self._replicas.get(identity)

    # -- steps --------------------------------------------------------------------------------------------------

    _holding = False
    """Whether cycles rest at every point until they are stepped."""

    def _note_commands(self) -> None:
        """Follow the clock's newest spec."""
        spec = self._session.spec
        self._follow_clock(bool(spec.get("paused")) or self._session.step_id > self._taken_step)

    def _follow_clock(self, paused: bool) -> None:
        spec = self._session.spec
        rate = float(spec.get("rate") or 1.0)
        if rate != self.clock.rate:
            self.clock.rate = rate
            for _, scheduler in self._schedulers():
                scheduler.tell(self.clock.pace, self._holding, rate)
        if self.clock.paused and not paused:
            self._hold(False)
        self.clock.paused = paused

    def _take_steps(self) -> None:
        """Take the steps that were asked for."""
        while self._steps:
            step = self._steps.pop(0)
            self.clock.paused = True
            self.clock.stepped = self._step(step)
            self._taken_step = step.id

    def _step(self, step: Step) -> int:
        self._hold(step.by in ("point", "cycle"))
        if step.by == "seconds":
            self._run_until(self.now_ms + step.count * 1000)
            return step.count
        self._loop.single_events = True
        try:
            taken = 0
            while taken < step.count and self._step_once(step.by):
                taken += 1
            return taken
        finally:
            self._loop.single_events = False

    def _step_once(self, by: str) -> bool:
        if by == "event":
            due_ms = self._loop.next_event_ms()
            return due_ms is not None and self._loop.run_tick(due_ms) > 0
        before = self._progress(by)
        self._run_present()
        while self._progress(by) == before:
            marks = self._progress("point") + self._progress("cycle")
            for slot, scheduler in self._schedulers():
                if scheduler.can_step:
                    self._loop.plan(slot, STEP_TIMER, self.now_ms)
            self._run_present()
            if self._progress("point") + self._progress("cycle") == marks:
                return False
        return True

    def _run_present(self) -> None:
        """Run what is due at the present time; held cycles stay where they rest."""
        for _ in range(STEP_EVENTS_MAX):
            due_ms = self._loop.next_event_ms()
            if due_ms is None or due_ms > self.now_ms or self._loop.run_tick(self.now_ms) == 0:
                return

    def _run_until(self, until_ms: int) -> None:
        while self._loop.run_tick(until_ms):
            pass
        self._loop.settle_at(until_ms)

    def _schedulers(self) -> list[tuple[Slot, SchedulerComponent]]:
        found = [(slot, slot.component) for slot in self._replicas.values()]
        inner = [(slot, replica.inner) for slot, replica in found if isinstance(replica, Replica)]
        return [(slot, one) for slot, one in inner if isinstance(one, SchedulerComponent)]

    def _progress(self, by: str) -> list[int]:
        return [one.points if by == "point" else one.cycles for _, one in self._schedulers()]

    def _held(self) -> dict[str, str] | None:
        return next((held for _, one in self._schedulers() if (held := one.held) is not None), None)

    def _hold(self, holding: bool) -> None:
        if holding != self._holding:
            self._holding = holding
            self._tell_schedulers()

    def _tell_schedulers(self) -> None:
        for slot, scheduler in self._schedulers():
            scheduler.tell(self.clock.pace, self._holding, self.clock.rate)
            self._loop.plan(slot, RETELL_TIMER, self.now_ms)

    # -- statuses -----------------------------------------------------------------------------------------------

    def _after_event(self, slot: Slot, tick: Tick) -> None:
        """Write a replica's status when its election has moved."""
        replica = slot.component
        if not isinstance(replica, Replica) or self._session_slot is None:
            return
        lease = replica.lease_view() or {}
        seen = (replica.leading, replica.last_branch, lease.get("holder"), slot.incarnation)
        if self._seen.get(slot.name) != seen:
            self._seen[slot.name] = seen
            self._session.show_replica(slot.name, self._loop.tick_of(self._session_slot))

    def _tell_clock(self, real_unix_ms: int) -> None:
        document = self._session.clock
        if document is None:
            return
        clock = self.clock
        generation = int(document["metadata"].get("generation") or 0)
        narrated = max((one.narrated_one_in for _, one in self._schedulers()), default=1) if clock.pace else 1
        told = (generation, clock.paused, clock.rate, clock.pace, self._taken_step, str(clock.held), narrated)
        if told == self._told and not self._has_drifted(real_unix_ms):
            return
        if not self._told or self._told[1:3] != told[1:3]:
            self.effective_rate = None  # what was measured belongs to the clock as it ran before
        self._told, self._told_anchor = told, (self.now_ms, real_unix_ms)
        status = {
            "observedGeneration": generation,
            "paused": clock.paused,
            "rate": clock.rate,
            "pace": clock.pace,
            "simTimeMs": self.now_ms,
            "anchorUnixMs": real_unix_ms,
            "effectiveRate": round(self.effective_rate if self.effective_rate is not None else clock.rate, 3),
            "stepped": clock.stepped,
            "stepId": self._taken_step,
            "held": clock.held,
            "narrated": {"oneIn": narrated},
        }
        self._client.apply(Patch(CLOCKS, "", CLOCK, {"status": status}, "merge", "status"), NAME, self.now_ms)

    def _has_drifted(self, real_unix_ms: int) -> bool:
        sim_ms, anchor_ms = self._told_anchor
        if self.clock.paused:
            return sim_ms != self.now_ms
        if real_unix_ms - anchor_ms < ANCHOR_EVERY_MS:
            return False
        expected_ms = sim_ms + (real_unix_ms - anchor_ms) * self.clock.rate
        return abs(expected_ms - self.now_ms) > ANCHOR_DRIFT_MS * max(1.0, self.clock.rate)

    def _tell_configuration(self) -> None:
        """While time stands no scheduler runs that would say so: a changed configuration counts as observed."""
        if not self.clock.paused:
            return
        stored = self.store.get(CONFIGURATIONS, "", "default")
        if stored is None:
            return
        generation = int(stored.object["metadata"].get("generation") or 0)
        if (stored.object.get("status") or {}).get("observedGeneration") != generation:
            patch = {"status": {"observedGeneration": generation}}
            self._client.apply(Patch(CONFIGURATIONS, "", "default", patch, "merge", "status"), NAME, self.now_ms)

    # -- failures -----------------------------------------------------------------------------------------------

    def _failed(self, slot: Slot, error: Exception) -> None:
        assert self._on_failure is not None, "the loop hands failures on only where somebody is told"
        self._on_failure(slot.name, error)
        self._loop.recover_at(slot, self.now_ms + RESTART_MS)


def found(store: Store, documents: list[Document] | None = None, *, actor: str = "session") -> list[Result]:
    """Create objects in a store at its horizon, through the registry; uids are drawn from the store's seed.

    Args:
        store: where.
        documents: in order; None: `initial_objects()`.
        actor: who creates them.
    """
    client = Client(store)
    results: list[Result] = []
    for document in initial_objects() if documents is None else documents:
        kind = by_kind(document["apiVersion"], document["kind"])
        namespace = (document["metadata"].get("namespace") or "default") if kind.namespaced else ""
        results.append(client.apply(Create(kind.resource, namespace, document), actor, store.horizon_ms))
    return results
