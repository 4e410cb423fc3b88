"""CEL: filters and scores that are written as expressions in the configuration.

Expressions are those of `scheduler_core.cel`. Kubernetes has no such plugin; what it does where it has expressions (the
device selectors of dynamic resource allocation) holds here too: an expression that has no value is an Error, which ends
the attempt, rather than a quiet no.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.cel.arguments import SCORE_ABS_MAX, Expression, read_cel_arguments
from scheduler_core.cel.documents import Documents
from scheduler_core.cel.language import ASKED_MIN, EvaluationError, Program, Size
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.interface import PreFilterResult, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

NAME: Final = "CEL"

_TEXTS_MAX: Final = 100_000
"""Different texts of expressions without a value, each about a node, that are kept."""
_IN_SHAPE: Final = frozenset(("metadata", member) for member in ("namespace", "labels", "ownerReferences"))
"""What of a pod's metadata is the same for all pods of one shape."""
_ON_NODE: Final = frozenset({"pods", "requested"})


def reads_of(programs: Iterable[Program]) -> Reads:
    """Return what the answers of expressions depend on besides the pod's shape."""
    found = {one for program in programs for one in program.reads}
    for root, path in found:
        if root == "pod" and not _is_in_shape(path):
            return Reads.CLUSTER
    return Reads.NODE_AND_PODS if _ON_NODE & {root for root, _ in found} else Reads.NODE


def _is_in_shape(path: tuple[str, ...]) -> bool:
    """Return whether a part of a pod is the same for all pods of one shape."""
    if path[:1] == ("spec",):
        # Volumes are, but for those that no other plugin looks at.
        return len(path) > 1 and path[1] != "volumes"
    return path in _IN_SHAPE


def _refusal(program: Program) -> Code:
    """Return the code of an expression's no: evicting pods helps only where pods are looked at."""
    looks = any(root in _ON_NODE for root, _ in program.reads)
    return Code.UNSCHEDULABLE if looks else Code.UNSCHEDULABLE_AND_UNRESOLVABLE


class Cel:
    """Filter and Score by expressions; without filters or without scores it is left out there."""

    name: ClassVar[str] = NAME

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Compile the expressions.

        Raises:
            ValueError: the arguments are wrong.
        """
        read, causes = read_cel_arguments(arguments)
        if causes:
            raise ValueError("; ".join(f"{cause.field}: {cause.message}" for cause in causes))
        self._filters, self._scores, self._normalize = read.filters, read.scores, read.normalize
        self._score_max = handle.rules.score_max
        self._texts: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._number = -SCORE_ABS_MAX
        filtering = [one.program for one in self._filters]
        scoring = [one.program for one in self._scores]
        self.filter_reads: Reads = reads_of(filtering)
        self.score_reads: Reads = reads_of(scoring)
        self._seen_by_filters = Documents(filtering)
        self._seen_by_scores = Documents(scoring)
        self._codes = [_refusal(program) for program in filtering]
        # While preemption tries victims, answers that pods do not change are kept: they are asked for once a pod.
        self._tried: dict[str, tuple[int, int]] = {}

    # Filter.

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Skip without filters."""
        self._tried = {}
        return None, SUCCESS if self._filters else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return the first filter's no, or the error of one that has no value."""
        count = snapshot.count(rows)
        codes, keys = np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int64)
        about_pod, pod_size = self._seen_by_filters.of_pod(pod)
        tried = self._tried if self.filter_reads is Reads.NODE and snapshot.origin is not None else None
        for index, info in enumerate(snapshot.infos_of(rows)):
            known = None if tried is None else tried.get(info.name)
            if known is None:
                about_node, size = self._seen_by_filters.of_node(info)
                shares = _nodes(snapshot) * len(self._filters) * self._times_asked(info)
                known = self._judge(info.name, about_pod | about_node, size.with_(pod_size), shares)
                if tried is not None:
                    tried[info.name] = known
            codes[index], keys[index] = known
        return Verdicts(codes, keys, self._explain)

    def _judge(self, node: str, variables: Mapping[str, Any], size: Size, shares: int) -> tuple[int, int]:
        """Return code and key of one node's verdict."""
        for number, one in enumerate(self._filters):
            try:
                if not one.program.evaluate(variables, size, shares):
                    return self._codes[number], number
            except EvaluationError as wrong:
                return Code.ERROR, self._broken(_told("filter", one, node, wrong))
        return Code.SUCCESS, 0

    def _times_asked(self, info: NodeInfo) -> int:
        """Return how often a node may be asked about in one attempt; it follows from what the filters read."""
        return ASKED_MIN if self.filter_reads is Reads.NODE else max(ASKED_MIN, len(info.pods) + 1)

    def _explain(self, key: int) -> tuple[str, ...]:
        """Return the message of a filter, or the text that a number below zero stands for."""
        return (self._filters[key].message if key >= 0 else self._texts.get(key, "a filter expression has no value"),)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return changes of what the filters read; any of them may turn a no into a yes."""
        events = [ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE)]
        if self.filter_reads is not Reads.NODE:
            events.append(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ALL))
        events.append(ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE))
        return [EventRegistration(event) for event in events]

    # Score.

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Skip without scores."""
        return SUCCESS if self._scores else SKIP

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return the sums of the scores, cut to whole numbers; a number below all scores where there is none.

        That is no error yet: nodes that a filter turns away are asked about too, and need no score.
        """
        shares = _nodes(snapshot) * len(self._scores) * ASKED_MIN
        about_pod, pod_size = self._seen_by_scores.of_pod(pod)
        scores = np.zeros(snapshot.count(rows), dtype=np.int64)
        for index, info in enumerate(snapshot.infos_of(rows)):
            about_node, size = self._seen_by_scores.of_node(info)
            variables, both = about_pod | about_node, size.with_(pod_size)
            scores[index] = self._sum(info.name, variables, both, shares)
        return scores

    def _sum(self, node: str, variables: Mapping[str, Any], size: Size, shares: int) -> int:
        total: float = 0
        for one in self._scores:
            try:
                total += one.program.evaluate(variables, size, shares)
            except EvaluationError as wrong:
                return self._broken(_told("score", one, node, wrong))
        if not math.isfinite(total) or abs(total) > SCORE_ABS_MAX:
            return self._broken(f"the scores on node {node} come to {total}, more than {SCORE_ABS_MAX}")
        return int(total)

    def _broken(self, text: str) -> int:
        """Return the number that stands for a text, the same one each time; all lie below every score."""
        number = self._numbers.get(text)
        if number is None:
            if len(self._numbers) >= _TEXTS_MAX:
                # Numbers go on, so that one that is remembered somewhere means no other text.
                self._numbers.clear()
                self._texts.clear()
            self._number -= 1
            number = self._numbers[text] = self._number
            self._texts[number] = text
        return number

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return the scores as they are, which must then be within the range; or, where the arguments say `normalize`,
        spread evenly from 0 for the lowest to the highest score there is for the highest (all 0 where they are equal).

        Raises:
            ValueError: an expression has no value for one of the nodes, or one that is no score.
        """
        least = int(scores.min())
        if least < -SCORE_ABS_MAX:
            first = int(scores[int(np.argmax(scores < -SCORE_ABS_MAX))])
            raise ValueError(self._texts.get(first, "a score expression has no value on a node"))
        if not self._normalize:
            return scores
        return (scores - least) * self._score_max // max(int(scores.max()) - least, 1)


def _nodes(snapshot: Snapshot) -> int:
    """Return how many nodes there are, in a dry run on a few of them too: what may be spent on one depends on it."""
    return len(snapshot if snapshot.origin is None else snapshot.origin[0])


def _told(kind: str, one: Expression, node: str, wrong: EvaluationError) -> str:
    return f'{kind} expression "{one.name}" has no value on node {node}: {wrong}'
