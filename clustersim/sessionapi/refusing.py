"""The route that tells who else would refuse a node, and the amounts behind each refusal. docs/session-api.md."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom import limits, opening
from clustersim.sessionapi.engine import unknown
from clustersim.sessionapi.http import Call, answer, refuse
from controllers.log.store import Gone
from controllers.scheduler.decisions import locate, refusals
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said
from scheduler_core.scheduler.refusals import REFUSALS_TOLD_MAX

NODE: Final = "node"


def what_refuses(call: Call, decision: str) -> HttpResponse:
    """Answer `GET …/decisions/<id>/refusals?node=`: anybody in the session may ask."""
    principal = call.principal
    names = call.request.GET.getlist(NODE)
    if len(names) > REFUSALS_TOLD_MAX:
        raise refuse(
            Cause(
                NODE,
                said(
                    "decision.nodesMost",
                    "ask for at most {refusals_told_max} nodes at once",
                    refusals_told_max=REFUSALS_TOLD_MAX,
                ),
            )
        )
    limits.spend(limits.WHAT_IFS, principal.participant_id)
    located = locate(call.store, decision)
    if located is None:
        raise unknown(decision)
    try:
        found = refusals(call.past(), located.envelope, names)
    except Gone as error:
        raise opening.past_gone(located.envelope["input"]["seenRevision"], call.store.compacted) from error
    return answer({"nodes": found})
