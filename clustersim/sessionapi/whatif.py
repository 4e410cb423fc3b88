"""Routes of what-if: a past decision on changed input, and what would let a pending pod in. docs/session-api.md."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpResponse

from clustersim.classroom import limits, opening
from clustersim.sessionapi.http import Call, answer
from controllers.log.store import Gone
from controllers.scheduler.decisions import ATTEMPT_DIGITS_MAX
from controllers.whatif.changes import read_changes
from controllers.whatif.deciding import Decision, difference
from controllers.whatif.fits import fits
from scheduler_core.api.errors import ApiError


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
    """Give a kept decision to be taken again.

    Raises:
        ApiError: 404, there is none; 410, the log no longer reaches back to what it saw.
    """
    kept = call.store.trace(*_parts(decision))
    if kept is None:
        raise _unknown(decision)
    try:
        yield Decision(call.past(), kept[0])
    except Gone as error:
        raise opening.past_gone(kept[0]["input"]["seenRevision"], call.store.compacted) from error


def _parts(decision: str) -> tuple[str, int]:
    """Return (uid, attempt) of a decision's id."""
    uid, _, attempt = decision.rpartition("-")
    if not uid or not attempt.isdecimal() or len(attempt) > ATTEMPT_DIGITS_MAX:
        raise _unknown(decision)
    return uid, int(attempt)


def _unknown(decision: str) -> ApiError:
    return ApiError(404, "NotFound", f"there is no decision {decision[:80]!r}, or it is no longer kept")
