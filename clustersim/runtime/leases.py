"""The worker's lease: the cluster's own elector on real time, and the same way of judging the others' leases.

One lease a worker, 3 s / 2 s / 0.5 s, renewed by a thread beside the loop. A lease counts from when this process saw it
change, never by its timestamps: clocks that disagree do no harm.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final

from django.db import Error as DatabaseFailure

from clustersim.runtime import realtime
from clustersim.store import workers
from controllers.leaderelection.elector import (
    Create,
    Elector,
    Failed,
    Found,
    Get,
    Missing,
    Record,
    Request,
    Response,
    Settings,
    Update,
)

logger = logging.getLogger(__name__)

SETTINGS: Final = Settings(lease_duration_ms=3_000, renew_deadline_ms=2_000, retry_period_ms=500)
"""So that a dead worker's sessions are claimed within 3.5 s and run within 5 s."""

FORGET_MS: Final = 60_000
"""A lease that ran out this long ago is deleted by whoever sees it."""


def _to_json(record: Record) -> dict[str, Any]:
    return {
        "holder": record.holder,
        "leaseDurationSeconds": record.lease_duration_seconds,
        "acquireMs": record.acquire_ms,
        "renewMs": record.renew_ms,
        "transitions": record.transitions,
    }


def _from_json(record: Mapping[str, Any]) -> Record:
    return Record(
        record["holder"],
        record["leaseDurationSeconds"],
        record["acquireMs"],
        record["renewMs"],
        record["transitions"],
    )


class Leases:
    """Own lease and the view of all others. Used by one thread."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self._epoch_ms = realtime.unix_ms() - realtime.monotonic_ms()
        self._elector = self._new_elector()
        self._observed: dict[str, tuple[int, int]] = {}
        """Identity → (version, monotonic time at which it was first seen)."""
        self._durations: dict[str, int] = {}

    @property
    def held(self) -> bool:
        """Return whether this worker may own sessions."""
        return self._elector.leading

    def turn(self) -> None:
        """Renew when it is due; after a lost lease begin anew. Takes the place of a candidate's run loop."""
        now_ms = realtime.monotonic_ms()
        was_held = self._elector.leading
        request = self._elector.poll(now_ms)
        while request is not None:
            request = self._elector.answer(realtime.monotonic_ms(), self._ask(request))
        if was_held and not self._elector.leading:
            logger.error("lost the lease: no renewal within %d ms", SETTINGS.renew_deadline_ms)
            self._elector = self._new_elector()

    def observe(self) -> None:
        """Read all leases, note which changed, and delete those that nobody has renewed for long."""
        now_ms = realtime.monotonic_ms()
        present = workers.every()
        for lease in present:
            seen = self._observed.get(lease.identity)
            if seen is None or seen[0] != lease.version:
                self._observed[lease.identity] = (lease.version, now_ms)
                self._durations[lease.identity] = 1000 * int(lease.record["leaseDurationSeconds"])
            elif now_ms - seen[1] > FORGET_MS:
                workers.remove(lease.identity)
        for identity in self._observed.keys() - {lease.identity for lease in present}:
            del self._observed[identity]
            del self._durations[identity]

    def is_live(self, identity: str) -> bool:
        """Return whether a worker's lease has not run out, as far as this process has seen."""
        if identity == self.identity:
            return self.held
        seen = self._observed.get(identity)
        return seen is not None and realtime.monotonic_ms() < seen[1] + self._durations[identity]

    def live(self) -> list[str]:
        """Return the workers that count as live, this one included while it holds its lease."""
        return sorted({name for name in (*self._observed, self.identity) if self.is_live(name)})

    def give_up(self) -> None:
        """Step down: the lease's row goes, so that nobody waits for it to run out."""
        self._elector.cancel(realtime.monotonic_ms())
        workers.remove(self.identity)

    def _new_elector(self) -> Elector:
        return Elector(
            self.identity, lambda attempt, below: secrets.randbelow(below), SETTINGS, epoch_ms=self._epoch_ms
        )

    def _ask(self, request: Request) -> Response:
        """Carry one request of the elector to the table."""
        try:
            match request:
                case Get():
                    lease = workers.read(self.identity)
                    return Found(_from_json(lease.record), str(lease.version)) if lease is not None else Missing()
                case Create(record):
                    made = workers.write(self.identity, _to_json(record), version=0)
                    return Found(record, "1") if made else Failed(conflict=True)
                case Update(record, version):
                    written = workers.write(self.identity, _to_json(record), version=int(version))
                    return Found(record, str(int(version) + 1)) if written else Failed(conflict=True)
        except DatabaseFailure as error:
            logger.warning("the lease could not be reached: %s", error)
            return Failed()
