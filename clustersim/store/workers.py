"""Worker processes' leases: rows that their electors read and write, on real time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import IntegrityError, connection, transaction
from django.db.models import Count

from clustersim.store.models import Session, Worker
from clustersim.store.sessions import real_ms

ALIVE_MS: Final = 3_000
"""A lease that was renewed longer ago than this does not count as a live worker for `/readyz`."""


PATIENCE_MS: Final = 5_000
"""A session that was opened or woken less long ago is on its way to its owner and does not count as waiting."""

PROBE_BYTES: Final = 64 * 1024
"""What `/readyz` writes and takes back: room for a few changes of objects; without it the disk counts as full."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's lease: the elector's record as JSON (`renewMs` in Unix milliseconds) and its version."""

    identity: str
    record: Mapping[str, Any]
    version: int


def read(identity: str) -> Lease | None:
    """Return one worker's lease."""
    row = Worker.objects.filter(pk=identity).first()
    return Lease(row.identity, row.record, row.version) if row is not None else None


def every() -> Sequence[Lease]:
    """Return all leases, by identity. Each worker asks twice a second for as long as it lives: plain SQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT identity, record, version FROM store_worker ORDER BY identity")
        rows = cursor.fetchall()
    return [Lease(identity, json.loads(record), version) for identity, record, version in rows]


def write(identity: str, record: Mapping[str, Any], *, version: int) -> bool:
    """Write a lease that is at `version` (0: must not exist); return False when somebody else has written.

    A renewal, twice a second for each worker, is one statement.
    """
    if version == 0:
        try:
            with transaction.atomic():
                Worker.objects.create(identity=identity, record=dict(record))
        except IntegrityError:
            return False
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE store_worker SET record = %s, version = version + 1 WHERE identity = %s AND version = %s",
            [json.dumps(record), identity, version],
        )
        return bool(cursor.rowcount)


def remove(identity: str) -> None:
    """Delete a lease: its worker has stopped, or is long dead."""
    Worker.objects.filter(pk=identity).delete()


def alive() -> Sequence[str]:
    """Return the identities of workers whose lease is fresh by the wall clock."""
    now_ms = real_ms()
    return [lease.identity for lease in every() if now_ms - int(lease.record.get("renewMs", 0)) <= ALIVE_MS]


def waiting() -> int:
    """Return how many awake sessions have no live owner, though somebody used them PATIENCE_MS ago."""
    rows = Session.objects.filter(hibernated=False, touched_ms__lt=real_ms() - PATIENCE_MS)
    return rows.exclude(owner__in=alive()).count()


def probe() -> None:
    """Write and take back one row, so that a database which can be read but not written is found out.

    The row takes room as changes of objects do: one that fits in what deleted rows have left would find no disk full.

    Raises:
        DatabaseError: it cannot be written.
    """
    with transaction.atomic():
        Worker.objects.create(identity="probe", record={"room": "x" * PROBE_BYTES})
        Worker.objects.filter(pk="probe").delete()


def loads() -> dict[str, int]:
    """Return how many awake sessions each worker owns."""
    rows = Session.objects.filter(hibernated=False).exclude(owner="").values_list("owner").annotate(Count("pk"))
    return dict(rows)
