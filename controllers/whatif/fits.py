"""What would let a pending pod in: the smallest single changes, each tried by the engine before it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from controllers.scheduler.past import Past
from controllers.whatif import devices, nodes, storage, wishes
from controllers.whatif.changes import read_changes, refused
from controllers.whatif.deciding import Decision, attempt_now
from controllers.whatif.wishes import Stuck, Wish
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said
from scheduler_core.snapshot.node_info import PodInfo

FITS_PER_SORT: Final = 2
"""Changes of one sort (a request, a toleration …) that are told."""

TRIED_PER_SORT: Final = 4
"""Changes of one sort that are tried, the smallest first: where none of them works, a larger one is not tried."""

SORTS: Final[Sequence[Callable[[Stuck], Iterator[Wish]]]] = (
    # One line a sort of change, the smallest first: what the pod can do about itself, then what others must.
    storage.claims_met,
    devices.fewer,
    wishes.requests,
    wishes.tolerations,
    wishes.labels,
    wishes.uncordoned,
    wishes.taints_gone,
    wishes.room,
    wishes.pods_gone,
    nodes.like,
)

LAST_RESORT: Final[Sequence[Callable[[Stuck], Iterator[Wish]]]] = (nodes.made,)
"""Sorts that are tried where none of the others works."""


class _Fit(NamedTuple):
    wish: Wish
    node: str


def fits(decision: Decision) -> list[Document]:
    """Return the single changes with which the attempt would have found a node, the smallest first.

    Each is `{"changes", "text": {"en", "zh"}, "node", "checked": true}`; none for an attempt that found a node.
    """
    world = decision.world()
    result: Mapping[str, Any] = decision.taken(world)["result"]
    if result.get("result") not in ("unschedulable", "no_nodes"):
        return []
    stuck = Stuck.of(decision, world, result)
    return _told(decision, stuck, SORTS) or _told(decision, stuck, LAST_RESORT)


def _told(decision: Decision, stuck: Stuck, sorts: Sequence[Callable[[Stuck], Iterator[Wish]]]) -> list[Document]:
    return [
        {"changes": list(fit.wish.changes), "text": fit.wish.text, "node": fit.node, "checked": True}
        for sort in sorts
        for fit in islice(_checked(decision, sorted(sort(stuck), key=lambda one: one.size)), FITS_PER_SORT)
    ]


def fits_now(past: Past, pod: PodInfo, attempt: int) -> list[Document]:
    """Return what would let a pending pod in as the cluster stands, as `fits` does.

    Where it fits already, that is the one answer, with no changes: its next attempt finds the node.

    Raises:
        Gone: the revision is compacted.
        ApiError: 422, no profile runs the pod.
    """
    profiles = [one.scheduler_name for one in past.settings.configuration.profiles]
    if pod.pod.spec.scheduler_name not in profiles:
        wrong = said(
            "profile.unknown",
            "no profile is named {scheduler_name!r}; these are: {known}",
            scheduler_name=pod.pod.spec.scheduler_name,
            known=", ".join(profiles),
        )
        raise refused(Cause("profiles", wrong))
    decision = Decision(past, attempt_now(past, pod, attempt))
    chosen = decision.taken(decision.world())["result"].get("chosen")
    if not chosen:
        return fits(decision)
    text = {
        "en": f"nothing: it fits on {chosen} as the cluster stands; its next attempt finds it",
        "zh": f"无需改动：按集群现状它适合节点 {chosen}，下一次尝试就会找到",
    }
    return [{"changes": [], "text": text, "node": chosen, "checked": True}]


def _checked(decision: Decision, found: Sequence[Wish]) -> Iterator[_Fit]:
    """Yield what works of the smallest wishes; of several for one node the first."""
    told: set[str] = set()
    for wish in found[:TRIED_PER_SORT]:
        try:
            world = decision.world(read_changes(list(wish.changes)))
        except ApiError:
            # A wish that may not be: a label that is no label, an amount that is none.
            continue
        chosen = decision.taken(world)["result"].get("chosen")
        if chosen and chosen not in told:
            told.add(chosen)
            yield _Fit(wish, chosen)
