"""NodeAffinityPriority: nodes that satisfy what the pod prefers.

A node gets the sum of the weights of the preferred terms that hold there, scaled so that the best gets 10 and cut to a
whole number; 0 for all where none holds anywhere. The text adds 1 for each term that holds; upstream adds the term's
weight, and so does this: the API asks for a weight of 1 to 100, which would otherwise mean nothing.
Source: `CalculateNodeAffinityPriority`, Kubernetes 1.2.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.framework.status import SKIP, SUCCESS, Status, error
from scheduler_core.legacy.affinity import AffinityError, node_affinities
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.snapshot.label_columns import LabelColumns
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.preferred_affinity import Preferred, PreferredTermError, preferred_of
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "NodeAffinityPriority"


class NodeAffinityPriority:
    """PreScore and Score."""

    name: ClassVar[str] = NAME
    # The annotation is no part of a pod's shape.
    score_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self) -> None:
        """Take no arguments."""
        self._columns = LabelColumns()

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Read what the pod prefers; Skip where it prefers nothing, Error where it cannot be read."""
        preferred: Preferred = ()
        try:
            for affinity in node_affinities(pod.pod):
                preferred += preferred_of(affinity)
        except (AffinityError, PreferredTermError) as wrong:
            return error(str(wrong))
        if not preferred:
            return SKIP
        state.write(NAME, preferred)
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return (K,) sums of weights."""
        preferred: Preferred = state.read(NAME)
        sums = np.zeros(snapshot.count(rows), dtype=np.int64)
        for weight, term in preferred:
            sums += self._columns.term_holds(term, snapshot, rows) * np.int64(weight)
        return sums

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return the sums scaled to 0…10."""
        most = int(scores.max(initial=0))
        return (SCORE_MAX * (scores / most)).astype(np.int64) if most > 0 else np.zeros_like(scores)
