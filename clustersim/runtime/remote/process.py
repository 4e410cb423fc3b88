"""One replica as a process: the same component and elector as inside a session, over the HTTP API, on session time.

Watches are read by a thread each and put into a mirror of the store; the loop runs over it, and what it writes are
requests. While the session is paused nothing runs, the election neither.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final

from clustersim.plugins import installed
from clustersim.runtime import realtime
from clustersim.runtime.remote.client import ApiClient
from clustersim.runtime.remote.mirror import MirrorStore
from clustersim.runtime.remote.sessionclock import SessionClock
from controllers.assembly import OWN, election_of
from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER
from controllers.custom.kinds import RESOURCE as DEFINITIONS
from controllers.faults.process import RELEASE_TIMER
from controllers.flags.flag import InForce
from controllers.flags.held import flags_of
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.flags.table import read_flags
from controllers.kinds.table import TABLE, find_resource
from controllers.kit.manager import ControllerManager
from controllers.leaderelection.replica import Replica
from controllers.leaderelection.standing import EXIT_LOST, Standing
from controllers.log.operations import Result, resource_of
from controllers.log.store import Verb
from controllers.loop.component import DEFINED
from controllers.loop.loop import Elected, Emission, Loop
from controllers.registry.kind import Kind
from controllers.scheduler.component import SchedulerComponent
from controllers.table import CONTROLLERS
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

logger = logging.getLogger(__name__)

COMPONENTS: Final = (SCHEDULER, CONTROLLER_MANAGER)

IDLE_SECONDS: Final = 0.1
"""Longest sleep: a change of the clock is noticed after it."""

RETRY_SECONDS: Final = 1.0
"""How long after a watch broke off it is begun anew."""

NewClient = Callable[[Callable[[str], Kind | None]], ApiClient]
"""Makes a client that finds kinds by this: group resource → kind."""

Arrived = tuple[str, Verb | None, Any]
"""(resource, verb, document); no verb: a whole list."""


class RemoteReplica:
    """A replica that takes part from outside."""

    def __init__(self, new_client: NewClient, component: str, identity: str) -> None:
        """Reach the session and read its flags.

        Args:
            new_client: each thread has one.
            component: one of `COMPONENTS`.
            identity: written into the lock.

        Raises:
            ApiError: the session cannot be reached, or the token is not good for it.
        """
        self._new_client = new_client
        self._defined: dict[str, Kind] = {}
        self._ends: dict[str, threading.Event] = {}
        self._client = new_client(self._find)
        self._clock = SessionClock(self._client)
        self._flags = InForce()
        found = self._client.get(FLAGS, "", FLAGS_NAME)
        self._flags.current = read_flags((found or {}).get("spec"))
        self._standing = Standing()
        self._stop = threading.Event()
        self._arrived: SimpleQueue[Arrived] = SimpleQueue()
        self._missing: set[str] = set()
        self._rests = False

        def inner() -> Elected:
            if component == SCHEDULER:
                return SchedulerComponent(identity, realtime.timer_ns, self._flags)
            return ControllerManager(identity, CONTROLLERS, self._flags)

        def make() -> Replica:
            return Replica(
                identity,
                inner,
                source="default-scheduler" if component == SCHEDULER else component,
                configuration=lambda: election_of(self._flags, component),
                standing=self._standing,
            )

        lock = make().lock
        self._store = MirrorStore(
            seed=realtime.timer_ns(),
            epoch_ms=self._clock.epoch_ms,
            plugins=installed().registry,
            live=self._client.get,
            fresh=frozenset({lock.resource, "leases.coordination.k8s.io"}),
        )
        self._loop = Loop(self._store, self._commit, now_ms=self._clock.now_ms(), advance_horizon=lambda now_ms: None)
        wanted = make().resources
        self._follows_definitions = DEFINED in wanted
        self._watched = (wanted | {FLAGS}) - {DEFINED}
        self._make = make
        self._identity = identity

    def stop(self) -> None:
        """Let `run` give the lease up and return."""
        self._stop.set()

    def run(self) -> int:
        """Take part until `stop`, or until the lease is lost; return the exit code, as kube-scheduler's."""
        self._missing = set(self._watched)
        for resource in sorted(self._watched):
            self._begin_watch(resource)
        while self._missing and not self._stop.is_set():
            self._take()
        slot = self._loop.add(self._identity, self._make)
        led = False
        while not self._stop.is_set():
            self._take()
            self._advance()
            led = self._told(slot.component, led)
            if self._standing.last_exit is not None and self._standing.last_exit.code == EXIT_LOST:
                logger.error("%s: %s", self._identity, self._standing.last_exit.reason)
                return EXIT_LOST
        if slot.running:
            self._loop.plan(slot, RELEASE_TIMER, self._loop.now_ms)
            while self._loop.run_tick(self._loop.now_ms):
                pass
        return 0

    def _told(self, component: object, led: bool) -> bool:
        leading = isinstance(component, Replica) and component.leading
        if leading != led:
            logger.info("%s %s", self._identity, "became leader" if leading else "stopped leading")
        return leading

    # -- time ---------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        try:
            if self._clock.is_stale():
                self._clock.ask()
        except ApiError as refused:
            # A fact like a lost watch: time is reckoned on for a moment, then stands until the session answers.
            logger.warning("the session's clock cannot be read: %s", refused.message)
        if self._clock.paused != self._rests:
            self._rests = self._clock.paused
            logger.info("%s: the session's time %s", self._identity, "stands" if self._rests else "goes on")
        if self._rests:
            return
        now_ms = self._clock.now_ms()
        while self._loop.run_tick(now_ms):
            now_ms = self._clock.now_ms()
        self._loop.settle_at(now_ms)

    # -- what arrives -------------------------------------------------------------------------------------------

    def _take(self) -> None:
        for resource, verb, document in self._waiting():
            if self._find(resource) is None:
                continue  # its definition has gone meanwhile
            now_ms = self._loop.now_ms
            if verb is None:
                self._store.relist(resource, document, now_ms)
                self._missing.discard(resource)
            else:
                self._store.take(verb, resource, document, now_ms)
            if resource == FLAGS:
                self._flags_changed()
            if resource == DEFINITIONS and self._follows_definitions:
                self._follow_definitions()

    def _waiting(self) -> list[Arrived]:
        """Return what has arrived; wait a moment where nothing has."""
        arrived: list[Arrived] = []
        try:
            arrived.append(self._arrived.get(timeout=IDLE_SECONDS))
            while True:
                arrived.append(self._arrived.get_nowait())
        except Empty:
            return arrived

    def _flags_changed(self) -> None:
        self._flags.current = flags_of(self._store)
        slot = self._loop.slots.get(self._identity)
        if slot is not None and isinstance(slot.component, Replica):
            slot.component.flags_changed(self._loop.tick_of(slot))

    def _find(self, resource: str) -> Kind | None:
        """Return the kind of a group resource; any thread may ask."""
        return find_resource(resource) or self._defined.get(resource)

    def _follow_definitions(self) -> None:
        """Watch what the session defines, each as long as its definition is there."""
        served: dict[str, Kind] = {}
        for kind in TABLE.of(self._store).served:
            if kind.kept_in:
                served.setdefault(kind.kept_in, kind)
        for resource in self._ends.keys() - served.keys():
            self._ends.pop(resource).set()
            self._store.relist(resource, [], self._loop.now_ms)
        self._defined = served
        for resource in sorted(served.keys() - self._ends.keys()):
            self._ends[resource] = self._begin_watch(resource)

    def _begin_watch(self, resource: str) -> threading.Event:
        """Start the thread that watches a resource; return what ends it."""
        ends = threading.Event()
        threading.Thread(target=self._watch, args=(resource, ends), name=f"watch-{resource}", daemon=True).start()
        return ends

    def _watch(self, resource: str, ends: threading.Event) -> None:
        """Thread: list, watch, and again."""
        client = self._new_client(self._find)
        version = ""
        while not self._stop.is_set() and not ends.is_set():
            try:
                if not version:
                    found = client.list(resource)
                    version = found["metadata"]["resourceVersion"]
                    self._arrived.put((resource, None, found["items"]))
                for event in client.watch(resource, version):
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._arrived.put((resource, event["type"], event["object"]))
            except ApiError as refused:
                if refused.code in (401, 403, 410):
                    version = ""
                if refused.code != 410 and not ends.is_set():
                    logger.warning("watch of %s: %s", resource, refused.message)
                    ends.wait(RETRY_SECONDS)

    # -- what is written ----------------------------------------------------------------------------------------

    def _commit(self, emissions: Sequence[Emission], now_ms: int, read: int) -> tuple[list[Result], int]:
        """Send each operation as a request. Traces and statuses of command objects are the session's own affair."""
        results: list[Result] = []
        for emission in emissions:
            operation = emission.operation
            if operation is None:
                continue
            if resource_of(operation) in OWN:
                kept: Document = {"metadata": {}}
                results.append(Result(operation, kept, None, 0))
            else:
                results.append(self._client.write(operation))
        return results, 0
