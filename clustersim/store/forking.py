"""Forks: a session of its own that goes on from a kept revision of another.

Rows are copied in steps, each a short transaction, so that people's writes wait behind none of it; the fork is found by
nobody before it is whole. Numbers go on: rows keep their revisions, and documents their uids and resourceVersions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec
from django.db import connection, transaction

from clustersim.store import sessions
from clustersim.store.models import Revision
from clustersim.store.sessions import SessionRow
from clustersim.store.sql import SqlStore
from controllers.log.store import Gone

COPY_ROWS: Final = 500
"""Rows copied per transaction: about 10 ms, so that a person's write does not wait behind a fork."""

TRACES_COPIED: Final = 1_000
"""The newest traces that a fork takes along; decisions before them stay with the parent."""

PERSON: Final = "user:"
SOMEBODY: Final = "somebody"
"""Whom the log of a fork names that tells nobody's name."""

_COLUMNS: Final = (
    "revision, verb, resource, namespace, name, uid, previous_revision, now_ms, written_ms, read_revision, actor, data"
)


def fork(
    parent: SqlStore,
    title: str,
    revision: int,
    *,
    since: int,
    withheld: Collection[str] = (),
    own: str = "",
    seed: int | None = None,
) -> SessionRow:
    """Return a session, asleep and without people, that holds what the parent held at `revision`.

    Args:
        parent: the session to go on from.
        title: the fork's.
        revision: a kept one.
        since: a kept one not after it; the log of the parent between them comes along.
        withheld: resources of which only the objects in the namespace `own` come along.
        own: see `withheld`.
        seed: another one than the parent's.

    Raises:
        Gone: the parent keeps `since` no more. Nothing is left then.
    """
    counters = parent.counters()
    row = sessions.get(parent.session_id)
    last_ms = parent.ms_at(revision)
    parent.ms_at(since)
    # The owner may have promised a later time than the newest row has; a moment of the past has just its own.
    horizon_ms = max(last_ms, counters.horizon_ms) if revision == counters.revision else last_ms
    made = sessions.create(
        title,
        row.template,
        row.seed if seed is None else seed,
        parent_id=row.id,
        forked_at=revision,
        epoch_ms=row.epoch_ms,
        horizon_ms=horizon_ms,
        last_ms=last_ms,
        compacted=since,
        asleep=True,
    )
    try:
        _copy(parent, made.id, revision, since, withheld, own)
        if parent.compacted > since:
            raise Gone(f"revision {since} was compacted while it was copied")
    except BaseException:
        sessions.remove(made.id)
        raise
    return made


def _copy(parent: SqlStore, made_id: int, revision: int, since: int, withheld: Collection[str], own: str) -> None:
    marks = ", ".join(["%s"] * len(withheld))
    hidden = f" AND NOT (resource IN ({marks}) AND namespace <> %s)" if withheld else ""
    place = [*withheld, own] if withheld else []
    current = parent.revisions_at(revision)
    rows = sorted({*current, *parent.revisions_at(since), *parent.revisions_between(since, revision)})
    for start in range(0, len(rows), COPY_ROWS):
        part = rows[start : start + COPY_ROWS]
        standing = [number for number in part if number in current]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO store_revision (session_id, {_COLUMNS}) SELECT %s, {_COLUMNS} FROM store_revision "
                f"WHERE session_id = %s AND revision IN ({', '.join(['%s'] * len(part))}){hidden}",
                [made_id, parent.session_id, *part, *place],
            )
            if standing:
                cursor.execute(
                    "INSERT INTO store_object (session_id, resource, namespace, name, revision) "
                    "SELECT session_id, resource, namespace, name, revision FROM store_revision "
                    f"WHERE session_id = %s AND revision IN ({', '.join(['%s'] * len(standing))})",
                    [made_id, *standing],
                )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO store_trace (session_id, uid, attempt, revision, envelope, data) "
            "SELECT %s, uid, attempt, revision, envelope, data FROM store_trace WHERE session_id = %s "
            "AND revision <= %s ORDER BY revision DESC LIMIT %s",
            [made_id, parent.session_id, revision, TRACES_COPIED],
        )
        # Owners keep their colours, so that parent and fork can be looked at side by side.
        cursor.execute(
            "INSERT INTO store_hue (session_id, scope, name, number) "
            "SELECT %s, scope, name, number FROM store_hue WHERE session_id = %s",
            [made_id, parent.session_id],
        )


def forget_people(session_id: int, annotation: str) -> None:
    """Make a fork tell nobody's name: who wrote its rows is somebody, and `annotation` says so of each object.

    Only for a fork that nobody has seen yet: rows that were told stay as they were.
    """
    rows = Revision.objects.filter(session_id=session_id)
    named = [(row.revision, bytes(row.data)) for row in rows if annotation.encode() in bytes(row.data)]
    with transaction.atomic():
        rows.filter(actor__startswith=PERSON).update(actor=f"{PERSON}{SOMEBODY}")
        for revision, data in named:
            document = msgspec.json.decode(data)
            annotations = document["metadata"].get("annotations") or {}
            if annotations.get(annotation):
                annotations[annotation] = SOMEBODY
                rows.filter(revision=revision).update(data=msgspec.json.encode(document))
