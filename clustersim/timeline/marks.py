"""Which rows of the log are marks, in which lane they stand, and which are left where there are too many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from clustersim.store.history import LogRow
from controllers.kinds.clustersim.bookmark import RESOURCE as BOOKMARKS
from controllers.log.store import MODIFIED
from controllers.registry.kind import CLUSTERSIM_GROUP

Lane = Literal["pods", "scheduler", "controllers", "nodes", "leases", "people"]

LANES: Final[tuple[Lane, ...]] = ("pods", "scheduler", "controllers", "nodes", "leases", "people")
"""From the top of the timeline."""

PERSON: Final = "user:"
"""Begins the actor of whoever writes with a token."""

_SCHEDULER: Final = "kube-scheduler"
_CONTROLLERS: Final = "kube-controller-manager"
_KUBELET: Final = "kubelet/"

ENDS: Final = 5
"""The rank of the first and the last mark of each lane."""


class Mark(NamedTuple):
    """A row of the log in its lane; of the highest ranks as many are told as there is room for."""

    row: LogRow
    lane: Lane
    rank: int


def marks(rows: Iterable[LogRow], components: Collection[str] = ()) -> list[Mark]:
    """Return the marks among rows of the log, in order: at most one a row.

    Args:
        rows: in order of revision.
        components: slugs of tokens that are no people's: a replica outside, a scheduler of one's own.
    """
    found: list[Mark] = []
    holders: dict[tuple[str, str], str] = {}
    for row in rows:
        lane = lane_of(row, components)
        if lane is not None:
            found.append(Mark(row, lane, _rank(row, lane, holders)))
        if row.resource == "leases.coordination.k8s.io":
            holders[row.namespace, row.name] = row.actor
    ends: dict[Lane, list[int]] = {}
    for index, mark in enumerate(found):
        ends.setdefault(mark.lane, [index, index])[1] = index
    for index in {index for pair in ends.values() for index in pair}:
        found[index] = found[index]._replace(rank=ENDS)
    return found


def lane_of(row: LogRow, components: Collection[str] = ()) -> Lane | None:
    """Return where a row stands; None: it tells only that the machinery breathes, or tells again what another told."""
    if row.resource in ("events", BOOKMARKS):
        return None
    who = row.actor.removeprefix(PERSON)
    if row.actor != who and who not in components:
        return "people"
    if row.resource.endswith(f".{CLUSTERSIM_GROUP}"):
        return None
    if row.resource == "leases.coordination.k8s.io":
        return "leases"
    if row.resource == "nodes":
        return "nodes"
    if row.resource == "pods":
        return "scheduler" if who.startswith(_SCHEDULER) or row.actor != who else "pods"
    return "controllers" if who.startswith(_CONTROLLERS) or row.actor != who else None


def _rank(row: LogRow, lane: Lane, holders: dict[tuple[str, str], str]) -> int:
    """Return how much a mark matters, from 0 to 4."""
    if lane == "people":
        return 4
    if lane == "leases":
        before = holders.get((row.namespace, row.name), row.actor)
        return 4 if before != row.actor else 0
    if lane == "nodes":
        return 4 if row.verb != MODIFIED else 1 if row.actor.startswith(_KUBELET) else 2
    if lane == "controllers":
        return 2 if row.verb != MODIFIED else 1
    return 3 if lane == "scheduler" or row.verb != MODIFIED else 1


def thinned(found: Sequence[Mark], limit: int) -> list[Mark]:
    """Return at most `limit` marks, in order.

    Those of the highest rank are kept whole as long as there is room; of the rank for which there is not enough, marks
    at equal distances, the first and the last among them; of lower ranks none.
    """
    if len(found) <= limit:
        return list(found)
    kept: list[int] = []
    for rank in range(ENDS, -1, -1):
        of_rank = [index for index, mark in enumerate(found) if mark.rank == rank]
        room = limit - len(kept)
        if len(of_rank) > room:
            kept += [of_rank[place] for place in _spread(len(of_rank), room)]
            break
        kept += of_rank
    return [found[index] for index in sorted(kept)]


def _spread(count: int, wanted: int) -> list[int]:
    """Return `wanted` places among `count`, at equal distances from the first to the last."""
    if wanted < 2:
        return [0][:wanted]
    return [place * (count - 1) // (wanted - 1) for place in range(wanted)]


def counted(found: Iterable[Mark], from_ms: int, to_ms: int, slots: int) -> dict[Lane, list[int]]:
    """Return by lane how many marks fall into each of `slots` equal parts of a stretch of simulated time."""
    counts: dict[Lane, list[int]] = {lane: [0] * slots for lane in LANES}
    span = max(1, to_ms - from_ms + 1)
    for mark in found:
        slot = (mark.row.now_ms - from_ms) * slots // span
        counts[mark.lane][min(slots - 1, max(0, slot))] += 1
    return counts
