"""Past decisions one after another under the same changes: who would have gone elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from controllers.whatif.changes import Change
from controllers.whatif.deciding import Decision
from scheduler_core.api.document import Document


def again(past: Past, envelope: Mapping[str, Any], blob: bytes, changes: Sequence[Change]) -> Document:
    """Return one decision before and after the changes, on the input that it had.

    Args:
        past: the session, at any revision.
        envelope: as `Store.newest_traces` gave it.
        blob: the same.
        changes: made in order.

    Returns:
        `id`, `pod`, `before` and `after`: the nodes chosen, None where there was none; `points`: what the node chosen
        before and the one chosen after have after the changes, None where they were not scored.

    Raises:
        Gone: what it saw is no longer kept.
        ApiError: 422, a change cannot be made there.
    """
    decision = Decision(past, envelope)
    first = whole(past, envelope, blob).get("result") or {}
    # A node that Reserve, Permit or the API gave up was chosen all the same: what came after is not asked about.
    second = decision.taken(decision.world(changes))["result"]
    before, after = first.get("chosen"), second.get("chosen")
    scores = second.get("scores") or {}
    total = dict(zip(scores.get("nodes") or (), scores.get("total") or (), strict=True))
    return {
        "id": envelope["id"],
        "pod": envelope["pod"],
        "before": before or None,
        "after": after or None,
        "points": [total.get(before), total.get(after)],
    }
