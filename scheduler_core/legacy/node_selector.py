"""MatchNodeSelector: the node has every label of `nodeSelector` and satisfies the required node affinity.

Six operators: In, NotIn, Exists, DoesNotExist, Gt, Lt. An affinity whose list of terms is empty, and a term without
conditions, match no node; an annotation that cannot be read matches none either. Labels are looked at when the pod is
placed: a node that is relabelled keeps its pods. In the era a term that could not be read turned the terms after it
down, too; here, as today, it matches nothing and the others count. Source: `PodMatchesNodeLabels`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from scheduler_core.api.selectors import CompiledTerm, compile_selector
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.refusing import unmet
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.legacy.affinity import ANNOTATION, AffinityError, node_affinities
from scheduler_core.snapshot.label_columns import LabelColumns
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.required_affinity import Required
from scheduler_core.snapshot.snapshot import Mask, Rows, Snapshot

NAME: Final = "MatchNodeSelector"


class MatchNodeSelector:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    # The annotation is no part of a pod's shape.
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self) -> None:
        """Take no arguments."""
        self._columns = LabelColumns()

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod that asks nothing of labels."""
        spec = pod.pod.spec
        asks = spec.node_selector or spec.affinity is not None or ANNOTATION in pod.pod.metadata.annotations
        return None, SUCCESS if asks else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes that lack what the pod asks for."""
        return single_reason(~self._matches(pod, snapshot, rows), Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return each condition that does not hold, with the node's value; of several terms any one would do."""
        info = snapshot.infos[row]
        found = unmet("nodeSelector", (CompiledTerm(pod.required.selector),), info.name, info.labels)
        try:
            affinities = node_affinities(pod.pod)
        except AffinityError as wrong:
            unread: Detail = {"key": "", "operator": "", "values": [], "value": None, "error": str(wrong)}
            return [*found, {"kind": "label", "source": "nodeAffinity", "term": 0, **unread}]
        for affinity in affinities:
            terms = () if affinity.required is None else compile_selector(affinity.required)
            if affinity.required is not None and not any(term.matches(info.name, info.labels) for term in terms):
                found += unmet("nodeAffinity", terms, info.name, info.labels)
        return found

    def _matches(self, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Mask:
        try:
            affinities = node_affinities(pod.pod)
        except AffinityError:
            return np.zeros(snapshot.count(rows), dtype=np.bool_)
        held = self._columns.required_holds(Required(pod.required.selector, None), snapshot, rows)
        for affinity in affinities:
            if affinity.required is not None:
                held &= self._columns.any_holds(compile_selector(affinity.required), snapshot, rows)
        return held
