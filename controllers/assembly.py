"""Putting one session's control plane together: what runs in its loop, and how what failed comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.apiserver import ApiServers
from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER
from controllers.commands import REPLICAS, SESSION, ClockView
from controllers.flags.election import STORED
from controllers.flags.flag import InForce
from controllers.flags.table import ELECTIONS
from controllers.kinds.coordination.apiservers import API_SERVER
from controllers.kit.manager import ControllerManager, Keys
from controllers.kubelet import Kubelets
from controllers.leaderelection.elector import Settings
from controllers.leaderelection.replica import Configuration, Replica
from controllers.leaderelection.standing import Standing
from controllers.loop.loop import Elected, Loop, Slot, Tick
from controllers.proxy import ContainerWire, Traffic
from controllers.registry.models import clustersim_v1 as api
from controllers.registry.structs import read
from controllers.replay import ReplayComponent
from controllers.replicatelling import ReplicaTeller
from controllers.scheduler.component import SchedulerComponent
from controllers.scheduler.reporting import QUEUES
from controllers.scheduler.settings import RESOURCE as CONFIGURATIONS
from controllers.session import SessionComponent
from controllers.stepping import Stepper
from controllers.table import CONTROLLERS
from scheduler_core.api.document import Document

OWN: Final = frozenset({REPLICAS, QUEUES, CONFIGURATIONS})
"""Kinds by which the session shows a replica, and commands it: no traffic of the replica's own."""

RESTART_MS: Final = 1_000
"""A component that failed is started again after this long."""


@dataclass(frozen=True, slots=True)
class Given:
    """What whoever owns the session hands in.

    Attributes:
        kubelets: whether hollow kubelets run; without them pods stay bound and Pending.
        on_failure: told (component, exception) when a component fails; None: exceptions come out of the loop.
        timer: real nanoseconds, for durations in the schedulers' metrics; None: they are not measured.
        keys: sign tokens and certificates; None: there are none, and none is made.
    """

    kubelets: bool = True
    on_failure: Callable[[str, Exception], None] | None = None
    timer: Callable[[], int] | None = None
    keys: Keys | None = None


class Assembly:
    """Adds the components of one session to its loop."""

    def __init__(
        self,
        loop: Loop,
        replicas: dict[str, Slot],
        stepper: Stepper,
        clock: ClockView,
        teller: ReplicaTeller,
        given: Given,
        flags: InForce,
    ) -> None:
        """Hang into the loop; it stays empty.

        Args:
            loop: where components run.
            replicas: where the places of replicas are put, by identity.
            stepper: knows whether schedulers hold.
            clock: pace and rate, which schedulers are told.
            teller: says what has become of a replica.
            given: what runs, and who is told of failures.
            flags: the flags in force, which components are handed.
        """
        self._flags = flags
        self._loop = loop
        self._replicas = replicas
        self._stepper = stepper
        self._clock = clock
        self._teller = teller
        self._given = given
        self._session = SessionComponent(teller)
        self._session_slot: Slot | None = None
        loop.after_event = self._after_event
        if given.on_failure is not None:
            loop.on_failure = self._failed

    def add_session(self) -> None:
        """Add the session's own component: the first of all."""
        self._session_slot = self._loop.add(SESSION, lambda: self._session, priority=0)

    def add_others(self) -> None:
        """Add what is no replica."""
        if self._given.kubelets:
            self._loop.add("kubelet", lambda: Kubelets(self._flags, ContainerWire(self._flags)))
        self._loop.add(API_SERVER, ApiServers)
        self._loop.add("replay", ReplayComponent)
        self._loop.add("kube-proxy", lambda: Traffic(self._flags))

    def add_replica(self, document: Document) -> None:
        """Add what a document of `replicas.clustersim.io` names; nothing where no component is called so."""
        identity = document["metadata"]["name"]
        component = str(read(document.get("spec"), api.ReplicaSpec).component)
        source = "default-scheduler" if component == SCHEDULER else component
        inner = self._inner_of(identity, component)
        if inner is None:
            return

        standing = self._teller.standings[identity] = Standing(read(document.get("status"), api.ReplicaStatus))

        def make() -> Replica:
            return Replica(
                identity,
                inner,
                source=source,
                configuration=lambda: election_of(self._flags, component),
                standing=standing,
            )

        slot = self._replicas[identity] = self._loop.add(identity, make)
        slot.own = OWN

    def _inner_of(self, identity: str, component: str) -> Callable[[], Elected] | None:
        """Return what makes the component that a replica runs while it leads."""
        if component == CONTROLLER_MANAGER:
            return lambda: ControllerManager(identity, CONTROLLERS, self._flags, self._given.keys)
        if component == SCHEDULER:

            def make() -> Elected:
                scheduler = SchedulerComponent(identity, self._given.timer, self._flags)
                scheduler.tell(*self._stepper.told)
                return scheduler

            return make
        return None

    def _after_event(self, slot: Slot, tick: Tick) -> None:
        """Let a replica's status be written when its election has moved."""
        if self._session_slot is not None and self._teller.has_moved(slot):
            self._session.show_replica(slot.name, self._loop.tick_of(self._session_slot))

    def _failed(self, slot: Slot, error: Exception) -> None:
        assert self._given.on_failure is not None, "the loop hands failures on only where somebody is told"
        self._given.on_failure(slot.name, error)
        self._loop.recover_at(slot, self._loop.now_ms + RESTART_MS)


def election_of(flags: InForce, component: str) -> Configuration:
    """Return how a component's replicas elect by the flags in force."""
    election = ELECTIONS[component]
    return Configuration(
        elect=flags[election.elect],
        settings=Settings(
            flags[election.lease_duration],
            flags[election.renew_deadline],
            flags[election.retry_period],
            trusts_stored_times=flags[election.expiry] == STORED,
        ),
        resource_lock=flags[election.resource_lock],
        resource_namespace=flags[election.resource_namespace],
        resource_name=flags[election.resource_name],
    )
