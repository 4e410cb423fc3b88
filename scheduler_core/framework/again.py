"""A pod like the one before: what plugins said of that one is taken again, and asked anew about the one node changed.

Most pods come in rows: a controller makes them of one template, and nothing happens between two of them but that the
one before has taken its node. Then the extension points from PreFilter to Score need not be run through again. This
holds where every plugin that is asked says what its answer follows from (`pre_filter_key`, `pre_score_key`, `Reads`),
and every node passes, before and after. What a node's pods come to stays the same when one of them is confirmed, so
that may happen in between to any number. Decisions are the same with it and without.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.framework.concerned import Concerned
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.filtering import Filtering, OneByOne
from scheduler_core.framework.interface import PreFilterPlugin, PreScorePlugin, by_shape
from scheduler_core.framework.reuse import Position, position_of
from scheduler_core.framework.scores import Scores
from scheduler_core.framework.scoring import Scoring, Sum
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Snapshot

Look = Callable[[CycleState, PodInfo, Snapshot], Hashable | None]
"""(the state as the point left it, pod, snapshot) → what the answer follows from beside the pod's shape and the Node
objects; None: it is to be asked."""

_NO_SHAPE: Final = b""


@dataclass(slots=True)
class _Known:
    """What came of the pod before.

    Attributes:
        position: the snapshot's change log as it was then.
        state: what plugins had written, and who skipped.
        looks: of the plugins asked at PreFilter and PreScore.
        seen: what they answered.
        filters: those to be asked again.
        sum: the scores.
    """

    shape: bytes
    snapshot: Snapshot
    position: Position
    state: CycleState
    looks: Sequence[Look]
    seen: Sequence[Hashable]
    outcome: FilterOutcome
    filters: Sequence[OneByOne]
    sum: Sum


class Again:
    """What one framework knows of the pod before."""

    def __init__(
        self,
        pre_filter: Concerned[PreFilterPlugin],
        pre_score: Concerned[PreScorePlugin],
        filtering: Filtering,
        scoring: Scoring,
    ) -> None:
        self._pre_filter = pre_filter
        self._pre_score = pre_score
        self._filtering = filtering
        self._scoring = scoring
        self._shape = _NO_SHAPE
        self._known: _Known | None = None

    def learn(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, outcome: FilterOutcome, scores: Scores | None
    ) -> None:
        """Take what the points came to for a pod; kept from the second one of a shape on."""
        self._known = None
        if pod.shape != self._shape:
            self._shape = pod.shape
            return
        if scores is None or outcome.feasible is not snapshot.every_row or not outcome.is_plain:
            return
        looks = self._looks(pod)
        if looks is None:
            return
        seen = _seen(looks, state, pod, snapshot)
        filters = self._filtering.unsettled(state, pod, snapshot)
        kept = self._scoring.sum_of(state, pod, snapshot, scores)
        if seen is None or filters is None or kept is None:
            return
        own = CycleState()
        own.take(state)
        self._known = _Known(pod.shape, snapshot, position_of(snapshot), own, looks, seen, outcome, filters, kept)

    def _looks(self, pod: PodInfo) -> list[Look] | None:
        found: list[Look] = []
        for point, concerned in (("pre_filter_key", self._pre_filter), ("pre_score_key", self._pre_score)):
            for plugin, _ in concerned.plan(pod, timed=False).asked:
                look = getattr(plugin, point, None)
                if look is None:
                    return None
                if look is not by_shape:
                    found.append(look)
        return found

    def run(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[FilterOutcome, Scores] | None:
        """Return what Filter and Score come to, the state being as PreScore leaves it; None: run through the points."""
        known = self._known
        if known is None or known.snapshot is not snapshot or state.timing is not None:
            return None
        (epoch, nodes, pods, _), log = known.position, snapshot.pod_log
        if epoch != snapshot.epoch or len(log) != pods + 1 or len(snapshot.node_log) != nodes:
            return None
        if known.shape != pod.shape or pod.pod.status.nominated_node_name:
            return None
        if known.looks and _seen(known.looks, known.state, pod, snapshot) != known.seen:
            return None
        row, position = log[pods], position_of(snapshot)
        info = snapshot.infos[row]
        try:
            for way, part in known.filters:
                if not part.passes(way(known.state, pod, info), row, known.position, position):
                    return None
            scores = self._scoring.sum_again(known.sum, known.state, pod, snapshot, row, known.position, position)
        except Exception:
            # Whoever broke is asked as all plugins are, and its answer then is an Error.
            return None
        if scores is None:
            return None
        state.take(known.state)
        known.position = position
        return known.outcome, scores


def _seen(looks: Sequence[Look], state: CycleState, pod: PodInfo, snapshot: Snapshot) -> list[Hashable] | None:
    """Return what each look shows; None: one of them shows that its plugin is to be asked."""
    try:
        found = [look(state, pod, snapshot) for look in looks]
    except Exception:
        return None
    return None if None in found else found
