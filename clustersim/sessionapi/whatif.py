"""Routes of what-if: a past decision on changed input, and what would let a pending pod in. docs/session-api.md."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from django.http import HttpResponse

from clustersim.classroom import limits, opening
from clustersim.sessionapi.engine import unknown
from clustersim.sessionapi.http import Call, answer, number_field, refuse
from controllers.log.store import Gone
from controllers.scheduler.decisions import locate
from controllers.whatif.changes import read_changes
from controllers.whatif.deciding import Decision, difference, is_pending
from controllers.whatif.fits import fits, fits_now
from controllers.whatif.many import again
from controllers.whatif.weights import WEIGHTS, alone, summed
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said

Taken = TypeVar("Taken")

LAST_MAX: Final = 100
"""Decisions that one what-if takes again; more are refused with 422."""

LAST_DEFAULT: Final = 40

LAST_SECONDS: Final = 4.0
"""After so long a what-if over many decisions begins no other one; the answer says how many it took."""

LAST_COST: Final = 4
"""What a what-if over many decisions counts as, in what-ifs of one."""


def what_if(call: Call, decision: str) -> HttpResponse:
    """Answer `POST …/decisions/<id>/whatif`: anybody in the session may ask, nothing is changed."""
    principal = call.principal
    changes = read_changes(call.body(("changes",)).get("changes"))
    limits.spend(limits.WHAT_IFS, principal.participant_id)
    with _taking(call, decision) as asked:
        before, after = asked.taken(asked.world()), asked.taken(asked.world(changes))
    return answer({"before": before, "after": after, "difference": difference(before, after)})


def what_fits(call: Call, decision: str) -> HttpResponse:
    """Answer `GET …/decisions/<id>/fits`."""
    principal = call.principal
    wanted = call.request.GET.get("input", "now")
    if wanted not in ("now", "attempt"):
        raise refuse(Cause("input", said("whatif.now", "give now, or attempt: what it saw")))
    limits.spend(limits.FITS, principal.participant_id)
    with _taking(call, decision) as asked:
        past, (uid, attempt) = call.past(), (asked.envelope["uid"], asked.envelope["attempt"])
        waiting = next((info for info in past.pods if info.uid == uid and is_pending(info)), None)
        # Under a pod that still waits the cluster has moved on: what helps is asked of it as it stands.
        found = fits_now(past, waiting, attempt) if waiting is not None and wanted == "now" else fits(asked)
    return answer(found)


def what_if_last(call: Call) -> HttpResponse:
    """Answer `POST …/whatif`: the newest decisions of all pods, each taken again on its own input."""
    principal = call.principal
    body = call.body(("changes", "last"))
    changes = read_changes(body.get("changes"))
    last = number_field(body, "last", 1, LAST_MAX, whole=True)
    limits.spend(limits.WHAT_IFS, principal.participant_id, LAST_COST)
    past = call.past()
    asked, rows, left = _each(
        call, LAST_DEFAULT if last is None else int(last), lambda envelope, blob: again(past, envelope, blob, changes)
    )
    return answer(
        {
            "asked": asked,
            "decided": len(rows),
            "elsewhere": sum(row["before"] != row["after"] for row in rows),
            "decisions": rows,
            "left": left,
        }
    )


def weights_alone(call: Call) -> HttpResponse:
    """Answer `GET …/whatif/weights`: how many of the newest decisions each weight, changed alone, would have moved."""
    principal = call.principal
    last = call.count("last", LAST_DEFAULT, LAST_MAX)
    limits.spend(limits.WHAT_IFS, principal.participant_id)
    past = call.past()
    asked, taken, left = _each(call, last, lambda envelope, blob: alone(past, envelope, blob))
    return answer({"asked": asked, "decided": len(taken), "weights": WEIGHTS, "plugins": summed(taken), "left": left})


def _each(
    call: Call, last: int, take: Callable[[Mapping[str, Any], bytes], Taken]
) -> tuple[int, list[Taken], list[Document]]:
    """Return how many of the newest decisions there are, what was taken of each, and those that could not be taken.

    After `LAST_SECONDS` no other one is begun.
    """
    until = time.monotonic() + LAST_SECONDS
    rows: list[Taken] = []
    left: list[Document] = []
    wanted = call.store.newest_traces(last)
    for envelope, blob in wanted:
        if time.monotonic() > until:
            break
        try:
            rows.append(take(envelope, blob))
        except Gone:
            left.append({"id": envelope["id"], "pod": envelope["pod"], "why": "the log no longer reaches back"})
        except ApiError as wrong:
            why = wrong.causes[0].message if wrong.causes else wrong.message
            left.append({"id": envelope["id"], "pod": envelope["pod"], "why": why})
    return len(wanted), rows, left


@contextmanager
def _taking(call: Call, decision: str) -> Iterator[Decision]:
    """Give a decision, kept or in hand, to be taken again.

    Raises:
        ApiError: 404, there is none; 410, the log no longer reaches back to what it saw.
    """
    located = locate(call.store, decision)
    if located is None:
        raise unknown(decision)
    try:
        yield Decision(call.past(), located.envelope)
    except Gone as error:
        raise opening.past_gone(located.envelope["input"]["seenRevision"], call.store.compacted) from error
