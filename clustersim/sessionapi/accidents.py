"""What somebody came to, as the class's next question: the moment at which the scheduler took a pod, and a poll."""

from __future__ import annotations

from clustersim.classroom import people
from clustersim.classroom.auth import Principal
from clustersim.classroom.copies import handing, tiles
from clustersim.classroom.models import Copy
from clustersim.sessionapi import polling
from clustersim.sessionapi.http import Call
from clustersim.store import SqlStore, open_store, sessions

VOTE_SECONDS = 60
"""Seconds of a round of such a poll; a teacher ends it sooner, or asks again."""


def ask_on_wall(call: Call, teacher: Principal, copy: Copy) -> tuple[Copy, str]:
    """Put a copy on the wall and ask the class there about its pod; return what hangs, and the poll.

    The poll is there, and seals, before anybody may look. Where nothing of the copy can be asked it hangs as it is,
    and the poll is empty.

    Raises:
        ApiError: 409 while a poll is open; 503.
    """
    assert copy.fork_id is not None, "a copy with a code is there"
    found = _accident(open_store(copy.fork_id), copy.revision)
    if found is None:
        return handing.put_on_wall(teacher, copy), ""
    pod, revision = found
    opened = handing.open_for_wall(teacher, copy, revision)
    there = call.elsewhere(opened.session, people.teacher_of(opened.session))
    try:
        stored, _ = polling.open_poll(there, there.principal, polling.Asked("node", pod, limit=VOTE_SECONDS))
    except BaseException:
        sessions.remove(opened.session.id)
        raise
    return handing.hang(teacher, opened.session.id, revision), stored.name


def _accident(store: SqlStore, since: int) -> tuple[str, int] | None:
    """Return (a pod, the revision that the scheduler saw when it took it last); None: nothing can be asked.

    It is the most important pod that was refused, else the one that was decided on last since the copy was made.
    """
    refused = tiles.most_important(stored.object for stored in store.list("pods")[0] if tiles.is_tried(stored.object))
    traces = [] if refused is None else store.traces(refused["metadata"]["uid"], 1)
    traces = traces or [one for one in store.newest_traces(1) if one[0]["revision"] > since]
    for envelope, _ in traces:
        revision = int(envelope["input"]["seenRevision"])
        return None if revision < store.compacted else (str(envelope["pod"]), revision)
    return None
