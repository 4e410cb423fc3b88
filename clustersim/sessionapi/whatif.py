"""Routes of what-if: a past decision on changed input, and what would let a pending pod in. docs/session-api.md."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpResponse

from clustersim.classroom import limits, opening
from clustersim.sessionapi.engine import unknown
from clustersim.sessionapi.http import Call, answer
from controllers.log.store import Gone
from controllers.scheduler.decisions import locate
from controllers.whatif.changes import read_changes
from controllers.whatif.deciding import Decision, difference
from controllers.whatif.fits import fits


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
    limits.spend(limits.FITS, principal.participant_id)
    with _taking(call, decision) as asked:
        found = fits(asked)
    return answer(found)


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
