"""One control plane over a store, driven: its rooms put together behind one face.

`Cluster` is what drives a session: the worker on real time, `simulate`, tests and benchmarks headless. See
`controllers/loop/loop.py` for what holds inside. `assembly` puts components into the loop, `obeying` obeys commands,
`stepping` steps. Each status has one writer: `clocktelling`, `replicatelling`, `flagging`, `scheduler.telling`
(the configuration's), `scheduler.reporting` (a queue's), `replay`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from controllers.assembly import Assembly, Given
from controllers.bootstrap import initial_objects
from controllers.clocktelling import ClockTeller
from controllers.commands import CLOCKS, REPLICAS, ClockView
from controllers.faults.active import Faults
from controllers.flagging import Flagging
from controllers.flags.flag import InForce
from controllers.flags.table import RESOURCE as FLAGS
from controllers.inside import behind_of, others_started, replica_inside
from controllers.kinds.table import by_kind
from controllers.kit.client import Client
from controllers.kit.manager import ControllerManager, Keys
from controllers.leaderelection.replica import Replica
from controllers.log.operations import Create, Result
from controllers.log.store import Store
from controllers.loop.loop import Loop, Slot
from controllers.obeying import Obeying
from controllers.outside import CarryOut, Outside, refuse
from controllers.proxy import Traffic
from controllers.replicatelling import ReplicaTeller
from controllers.scheduler.telling import StandIn
from controllers.stepping import Stepper
from controllers.watching import watches
from scheduler_core.api.document import Document
from scheduler_core.framework.metrics import Metrics


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
        keys: Keys | None = None,
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
            keys: sign tokens and certificates; None: there are none, and none is made.
        """
        self.store = store
        self.clock = ClockView()
        self.obeys_pause = True
        """A run from the log takes every event at its time and passes over pauses."""
        client = Client(store, fence=fence)
        loop = self._loop = Loop(store, client.commit, now_ms=store.horizon_ms, advance_horizon=client.advance_horizon)
        self._replicas: dict[str, Slot] = {}
        faults = Faults(loop)
        stepper = self._stepper = Stepper(loop, self._replicas, self.clock)
        self.teller = ClockTeller(loop, client, stepper, self.clock)
        replica_teller = ReplicaTeller(loop, client, self._replicas, faults)
        self._configuration = StandIn(store, client, lambda: self.clock.paused, stepper.leads)
        self.flags = InForce()
        """The flags that components run with."""
        given = Given(kubelets, on_failure, timer, keys)
        self._assembly = Assembly(loop, self._replicas, stepper, self.clock, replica_teller, given, self.flags)
        self._obeying = Obeying(store, loop, self._replicas, self.clock, stepper, faults, self.teller, replica_teller)
        self._flagging = Flagging(store, loop, client, self.flags, self._obeying.place)
        self.outside = Outside(loop, replica_teller, stepper, self._obeying.place, call)

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
        self._obeying.take_up_clock()
        self._flagging.take_up()
        self._assembly.add_session()
        for stored in self.store.list(REPLICAS)[0]:
            self._assembly.add_replica(stored.object)
            self._obeying.take_up_replica(stored.object)
        self._assembly.add_others()
        if self.clock.paused and self.obeys_pause:
            # Replicas take up what they had in hand, and rest where their former owner had left it.
            self._stepper.hold(True)
            self._stepper.run_present()

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
            self._obeying.stand()
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
        count = self._loop.run_tick(until_ms)
        self._obeying.stand()
        return count

    def end_run(self, real_unix_ms: int) -> None:
        """End the run under way if its real time is over."""
        self._obeying.running.expire(real_unix_ms)

    def run_starts(self) -> None:
        """Run the ticks in which components start, which list all that they watch; nothing else that is due."""
        if not (self.clock.paused and self.obeys_pause):
            while self._loop.starts_are_due and self._loop.run_tick(self._loop.now_ms):
                self._obeying.stand()

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
        self._obeying.obey(real_unix_ms, present_ms)
        self._flagging.obey()
        self._configuration.tell()

    def tell_clock(self, real_unix_ms: int, present_ms: int | None, *, anew: bool = False) -> None:
        """Say what time it is, if readers would be wrong about it; see `ClockTeller.tell`."""
        self._obeying.tell_clock(real_unix_ms, present_ms, anew=anew)

    def obey_again(self, resource: str, document: Document) -> None:
        """Obey a command of an earlier run again; its log says already what came of it."""
        if resource == CLOCKS:
            self._obeying.clock(document)
        elif resource == FLAGS:
            self._flagging.change(document)
        else:
            self._obeying.replica(document)

    # -- what runs ----------------------------------------------------------------------------------------------

    def slot_of(self, identity: str) -> Slot | None:
        """Return a replica's place in the loop."""
        return self._replicas.get(identity)

    def panels(self) -> dict[str, list[Document]]:
        """Return what the controllers of the managers that live are at, by identity."""
        found: dict[str, list[Document]] = {}
        for slot in self._replicas.values():
            inner = slot.component.inner if isinstance(slot.component, Replica) else None
            if isinstance(inner, ControllerManager):
                now_ms = slot.clock.local(self._loop.now_ms)
                behind = behind_of(self._loop.store, slot, inner.informers)
                found[slot.name] = [inner.panel(name, now_ms, behind) for name in inner.controllers]
        return found

    def insides(self) -> dict[str, Document]:
        """Return what the replicas that live are at, by identity, and how the others are, proxies too (`""`)."""
        found = {name: replica_inside(self._loop, slot, self.flags) for name, slot in self._replicas.items()}
        slot = self._loop.slots.get("kube-proxy")
        traffic = None if slot is None else slot.component
        proxies = traffic.proxies() if isinstance(traffic, Traffic) else []
        others: Document = {"components": others_started(self._loop, self.flags), "proxies": proxies}
        return {"": others, **{name: one for name, one in found.items() if one is not None}}

    def watches(self) -> list[Document]:
        """Return what each component watches, and how far behind it is."""
        return watches(self._loop)

    def metrics(self) -> Mapping[str, Metrics]:
        """Return what the schedulers that live have counted and timed, by identity."""
        return {slot.name: scheduler.metrics() for slot, scheduler in self._stepper.schedulers()}


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
