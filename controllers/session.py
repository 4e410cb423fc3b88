"""The session's own component: obeys the command objects, and says in their status what has become of them.

Its entries run before all others of the same time, so a command takes effect at a place in the log that a second run
finds again. What depends on real time (the clock's status) is not written here but by the cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from controllers.leaderelection.replica import Replica
from controllers.machinery.informer import RELIST_TIMER, Informers
from controllers.machinery.loop import Answer, Slot, Tick
from controllers.machinery.operations import Patch
from controllers.machinery.recorder import sweep
from controllers.machinery.store import Event

Document = dict[str, Any]

NAME: Final = "session"
CLOCKS: Final = "clocks.clustersim.io"
CLOCK: Final = "clock"
REPLICAS: Final = "replicas.clustersim.io"
CONFIGURATIONS: Final = "schedulerconfigs.clustersim.io"

SWEEP_MS: Final = 60_000
"""How often Events that have outlived their hour are looked for."""

SWEEP_MAX: Final = 200
"""Events removed in one round; what is left goes in rounds that follow at once."""

_SWEEP: Final = "sweep"
_RECOVER: Final = "recover"


@dataclass(frozen=True, slots=True)
class Step:
    """Steps that were asked for: `by` is point, cycle, event or seconds."""

    id: int
    by: str
    count: int


class Cluster(Protocol):
    """What the session's component carries out."""

    def set_pace(self, pace_ms: int) -> None:
        """Set how long cycles rest at an extension point."""

    def ask_step(self, step: Step) -> None:
        """Take note of steps that were asked for; they are taken when the present entry is over."""

    def crash(self, identity: str) -> None:
        """Stop a replica."""

    def recover(self, identity: str) -> None:
        """Start a stopped replica."""

    def slot_of(self, identity: str) -> Slot | None:
        """Return a replica's place in the loop."""


class SessionComponent:
    """Watches command objects and Events."""

    resources = frozenset({CLOCKS, REPLICAS, CONFIGURATIONS, "events"})

    def __init__(self, cluster: Cluster) -> None:
        """Obey on behalf of this cluster."""
        self.clock: Document | None = None
        """The clock's object as last observed."""
        self.step_id = 0
        """The newest request for steps that was taken note of."""
        self._cluster = cluster
        self._informers = Informers(self.resources, identity=NAME)
        self._changed: dict[str, None] = {}
        self._fault_ids: dict[str, int] = {}
        self._recover_at_ms: dict[str, int] = {}
        self._shown: dict[str, Document] = {}
        self._informers[CLOCKS].add_handler(self._clock_changed)
        self._informers[REPLICAS].add_handler(self._replica_changed)

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Take up what the command objects hold; what was observed before is not done again."""
        self._informers.start(tick)
        clock = self.clock
        if clock is not None:
            self.step_id = int((clock.get("status") or {}).get("stepId") or 0)
        for document in self._informers[REPLICAS].all():
            identity, status = document["metadata"]["name"], document.get("status") or {}
            self._fault_ids[identity] = int(status.get("faultId") or 0)
            if status.get("state") == "Crashed" and status.get("recoverAtMs") is not None:
                self._plan_recovery(identity, int(status["recoverAtMs"]), tick)
        self._obey(tick)
        tick.plan(_SWEEP, tick.now_ms + SWEEP_MS)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Obey what has changed."""
        self._informers.observe(rows)
        self._obey(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A status that was refused is not written again: the next change writes it anew."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """List again, or remove old Events."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
            self._obey(tick)
        elif isinstance(timer, tuple):
            _, identity = timer
            self._recover_at_ms.pop(identity, None)
            self._cluster.recover(identity)
            self.show_replica(identity, tick)
        else:
            due = sweep(self._informers["events"].all(), tick.epoch_ms + tick.now_ms)
            for operation in due[:SWEEP_MAX]:
                tick.emit(operation)
            tick.plan(_SWEEP, tick.now_ms + (SWEEP_MS if len(due) <= SWEEP_MAX else 1))

    # -- commands -----------------------------------------------------------------------------------------------

    def _clock_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        if document is not None and document["metadata"]["name"] == CLOCK:
            self.clock = new
            self._changed[CLOCK] = None

    def _replica_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            self._changed[new["metadata"]["name"]] = None

    def _obey(self, tick: Tick) -> None:
        changed, self._changed = self._changed, {}
        for name in changed:
            if name == CLOCK:
                self._obey_clock()
            else:
                self._obey_replica(name, tick)

    def _obey_clock(self) -> None:
        spec = self.spec
        self._cluster.set_pace(int(spec.get("pace") or 0))
        step = spec.get("step") or {}
        if int(step.get("id") or 0) > self.step_id:
            self.step_id = int(step["id"])
            self._cluster.ask_step(Step(self.step_id, step.get("by") or "event", int(step.get("count") or 1)))

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return what is asked of the clock."""
        return (self.clock or {}).get("spec") or {}

    def _obey_replica(self, identity: str, tick: Tick) -> None:
        document = self._informers[REPLICAS].get("", identity)
        if document is None or self._cluster.slot_of(identity) is None:
            return
        fault = (document.get("spec") or {}).get("fault") or {}
        fault_id = int(fault.get("id") or 0)
        if fault and fault_id != self._fault_ids.get(identity, 0):
            self._fault_ids[identity] = fault_id
            self._recover_at_ms.pop(identity, None)
            tick.cancel((_RECOVER, identity))
            if fault.get("kind") == "crash":
                self._cluster.crash(identity)
                if fault.get("seconds"):
                    self._plan_recovery(identity, tick.now_ms + int(fault["seconds"] * 1000), tick)
            elif fault.get("kind") == "recover":
                self._cluster.recover(identity)
        self.show_replica(identity, tick)

    def _plan_recovery(self, identity: str, at_ms: int, tick: Tick) -> None:
        self._recover_at_ms[identity] = at_ms
        tick.plan((_RECOVER, identity), at_ms)

    # -- replicas' statuses -------------------------------------------------------------------------------------

    def show_replica(self, identity: str, tick: Tick) -> None:
        """Write a replica's status, if anything but its renewals has changed."""
        document = self._informers[REPLICAS].get("", identity)
        slot = self._cluster.slot_of(identity)
        if document is None or slot is None:
            return
        status = self._status_of(identity, slot, document, tick)
        known = self._shown.get(identity) or document.get("status") or {}
        if any(known.get(key) != status[key] for key in _TELLING) or _holder(known) != _holder(status):
            self._shown[identity] = status
            tick.emit(Patch(REPLICAS, "", identity, {"status": status}, "merge", "status"))

    def _status_of(self, identity: str, slot: Slot, document: Document, tick: Tick) -> Document:
        replica = slot.component
        running = isinstance(replica, Replica)
        status: Document = {
            "observedGeneration": int(document["metadata"].get("generation") or 0),
            "state": "Running" if running else "Crashed",
            "leading": isinstance(replica, Replica) and replica.leading,
            "lease": replica.lease_view() if isinstance(replica, Replica) else None,
            "lastBranch": replica.last_branch if isinstance(replica, Replica) else "",
            "seenRevision": slot.position,
            "clockSkewMs": slot.clock.local(tick.now_ms) - tick.now_ms,
            "clockRate": slot.clock.rate / 1000,
            "faultId": self._fault_ids.get(identity, 0),
            "recoverAtMs": self._recover_at_ms.get(identity),
        }
        if not running:
            # The cycle in hand died with the replica.
            status["cycle"] = None
        return status


_TELLING: Final = (
    "observedGeneration",
    "state",
    "leading",
    "lastBranch",
    "clockSkewMs",
    "clockRate",
    "faultId",
    "recoverAtMs",
)
"""Fields whose change is worth a row; the others are as of the last one."""


def _holder(status: Mapping[str, Any]) -> str:
    return str((status.get("lease") or {}).get("holder") or "")
