"""One control plane put together over a store, and stepped.

`Cluster` is what drives a session: the worker on real time, `simulate`, tests and benchmarks headless. See
`controllers/loop/loop.py` for what holds inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER, initial_objects
from controllers.clocktelling import ClockTeller
from controllers.commands import (
    CLOCK,
    CLOCKS,
    CONFIGURATIONS,
    REPLICAS,
    ClockCommand,
    ClockView,
    Obeyed,
    ReplicaCommand,
    active_of,
    generation_of,
)
from controllers.faults.active import Faults
from controllers.kinds.table import by_kind
from controllers.kit.client import Client
from controllers.kit.manager import ControllerManager
from controllers.kubelet import Kubelets
from controllers.leaderelection.elector import Settings
from controllers.leaderelection.lease import LeaseLock
from controllers.leaderelection.replica import Replica
from controllers.log.operations import Create, Patch, Result
from controllers.log.store import Store
from controllers.loop.loop import Elected, Loop, Slot, Tick
from controllers.outside import CarryOut, Outside, refuse
from controllers.registry.models import clustersim_v1 as api
from controllers.registry.structs import read
from controllers.replay import ReplayComponent
from controllers.scheduler.component import SchedulerComponent
from controllers.scheduler.reporting import QUEUES
from controllers.session import NAME, SessionComponent, replica_status
from controllers.stepping import Stepper
from controllers.table import CONTROLLERS
from controllers.telling import Telling
from scheduler_core.api.document import Document
from scheduler_core.framework.metrics import Metrics

OWN: Final = frozenset({REPLICAS, QUEUES, CONFIGURATIONS})
"""Kinds by which the session shows a replica, and commands it: no traffic of the replica's own."""

RESTART_MS: Final = 1_000
"""A component that failed is started again after this long."""


class Cluster:
    """One session's control plane."""

    def __init__(
        self,
        store: Store,
        *,
        fence: int | None = None,
        kubelets: bool = True,
        on_failure: Callable[[str, Exception], None] | None = None,
        timer: Callable[[], int] | None = None,
        call: CarryOut = refuse,
    ) -> None:
        """Put the control plane together; nothing runs before `start`.

        Args:
            store: holds the session, its command objects included (`controllers.bootstrap.initial_objects`).
            fence: the owner's epoch.
            kubelets: whether hollow kubelets run; without them pods stay bound and Pending.
            on_failure: told (component, exception) when a component fails; it is started again. None: exceptions come
                out of `advance`.
            timer: real nanoseconds, for durations in the schedulers' metrics; None: they are not measured.
            call: calls extenders, at once or for `outside.answer` to take later; without it their calls fail.
        """
        self.store = store
        self.clock = ClockView()
        self.obeys_pause = True
        """A run from the log takes every event at its time and passes over pauses."""
        self._client = Client(store, fence=fence)
        self._loop = Loop(
            store, self._client.commit, now_ms=store.horizon_ms, advance_horizon=self._client.advance_horizon
        )
        self._loop.after_event = self._after_event
        self._timer = timer
        self._on_failure = on_failure
        if on_failure is not None:
            self._loop.on_failure = self._failed
        self._kubelets = kubelets
        self._session = SessionComponent(self)
        self._session_slot: Slot | None = None
        self._replicas: dict[str, Slot] = {}
        self.faults = Faults(self._loop)
        self._stepper = Stepper(self._loop, self._replicas, self.clock)
        self.teller = ClockTeller(self._loop, self._client, self._stepper, self.clock)
        self._telling = Telling(store, self._client, self.clock, self._stepper)
        self.outside = Outside(self._loop, self._client, self._stepper, self._place, call)
        self._seen: dict[str, tuple[object, ...]] = {}
        self._generation = 0
        """The clock's generation as last obeyed."""
        self._order = 0
        """How many commands have taken effect."""
        self._taken_step = 0
        self._obeyed: dict[str, Obeyed] = {}
        """Replica → what was last obeyed of its spec."""

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
        loop.promise(loop.now_ms + 1)
        clock = self.store.get(CLOCKS, "", CLOCK)
        if clock is not None:
            self._take_up_clock(clock.object)
        self._session_slot = loop.add(NAME, lambda: self._session, priority=0)
        for stored in self.store.list(REPLICAS)[0]:
            self._add_replica(stored.object)
        if self._kubelets:
            loop.add("kubelet", Kubelets)
        loop.add("replay", ReplayComponent)
        if self.clock.paused and self.obeys_pause:
            # Replicas take up what they had in hand, and rest where their former owner had left it.
            self._stepper.hold(True)
            self._stepper.run_present()

    def _take_up_clock(self, document: Document) -> None:
        """Go on as the clock's status says; a session that has none yet begins as its spec asks."""
        status = read(document.get("status"), api.ClockStatus)
        self.teller.take_up(msgspec.to_builtins(status))
        command = ClockCommand.of(document)
        self._generation = status.observed_generation
        self._taken_step = status.step_id
        self.clock.paused = command.paused if status.paused is None else status.paused
        self.clock.pace = command.pace if status.pace is None else status.pace
        self.clock.rate = command.rate if status.rate is None else status.rate

    def _add_replica(self, document: Document) -> None:
        identity = document["metadata"]["name"]
        component = read(document.get("spec"), api.ReplicaSpec).component
        source = "default-scheduler" if component == SCHEDULER else str(component)
        lock = LeaseLock("kube-system", str(component))
        inner = self._inner_of(identity, str(component))
        if inner is None:
            return
        self._obeyed[identity] = Obeyed.of(document)

        def make() -> Replica:
            return Replica(identity, lock, inner, source=source, settings=Settings())

        slot = self._replicas[identity] = self._loop.add(identity, make)
        slot.own = OWN
        left = active_of(document)
        if left is not None:
            self.faults.take_up(slot, left)

    def _inner_of(self, identity: str, component: str) -> Callable[[], Elected] | None:
        """Return what makes the component that a replica runs while it leads."""
        if component == CONTROLLER_MANAGER:
            return lambda: ControllerManager(identity, CONTROLLERS)
        if component == SCHEDULER:

            def make() -> Elected:
                scheduler = SchedulerComponent(identity, self._timer)
                scheduler.tell(self.clock.pace, self._stepper.holding, self.clock.rate)
                return scheduler

            return make
        return None

    # -- driving ------------------------------------------------------------------------------------------------

    def pull(self) -> int:
        """Look for new rows of others; return how many were taken. They are heard when their time comes."""
        return self._loop.pull()

    def next_event_ms(self) -> int | None:
        """Return when the loop has something to do; None: nothing planned."""
        return self._loop.next_event_ms()

    def advance(self, until_ms: int, *, max_events: int | None = None) -> int:
        """Run events up to and at `until_ms`; return how many ran.

        Time is `until_ms` then, unless `max_events` came first; nothing runs while the clock is paused.
        """
        ran = 0
        while not (self.clock.paused and self.obeys_pause):
            if max_events is not None and ran >= max_events:
                return ran
            count = self._loop.run_tick(until_ms)
            ran += count
            if count == 0:
                self._loop.settle_at(until_ms)
                return ran
        return ran

    def run_tick(self, until_ms: int) -> int:
        """Run one tick of what is due at or before `until_ms`; return how many events ran. Time stands at the last."""
        due_ms = self._loop.next_event_ms()
        if due_ms is None or due_ms > until_ms or (self.clock.paused and self.obeys_pause):
            return 0
        return self._loop.run_tick(until_ms)

    def run_to(self, place: Document) -> None:
        """Run to the place at which a command took effect in an earlier run (`engine` of a command object's status)."""
        at_ms: int = place["atMs"]
        while self.events_run < place["events"] and self._loop.run_tick(max(at_ms, self.now_ms)):
            pass
        self._loop.settle_at(at_ms)
        self._loop.promise(place["horizonMs"])

    # -- commands -----------------------------------------------------------------------------------------------

    def obey(self, real_unix_ms: int, present_ms: int | None = None) -> None:
        """Obey new generations of command objects, and say so in their status.

        Args:
            real_unix_ms: the wall clock, which the clock's status anchors simulated time to.
            present_ms: the simulated time that it is at that moment; None: that of the last event.
        """
        stored = self.store.get(CLOCKS, "", CLOCK)
        if stored is not None and present_ms is not None and not self.clock.paused:
            self._reach(ClockCommand.of(stored.object), real_unix_ms, present_ms)
        if stored is not None and generation_of(stored.object) != self._generation:
            self.obey_clock(stored.object)
        for identity in self._replicas:
            found = self.store.get(REPLICAS, "", identity)
            if found is not None and generation_of(found.object) != self._obeyed[identity].generation:
                place = self._place()
                self.obey_replica(found.object)
                self._tell_replica(identity, place)
        self.clock.held = self._stepper.held() if self.clock.paused else None
        if stored is not None:
            self.tell_clock(real_unix_ms, present_ms)
        self._telling.configuration()

    def tell_clock(self, real_unix_ms: int, present_ms: int | None, *, anew: bool = False) -> None:
        """Say what time it is, if readers would be wrong about it; see `ClockTeller.tell`."""
        self.teller.tell(self._generation, self._taken_step, real_unix_ms, present_ms, anew=anew)

    def _reach(self, command: ClockCommand, real_unix_ms: int, present_ms: int) -> None:
        """Let time come to the present, in which commands take effect.

        Where more is due than was run, that is for events to do; only before time stands it comes to what readers were
        shown, and what was due until then runs late.
        """
        due_ms = self._loop.next_event_ms()
        if due_ms is None or due_ms > present_ms:
            self._loop.settle_at(present_ms)
        elif command.generation != self._generation and (command.paused or command.step is not None):
            self._loop.settle_at(self.teller.shown_ms(real_unix_ms))

    def obey_clock(self, document: Document) -> None:
        """Do what a clock's spec asks for: pause, rate, pace, steps."""
        command = ClockCommand.of(document)
        clock = self.clock
        self.teller.engine = self._place()
        self._generation = command.generation
        if (clock.rate, clock.pace) != (command.rate, command.pace):
            clock.rate, clock.pace = command.rate, command.pace
            self._stepper.tell()
        if command.step is not None and command.step.id > self._taken_step:
            clock.paused = True
            self._taken_step = command.step.id
            clock.stepped = self._stepper.step(command.step)
            return
        if clock.paused and not command.paused:
            self._stepper.hold(False)
        clock.paused = command.paused

    def obey_replica(self, document: Document) -> None:
        """Do what a replica's spec asks for: a verdict on a pod that Permit holds, a fault."""
        command = ReplicaCommand.of(document)
        slot, known = self._replicas[command.identity], self._obeyed[command.identity]
        verdict = command.verdict
        if verdict is not None and verdict.id != (known.verdict or {}).get("id"):
            outcome = {"id": verdict.id, "uid": verdict.uid, "outcome": self._stepper.judge(slot, verdict)}
            known = replace(known, verdict=outcome)
        known = self._obeyed[command.identity] = replace(known, generation=command.generation)
        if command.fault is not None and command.fault.id != known.fault_id:
            self.faults.begin(slot, command.fault)
            self._obeyed[command.identity] = replace(known, fault_id=command.fault.id)

    def _place(self) -> Document:
        """Return the present place in the run: a second run lets a command take effect at the same."""
        self._order += 1
        return {
            "order": self._order,
            "events": self.events_run,
            "atMs": self.now_ms,
            "horizonMs": self._loop.horizon_ms,
        }

    def metrics(self) -> Mapping[str, Metrics]:
        """Return what the schedulers that live have counted and timed, by identity."""
        return {slot.name: scheduler.metrics() for slot, scheduler in self._stepper.schedulers()}

    # -- what the session's component asks ------------------------------------------------------------------------

    def slot_of(self, identity: str) -> Slot | None:
        """Return a replica's place in the loop."""
        return self._replicas.get(identity)

    def obeyed(self, identity: str) -> Obeyed:
        """Return what was last obeyed of a replica's spec."""
        return self._obeyed[identity]

    # -- statuses -----------------------------------------------------------------------------------------------

    def _after_event(self, slot: Slot, tick: Tick) -> None:
        """Write a replica's status when its election has moved."""
        replica = slot.component
        if not isinstance(replica, Replica) or self._session_slot is None:
            return
        lease = replica.lease_view() or {}
        seen = (replica.leading, replica.last_branch, lease.get("holder"), slot.incarnation, self.faults.of(slot))
        if self._seen.get(slot.name) != seen:
            self._seen[slot.name] = seen
            self._session.show_replica(slot.name, self._loop.tick_of(self._session_slot))

    def _tell_replica(self, identity: str, place: Document) -> None:
        """Say what a fault has made of a replica, at once: time may stand."""
        slot = self._replicas[identity]
        status = replica_status(slot, self._obeyed[identity], self.faults.of(slot), self.now_ms)
        patch = {"status": {**status, "engine": place}}
        self._client.apply(Patch(REPLICAS, "", identity, patch, "merge", "status"), NAME)

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
        results.append(client.apply(Create(kind.resource, namespace, document), actor))
    return results
