"""Telling of replicas: the one writer of `replicas.clustersim.io/<identity>` status.

Four know a part of it each, and hand it in here: how a replica stands (the session's component, at each move of its
election), the place at which it obeyed (`engine`), the cycle in hand (its scheduler), the last answer from outside. The
parts share no field, but that a cycle dies with its replica. A part is written when it changes, by whose event it
changes in: in the run of the loop it is a row of the engine's, between two ticks one from elsewhere (`rerun`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.commands import REPLICAS, SESSION, Obeyed, status_of
from controllers.faults.active import Active, Faults
from controllers.kit.client import Client
from controllers.leaderelection.replica import Replica
from controllers.leaderelection.standing import Standing
from controllers.log.operations import Patch
from controllers.loop.loop import Loop, Slot, Tick
from scheduler_core.api.document import Document

REFUSALS_EVERY_MS: Final = 1_000
"""Simulated milliseconds between two rows that only tell of refused writes."""


class ReplicaTeller:
    """Keeps the statuses of one session's replicas true."""

    def __init__(self, loop: Loop, client: Client, replicas: Mapping[str, Slot], faults: Faults) -> None:
        """Tell of these replicas; `obeyed` is filled as they are taken up."""
        self._loop = loop
        self._client = client
        self._replicas = replicas
        self._faults = faults
        self.obeyed: dict[str, Obeyed] = {}
        """Replica → what was last obeyed of its spec."""
        self.standings: dict[str, Standing] = {}
        """Replica → what is known of its process, whatever becomes of that."""
        self._seen: dict[str, tuple[object, ...]] = {}
        self._shown: dict[str, Document] = {}
        self._refused: dict[str, tuple[int, int]] = {}

    def note(self, slot: Slot) -> None:
        """Note whether a replica believes that it leads: after all that may have changed it, a crash too."""
        replica = slot.component
        self.standings[slot.name].believes(isinstance(replica, Replica) and replica.leading, self._loop.now_ms)

    def has_moved(self, slot: Slot) -> bool:
        """Return whether a component is a replica whose election or faults moved since this was asked last."""
        replica = slot.component
        if not isinstance(replica, Replica):
            return False
        name, leading = slot.name, replica.leading
        standing = self.standings[name]
        standing.believes(leading, self._loop.now_ms)
        fault, refused = self._faults.of(slot), self._refusals(name)
        seen = (leading, replica.last_branch, replica.holder, slot.incarnation, fault, refused, standing.noted)
        moved = self._seen.get(name) != seen
        self._seen[name] = seen
        return moved

    def _refusals(self, identity: str) -> int:
        """Return how many refused writes are told: when the count has doubled, else at most once a second."""
        now, (told, told_ms) = self.standings[identity].refused, self._refused.get(identity, (0, 0))
        if now == told:
            return told
        if now.bit_length() > told.bit_length() or (now > told and self._loop.now_ms - told_ms >= REFUSALS_EVERY_MS):
            told = now
            self._refused[identity] = (now, self._loop.now_ms)
        return told

    def show(self, document: Document, tick: Tick) -> None:
        """Write a replica's status, if anything but its renewals has changed.

        Args:
            document: the replica, as the session's component last saw it.
            tick: carries the row.
        """
        identity = document["metadata"]["name"]
        if identity not in self._replicas:
            return
        status = self._standing(identity)
        own = self._shown.get(identity)
        if own is not None and own["leading"] and not status["leading"]:
            # The process that led has ended with its cycle; the one after it may be cut off and say nothing for long.
            status["cycle"] = None
        known = own or status_of(document)
        if any(known.get(key) != status[key] for key in _TELLING) or _holder(known) != _holder(status):
            self._shown[identity] = status
            tick.emit(_patch(identity, status))

    def tell_obeyed(self, identity: str, place: Document) -> None:
        """Say what a command has made of a replica, at once: time may stand.

        Args:
            identity: the replica.
            place: in the loop's run, at which the command took effect.
        """
        self._client.apply(_patch(identity, {**self._standing(identity), "engine": place}), SESSION)

    def tell_answer(self, identity: str, answer: Document) -> None:
        """Note an answer from outside, which comes in between two ticks.

        Args:
            identity: the replica that had asked.
            answer: `call`, `records`, `atOnce` and `engine`, the place in the loop's run.
        """
        self._client.apply(_patch(identity, {"answer": answer}), SESSION)

    def _standing(self, identity: str) -> Document:
        slot = self._replicas[identity]
        status = standing_of(slot, self.obeyed[identity], self._faults.of(slot), self._loop.now_ms)
        return {**status, **self.standings[identity].as_dict()}


def standing_of(slot: Slot, obeyed: Obeyed, active: Sequence[Active], now_ms: int) -> Document:
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
        "fault": active[-1].as_dict() if active else None,
        "faults": [one.as_dict() for one in active],
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
    "faults",
    "refused",
    "tries",
)
"""Fields whose change is worth a row; the others are as of the last one."""


def _holder(status: Mapping[str, Any]) -> str:
    lease = status.get("lease")
    return str(lease.get("holder") or "") if isinstance(lease, Mapping) else ""


def tell_cycle(tick: Tick, identity: str, cycle: Mapping[str, Any] | None, known: Mapping[str, Any] | None) -> None:
    """Say which cycle a replica has in hand; its scheduler calls this, in its own tick.

    A merge patch keeps members that it does not name, so members of the cycle that was shown before and are gone are
    named with null.

    Args:
        tick: carries the row.
        identity: the replica.
        cycle: as `controllers.scheduler.reporting.cycle_status` has it; None: no cycle is in hand.
        known: the cycle that was told last.
    """
    tick.emit(_patch(identity, {"cycle": None if cycle is None else _replacing(cycle, known or {})}))


def _replacing(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch that turns `old` into `new`."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            inner = _replacing(value, before)
            if inner or before:
                patch[key] = inner
        elif key not in old or before != value:
            patch[key] = value
    return patch


def _patch(identity: str, part: Mapping[str, Any]) -> Patch:
    return Patch(REPLICAS, "", identity, {"status": dict(part)}, "merge", "status")
