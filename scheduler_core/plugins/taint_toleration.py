"""TaintToleration: taints keep pods away that do not tolerate them; PreferNoSchedule only makes a node less liked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.api.node import Taint
from scheduler_core.api.pod import Toleration
from scheduler_core.api.taints import NO_SCHEDULE_EFFECTS, first_untolerated, tolerated, untolerated
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource, QueueingHint
from scheduler_core.framework.interface import Detail, Reads, by_shape
from scheduler_core.framework.refusing import taint_detail
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.kernels.resources import default_normalize
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "TaintToleration"

_NOT_KEPT: Final = 'failed to read "PreScoreTaintToleration" from cycleState: not found'

_PREFER: Final = "PreferNoSchedule"

_TaintKey = tuple[tuple[str, str, str], ...]


class TaintToleration:
    """Filter on NoSchedule and NoExecute, Score on PreferNoSchedule.

    Nodes share few distinct lists of taints, so each list gets a number and is judged once a pod.
    """

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.NODE
    score_reads: ClassVar[Reads] = Reads.NODE
    score_ranged: ClassVar[bool] = True
    pre_score_key = staticmethod(by_shape)

    def __init__(self) -> None:
        self._ids: dict[_TaintKey, int] = {(): 0}
        self._taints: list[tuple[Taint, ...]] = [()]
        self._reasons: list[str] = [""]
        self._reason_ids: dict[str, int] = {}

    def _taint_list_id(self, info: NodeInfo) -> int:
        taints = info.node.spec.taints if info.node is not None else ()
        if not taints:
            return 0
        key = tuple((taint.key, taint.value, taint.effect) for taint in taints)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self._taints)
            self._taints.append(taints)
        return found

    def _reason_id(self, taint: Taint) -> int:
        reason = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        found = self._reason_ids.get(reason)
        if found is None:
            found = self._reason_ids[reason] = len(self._reasons)
            self._reasons.append(reason)
        return found

    def _column(self, snapshot: Snapshot, rows: Rows) -> Ints:
        return snapshot.node_column((NAME, id(self)), self._taint_list_id)[rows]

    def filter_key(self, pod: PodInfo) -> Hashable:
        """Return the tolerations."""
        return pod.pod.spec.tolerations

    score_key = filter_key

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure, with the first untolerated taint, for nodes that have one."""
        lists = self._column(snapshot, rows)
        keys = np.zeros(len(lists), dtype=np.int64)
        if lists.any():
            for number in np.unique(lists).tolist():
                taint = first_untolerated(self._taints[number], pod.pod.spec.tolerations, NO_SCHEDULE_EFFECTS)
                if taint is not None:
                    keys[lists == number] = self._reason_id(taint)
        codes = np.where(keys != 0, np.int8(Code.UNSCHEDULABLE_AND_UNRESOLVABLE), np.int8(0))
        return Verdicts(codes, keys, self._explain)

    def _explain(self, key: int) -> tuple[str, ...]:
        return (self._reasons[key],)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return every taint that is not tolerated; the first is the one that the reason names."""
        node = snapshot.infos[row].node
        taints = node.spec.taints if node is not None else ()
        unwanted = untolerated(taints, pod.pod.spec.tolerations, NO_SCHEDULE_EFFECTS)
        return [taint_detail(taint) for taint in unwanted]

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Keep the tolerations that matter to PreferNoSchedule."""
        tolerations = tuple(one for one in pod.pod.spec.tolerations if one.effect in ("", _PREFER))
        state.write(NAME, tolerations)
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return how many PreferNoSchedule taints are not tolerated."""
        tolerations: tuple[Toleration, ...] = state.expect(NAME, _NOT_KEPT)
        lists = self._column(snapshot, rows)
        scores = np.zeros(len(lists), dtype=np.int64)
        if lists.any():
            for number in np.unique(lists).tolist():
                disliked = sum(
                    1 for taint in self._taints[number] if taint.effect == _PREFER and not tolerated(tolerations, taint)
                )
                if disliked:
                    scores[lists == number] = disliked
        return scores

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return 100 for no such taint down to 0 for the most."""
        return default_normalize(scores, reverse=True)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return nodes that come or change taints, and tolerations that the pod gains."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        own = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE_POD_TOLERATIONS)
        return EventRegistration(node, _after_node), EventRegistration(own, _after_own)


def _after_node(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    tolerations = pod.pod.spec.tolerations
    if new is None or first_untolerated(new.spec.taints, tolerations, NO_SCHEDULE_EFFECTS) is not None:
        return QueueingHint.SKIP
    if old is not None and first_untolerated(old.spec.taints, tolerations, NO_SCHEDULE_EFFECTS) is None:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE


def _after_own(pod: PodInfo, old: Any, new: Any) -> QueueingHint:
    return QueueingHint.QUEUE if new is not None and new.uid == pod.uid else QueueingHint.SKIP
