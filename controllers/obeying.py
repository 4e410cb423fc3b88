"""Obeying new generations of the command objects, and remembering what was obeyed.

They are read from the store itself, not through a watch: a command is obeyed while time stands, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from controllers.clocktelling import ClockTeller
from controllers.commands import (
    CLOCK,
    CLOCKS,
    REPLICAS,
    ClockCommand,
    ClockView,
    Obeyed,
    ReplicaCommand,
    RunTold,
    active_of,
    generation_of,
)
from controllers.faults.active import Faults
from controllers.log.store import Store
from controllers.loop.loop import Loop, Slot
from controllers.registry.models import clustersim_v1 as api
from controllers.registry.structs import read
from controllers.replicatelling import ReplicaTeller
from controllers.running import Running
from controllers.stepping import Stepper
from scheduler_core.api.document import Document


class Obeying:
    """Carries out what the command objects of one session ask for."""

    def __init__(
        self,
        store: Store,
        loop: Loop,
        replicas: Mapping[str, Slot],
        clock: ClockView,
        stepper: Stepper,
        faults: Faults,
        clock_teller: ClockTeller,
        replica_teller: ReplicaTeller,
    ) -> None:
        """Obey nothing yet.

        Args:
            store: holds the command objects.
            loop: whose time and components they command.
            replicas: the places of replicas in the loop, by identity.
            clock: where what was obeyed of the clock is kept for all to read.
            stepper: carries out pace, holds, steps and verdicts.
            faults: carries out faults.
            clock_teller: says in the clock's status what was obeyed.
            replica_teller: says it in a replica's.
        """
        self._store = store
        self._loop = loop
        self._replicas = replicas
        self._clock = clock
        self._stepper = stepper
        self._faults = faults
        self._clock_teller = clock_teller
        self._replica_teller = replica_teller
        self._generation = 0
        """The clock's generation as last obeyed."""
        self._taken_step = 0
        self._order = 0
        """How many commands have taken effect."""
        self.running = Running(store, loop, clock)
        self._taken_run = 0
        self._stood = False
        """Time stands at the pod that was asked for, and nobody has been told yet."""

    # -- taking up ------------------------------------------------------------------------------------------------

    def take_up_clock(self) -> None:
        """Go on as the clock's status says; a session that has none yet begins as its spec asks."""
        stored = self._store.get(CLOCKS, "", CLOCK)
        if stored is None:
            return
        document = stored.object
        status = read(document.get("status"), api.ClockStatus)
        self._clock_teller.take_up(msgspec.to_builtins(status))
        command = ClockCommand.of(document)
        self._generation = status.observed_generation
        self._taken_step = status.step_id
        self._clock.paused = command.paused if status.paused is None else status.paused
        self._clock.pace = command.pace if status.pace is None else status.pace
        self._clock.rate = command.rate if status.rate is None else status.rate
        self._clock.hold = command.hold
        told = RunTold.of(status.run)
        # A fork whose clock is asked for no run goes on without the one that its session was in.
        self._clock.run = None if told is not None and told.state == "running" and command.run is None else told
        # One that was under way begins anew.
        self._taken_run = 0 if self._clock.run is None else self._clock.run.id - self._clock.runs_on

    def take_up_replica(self, document: Document) -> None:
        """Go on as a replica's status says, with the fault that it has."""
        identity = document["metadata"]["name"]
        slot = self._replicas.get(identity)
        if slot is None:
            return
        self._replica_teller.obeyed[identity] = Obeyed.of(document)
        for left in active_of(document):
            self._faults.take_up(slot, left)

    # -- obeying --------------------------------------------------------------------------------------------------

    def obey(self, real_unix_ms: int, present_ms: int | None) -> None:
        """Obey what is new, and say so in its status; see `Cluster.obey`."""
        stored = self._store.get(CLOCKS, "", CLOCK)
        if stored is not None and present_ms is not None and not self._clock.paused:
            self._reach(ClockCommand.of(stored.object), real_unix_ms, present_ms)
        if stored is not None and (generation_of(stored.object) != self._generation or self._run_is_left):
            self.clock(stored.object)
            self._begin_run(ClockCommand.of(stored.object), real_unix_ms)
        self.running.expire(real_unix_ms)
        for identity in self._replicas:
            found = self._store.get(REPLICAS, "", identity)
            if found is not None and generation_of(found.object) != self._replica_teller.obeyed[identity].generation:
                place = self.place()
                self.replica(found.object)
                self._replica_teller.tell_obeyed(identity, place)
        self._clock.held = self._stepper.held() if self._clock.paused else None
        if stored is not None:
            self.tell_clock(real_unix_ms, present_ms)

    def stand(self) -> None:
        """Let time stand if the pod has come in hand that it is to stand at, or if a run has come to its end."""
        if self._clock.hold is not None and not self._clock.paused:
            stayed = self._stepper.stayed()
            if stayed is not None:
                self._clock.paused, self._clock.held = True, stayed
                self._stood = True
        self.running.look()

    @property
    def _run_is_left(self) -> bool:
        """Return whether a run is told to be under way that this owner has not begun."""
        return self._clock.runs_on and not self.running.is_on

    def _begin_run(self, command: ClockCommand, real_unix_ms: int) -> None:
        if command.run is not None and command.run.id > self._taken_run:
            self._taken_run = command.run.id
            self._stepper.hold(False)
            self.running.begin(command.run, real_unix_ms)

    def tell_clock(self, real_unix_ms: int, present_ms: int | None, *, anew: bool = False) -> None:
        """Say what time it is, if readers would be wrong about it; see `ClockTeller.tell`."""
        if self._stood:
            # By itself, and readers were shown more than the time at which the cycle began.
            self._stood = False
            self._loop.settle_at(self._clock_teller.shown_ms(real_unix_ms))
        self._clock_teller.tell(self._generation, self._taken_step, real_unix_ms, present_ms, anew=anew)

    def _reach(self, command: ClockCommand, real_unix_ms: int, present_ms: int) -> None:
        """Let time come to the present, in which commands take effect.

        Where more is due than was run, that is for events to do; only before time stands it comes to what readers were
        shown, and what was due until then runs late.
        """
        due_ms = self._loop.next_event_ms()
        if due_ms is None or due_ms > present_ms:
            self._loop.settle_at(present_ms)
        elif command.generation != self._generation and (command.paused or command.step is not None):
            self._loop.settle_at(self._clock_teller.shown_ms(real_unix_ms))

    def clock(self, document: Document) -> None:
        """Do what a clock's spec asks for: pause, rate, pace, steps."""
        command = ClockCommand.of(document)
        clock = self._clock
        self._clock_teller.engine = self.place()
        self._generation = command.generation
        if (clock.rate, clock.pace, clock.hold) != (command.rate, command.pace, command.hold):
            clock.rate, clock.pace, clock.hold = command.rate, command.pace, command.hold
            self._stepper.tell()
        if command.step is not None and command.step.id > self._taken_step:
            clock.paused = True
            self._taken_step = command.step.id
            clock.stepped = self._stepper.step(command.step)
            return
        if command.run is None:
            self.running.stop("it was called off")
        elif clock.runs_on and command.run.id == self._taken_run:
            return
        if clock.paused and not command.paused:
            self._stepper.hold(False)
        clock.paused = command.paused

    def replica(self, document: Document) -> None:
        """Do what a replica's spec asks for: a verdict on a pod that Permit holds, a fault."""
        command = ReplicaCommand.of(document)
        obeyed = self._replica_teller.obeyed
        slot, known = self._replicas[command.identity], obeyed[command.identity]
        verdict = command.verdict
        if verdict is not None and verdict.id != (known.verdict or {}).get("id"):
            outcome = {"id": verdict.id, "uid": verdict.uid, "outcome": self._stepper.judge(slot, verdict)}
            known = replace(known, verdict=outcome)
        known = obeyed[command.identity] = replace(known, generation=command.generation)
        if command.fault is not None and command.fault.id != known.fault_id:
            self._faults.begin(slot, command.fault)
            obeyed[command.identity] = replace(known, fault_id=command.fault.id)
        self._replica_teller.note(slot)

    def place(self) -> Document:
        """Return the present place in the run: a second run lets a command take effect at the same."""
        self._order += 1
        return {
            "order": self._order,
            "events": self._loop.events_run,
            "atMs": self._loop.now_ms,
            "horizonMs": self._loop.horizon_ms,
        }
