"""A poll as each person is told of it: what is asked, what one said oneself, and what becomes known when."""

from __future__ import annotations

from clustersim.classroom.auth import TEACHER, Principal
from clustersim.classroom.polls import votes
from clustersim.classroom.polls.models import Poll
from clustersim.classroom.polls.votes import DONE
from controllers.log.store import Stored
from scheduler_core.api.document import Document


def summary(stored: Stored, row: Poll | None) -> Document:
    """Return a poll as a list tells it: what stands in the log, which everybody may read."""
    spec, status = stored.object["spec"], stored.object.get("status") or {}
    return {
        "id": stored.name,
        "kind": spec["kind"],
        "pod": spec.get("pod", ""),
        "question": spec.get("question") or {},
        "state": status.get("state", "open") if row is None else votes.state_of(row),
        "round": status.get("round", 1) if row is None else row.round,
        "hold": spec.get("hold", ""),
        "lesson": spec.get("lesson"),
    }


def whole(stored: Stored, row: Poll | None, principal: Principal) -> Document:
    """Return a poll as one person may read it."""
    spec = stored.object["spec"]
    told = summary(stored, row)
    told |= {
        "options": spec.get("options") or [],
        "because": spec.get("because") or [],
        "limit": spec.get("limit", 0),
        "alone": bool(spec.get("alone")),
        "endsUnixMs": None if row is None else row.ends_ms,
        "openedUnixMs": None if row is None else row.opened_ms,
        "voted": 0,
        "present": votes.present(principal.session_id),
        "mine": {},
        "answer": None,
    }
    if row is None:
        return told
    told["voted"] = votes.voted(row)
    told["mine"] = {
        str(one.round): {"choice": list(one.choice), "because": one.because}
        for one in votes.of_person(row, principal.participant_id)
    }
    revealed = told["state"] in DONE
    teaches = principal.role == TEACHER and not spec.get("alone")
    if not revealed and not teaches:
        return told
    cast = votes.all_of(row)
    told |= {
        "counts": votes.counts(row, cast),
        "votes": votes.voters(row, cast),
        "hands": row.hands,
        "becauseCounts": votes.reasons(cast),
        "models": votes.models(row, cast, row.round),
    }
    if row.round > 1:
        told["firstModels"] = votes.models(row, cast, 1)
    if teaches and not revealed:
        told["advice"] = votes.advice(row, cast, told["present"])
        told["expected"] = votes.expected(row)
        if told["expected"]:
            told["rightCounts"] = votes.right_counts(row, cast, told["expected"])
    if revealed and row.answer is not None:
        told["answer"] = row.answer
        status = stored.object.get("status") or {}
        told |= {"rule": status.get("rule", ""), "rules": status.get("rules", [])}
        told["changed"] = votes.changed(cast, row.answer["alternatives"])
        told["rightCounts"] = votes.right_counts(row, cast, row.answer["alternatives"])
    return told
