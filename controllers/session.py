"""The session's own component: replicas' statuses as their elections move, and the end of old Events.

Commands are not taken here but by `controllers.commands`: they must be obeyed while time stands, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, Protocol

from controllers.commands import REPLICAS, Obeyed, status_of
from controllers.faults.active import Active, Faults
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.kit.recorder import sweep
from controllers.leaderelection.replica import Replica
from controllers.log.operations import Patch
from controllers.log.store import Event
from controllers.loop.loop import Answer, Slot, Tick
from scheduler_core.api.document import Document

NAME: Final = "session"

SWEEP_MS: Final = 60_000
"""How often Events that have outlived their hour are looked for."""

SWEEP_MAX: Final = 200
"""Events removed in one round; what is left goes in rounds that follow at once."""

_SWEEP: Final = "sweep"


class Replicas(Protocol):
    """What the session's component asks of the cluster."""

    def slot_of(self, identity: str) -> Slot | None:
        """Return a replica's place in the loop."""

    def obeyed(self, identity: str) -> Obeyed:
        """Return what was last obeyed of a replica's spec."""

    @property
    def faults(self) -> Faults:
        """Return the faults that replicas have."""


class SessionComponent:
    """Watches replicas and Events."""

    resources = frozenset({REPLICAS, "events"})

    def __init__(self, cluster: Replicas) -> None:
        """Report on the replicas of this cluster."""
        self._cluster = cluster
        self._informers = Informers(self.resources, identity=NAME)
        self._shown: dict[str, Document] = {}

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Say how every replica is."""
        self._informers.start(tick)
        for document in self._informers[REPLICAS].all():
            self.show_replica(document["metadata"]["name"], tick)
        tick.plan(_SWEEP, tick.now_ms + SWEEP_MS)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        self._informers.observe(rows)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A status that was refused is not written again: the next change writes it anew."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """List again, or remove old Events."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
        else:
            due = sweep(self._informers["events"].all(), tick.epoch_ms + tick.now_ms)
            for operation in due[:SWEEP_MAX]:
                tick.emit(operation)
            tick.plan(_SWEEP, tick.now_ms + (SWEEP_MS if len(due) <= SWEEP_MAX else 1))

    # -- replicas' statuses -------------------------------------------------------------------------------------

    def show_replica(self, identity: str, tick: Tick) -> None:
        """Write a replica's status, if anything but its renewals has changed."""
        document = self._informers[REPLICAS].get("", identity)
        slot = self._cluster.slot_of(identity)
        if document is None or slot is None:
            return
        obeyed, active = self._cluster.obeyed(identity), self._cluster.faults.of(slot)
        status = replica_status(slot, obeyed, active, tick.now_ms)
        known = self._shown.get(identity) or status_of(document)
        if any(known.get(key) != status[key] for key in _TELLING) or _holder(known) != _holder(status):
            self._shown[identity] = status
            tick.emit(Patch(REPLICAS, "", identity, {"status": status}, "merge", "status"))


def replica_status(slot: Slot, obeyed: Obeyed, active: Active | None, now_ms: int) -> Document:
    """Return what a replica's status says, but for its cycle: that is the scheduler's own."""
    replica = slot.component
    running = isinstance(replica, Replica)
    status: Document = {
        "observedGeneration": obeyed.generation,
        "state": "Running" if running else "Crashed",
        "leading": isinstance(replica, Replica) and replica.leading,
        "lease": replica.lease_view() if isinstance(replica, Replica) else None,
        "lastBranch": replica.last_branch if isinstance(replica, Replica) else "",
        "seenRevision": slot.position,
        "clockSkewMs": slot.clock.off_ms(now_ms),
        "clockRate": slot.clock.rate / 1000,
        "faultId": obeyed.fault_id,
        "verdict": None if obeyed.verdict is None else dict(obeyed.verdict),
        "fault": None if active is None else active.as_dict(),
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
    "clockRate",
    "faultId",
    "fault",
)
"""Fields whose change is worth a row; the others are as of the last one."""


def _holder(status: Mapping[str, Any]) -> str:
    lease = status.get("lease")
    return str(lease.get("holder") or "") if isinstance(lease, Mapping) else ""
