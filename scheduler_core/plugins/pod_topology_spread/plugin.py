"""PodTopologySpread: pods of one kind spread evenly over zones, hosts or any other label of nodes.

Per constraint there is a column of matching pods a node, and a column of the topology label's value. A place's count is
the sum over its nodes that count; Filter compares it with the emptiest place, Score likes emptier ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import log
from typing import Any, ClassVar, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler_core.api.selectors import Selector, SelectorError, deciding_labels, selects
from scheduler_core.api.taints import NO_SCHEDULE_EFFECTS, first_untolerated
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.events import EventRegistration
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, error
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.plugins.pod_topology_spread.constraints import (
    HARD,
    HOSTNAME,
    SOFT,
    Constraint,
    ConstraintReader,
    Constraints,
)
from scheduler_core.plugins.pod_topology_spread.hints import registrations
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.pod_index import Counting
from scheduler_core.snapshot.required_affinity import NO_DEMANDS
from scheduler_core.snapshot.snapshot import EMPTY_VALUE, NO_VALUE, Ints, Mask, Rows, Snapshot, at
from scheduler_core.snapshot.traits import HAS_SPREAD

NAME: Final = "PodTopologySpread"

REASON_SKEW: Final = "node(s) didn't match pod topology spread constraints"
REASON_NO_LABEL: Final = f"{REASON_SKEW} (missing required label)"

_REASONS: Final = ((), (REASON_SKEW,), (REASON_NO_LABEL,))
_CODES: Final = np.array([Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE], dtype=np.int8)
"""By key, as `_REASONS`."""

_SCORE_KEY: Final = f"{NAME}/score"

_NOWHERE: Final[Ints] = np.zeros(0, dtype=np.int64)
"""Stands for the counts of a label that no node has."""

_PLAIN_MAX: Final = 2**40
"""Largest score up to which normalising in doubles is exact."""
_NUMBERS_MAX: Final = 256
"""Numbers of pods on a node, from 0 on, whose scores are worked out at once: few stand on many nodes."""
_NOT_FILTERED: Final = 'reading "PreFilterPodTopologySpread" from cycleState: not found'
_NOT_SCORED: Final = 'error reading "PreScorePodTopologySpread" from cycleState: not found'
_encode = msgspec.msgpack.Encoder(order="deterministic").encode


class Inclusion:
    """Which nodes count for a pod under a constraint's two node policies."""

    def __init__(self, pod: PodInfo) -> None:
        self._pod = pod
        self._required = pod.required
        self._everywhere = self._required is NO_DEMANDS

    def _may_run(self, info: NodeInfo) -> int:
        return self._required.matches(info.name, info.labels)

    def _tolerated(self, info: NodeInfo) -> int:
        taints = info.node.spec.taints if info.node is not None else ()
        return first_untolerated(taints, self._pod.pod.spec.tolerations, NO_SCHEDULE_EFFECTS) is None

    def narrow(self, counted: Mask | None, constraint: Constraint, snapshot: Snapshot) -> Mask | None:
        """Return (N,) of `counted`, without nodes that the policies leave out; None means all nodes."""
        if constraint.honors_affinity and not self._everywhere:
            may_run: Mask = snapshot.node_column((NAME, "affinity", self._required), self._may_run) != 0
            counted = may_run if counted is None else counted & may_run
        if constraint.honors_taints:
            key = (NAME, "taints", _encode(self._pod.pod.spec.tolerations))
            tolerated: Mask = snapshot.node_column(key, self._tolerated) != 0
            counted = tolerated if counted is None else counted & tolerated
        return counted

    def counts(self, constraint: Constraint, info: NodeInfo) -> bool:
        """Return whether one node counts."""
        if constraint.honors_affinity and not self._everywhere and not self._may_run(info):
            return False
        return not constraint.honors_taints or bool(self._tolerated(info))


def matching_pods(snapshot: Snapshot, namespace: str, selector: Selector) -> Ints:
    """Return (N,) how many pods of the namespace the selector selects on each node, terminating ones left out."""
    if not selector:
        # Upstream counts nothing for the empty selector, as for none.
        return np.zeros(len(snapshot), dtype=np.int64)

    return snapshot.pods.column((NAME, namespace, selector), partial(_counting, namespace, selector))


def _counting(namespace: str, selector: Selector) -> Counting:
    def counts(of: str, labels: Mapping[str, str], terminating: bool) -> bool:
        return of == namespace and not terminating and selects(selector, labels)

    return Counting(counts, deciding_labels(selector))


def _all_keys(snapshot: Snapshot, constraints: Constraints) -> Mask | None:
    """Return (N,) whether the node has every constraint's topology label; None: all nodes have all of them."""
    keys = frozenset([one.topology_key for one in constraints])

    def lacks(info: NodeInfo) -> int:
        return not keys <= info.labels.keys()

    def labelled() -> Mask | None:
        lacking = snapshot.node_column((NAME, "lacks", keys), lacks)
        return lacking == 0 if np.count_nonzero(lacking) else None

    return snapshot.of_nodes((NAME, "labelled", keys), labelled)


def _per_value(ids: Ints, size: int, counted: Mask | None, numbers: Ints) -> Ints:
    """Return (V,) sums of numbers by topology value, over the nodes that count (None: all)."""
    weights = numbers if counted is None else numbers * counted
    return np.bincount(ids, weights=weights, minlength=size).astype(np.int64)


def _present(snapshot: Snapshot, key: str, counted: Mask | None) -> Mask:
    """Return (V,) which values of a topology label any of the counted nodes (None: all) has."""
    if counted is None:
        return snapshot.topology_values(key)
    seen = np.zeros(snapshot.topology_size(key), dtype=np.bool_)
    seen[snapshot.topology(key)[counted]] = True
    return seen


@dataclass(slots=True)
class _Hard:
    """PreFilter's state: per constraint, pods per topology value, and which values any counted node has."""

    constraints: Constraints
    inclusion: Inclusion
    counts: list[Ints]
    present: list[Mask]

    def clone(self) -> _Hard:
        return _Hard(self.constraints, self.inclusion, [one.copy() for one in self.counts], self.present)

    def fewest(self, index: int) -> int:
        """Return the count of the emptiest place; 0 while there are fewer places than minDomains."""
        present = self.present[index]
        if np.count_nonzero(present) < self.constraints[index].min_domains:
            return 0
        return int(self.counts[index][present].min(initial=np.iinfo(np.int32).max))


@dataclass(slots=True)
class _Soft:
    """PreScore's state: per constraint its weight and pods per topology value (None: counted per node)."""

    constraints: Constraints
    weights: list[float]
    counts: list[Ints | None]
    ignored: Mask | None
    """(K,) feasible nodes that lack a topology label, where all are asked for; None: there are none."""
    lenient: bool
    """Not all labels are asked for: a missing one adds nothing to a node's score."""

    def alone(self, snapshot: Snapshot) -> tuple[Constraint, float] | None:
        """Return the one constraint that counts, with its weight, where it counts by node, and every node has it."""
        if self.ignored is not None:
            return None
        told = [place for place, counts in enumerate(self.counts) if counts is not _NOWHERE]
        if len(told) != 1 or self.counts[told[0]] is not None:
            return None
        one = self.constraints[told[0]]
        lacks = self.lenient and bool(snapshot.topology_values(one.topology_key)[NO_VALUE])
        return None if lacks else (one, self.weights[told[0]])


@lru_cache(maxsize=64)
def _by_number(weight: float, max_skew: int) -> Ints:
    """Return (_NUMBERS_MAX,) the score of a node by its number of pods, of one constraint; shared."""
    return _rounded(np.arange(_NUMBERS_MAX, dtype=np.float64) * weight + (max_skew - 1))


def _rounded(sums: NDArray[np.float64]) -> Ints:
    """Return whole numbers, halves away from zero; `sums` is used up."""
    # Adding a half before cutting would round the number just below one half up.
    whole = np.floor(sums)
    sums -= whole
    whole += sums >= 0.5
    found: Ints = whole.astype(np.int64)
    return found


class _ByNumber:
    """Scores of all nodes that follow from each one's number of pods alone."""

    def __init__(self, namespace: str, selector: Selector, table: Ints, raw: Ints, normalized: Ints) -> None:
        self._counted = namespace, selector
        self._table = table.tolist()
        self._raw, self._normalized = raw, normalized
        self._look()

    def _look(self) -> None:
        raw = self._raw
        self._top, self._least = int(np.maximum.reduce(raw)), int(np.minimum.reduce(raw))
        self._least_count = int(np.count_nonzero(raw == self._least))

    def change(self, snapshot: Snapshot, row: int) -> bool | None:
        """Bring the scores level where one row's pods have changed; see `Following`."""
        number = int(matching_pods(snapshot, *self._counted)[row])
        if number >= len(self._table):
            return None
        before, after = int(self._raw[row]), self._table[number]
        self._raw[row] = after
        if self._least < after <= self._top and before < self._top and (before > self._least or self._least_count > 1):
            self._least_count -= before == self._least
            self._normalized[row] = _share(after, self._top, self._least)
            return False
        self._look()
        self._normalized[:] = _shares(self._raw, self._top, self._least)
        return True


def _share(score: int, top: int, least: int) -> int:
    """Return what a score normalises to, the highest of all nodes' being positive."""
    return 100 * (top + least - score) // top


def _shares(scores: Ints, top: int, least: int) -> Ints:
    """Return what scores normalise to, given the highest and the lowest of them."""
    if top > _PLAIN_MAX:
        return 100 * (top + least - scores) // top
    if not top:
        return np.full(len(scores), 100, dtype=np.int64)
    # Nothing here is negative, and doubles this small divide exactly: they take a fraction of the time.
    shares: NDArray[np.float64] = (100 * (top + least) - 100 * scores) / top
    return shares.astype(np.int64)


class PodTopologySpread:
    """Filter on DoNotSchedule constraints, Score on ScheduleAnyway ones."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.CLUSTER
    score_reads: ClassVar[Reads] = Reads.CLUSTER
    score_ranged: ClassVar[bool] = True

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take PodTopologySpreadArgs.

        Raises:
            ApiError: a default constraint cannot be read.
        """
        self._reader = ConstraintReader(arguments, handle.listers)
        points = {HARD: "preFilter", SOFT: "preScore"}
        self.idle_without = {point: HAS_SPREAD for kind, point in points.items() if not self._reader.has_defaults(kind)}

    # Filter.

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Count the matching pods of every place; Skip without hard constraints."""
        try:
            constraints = self._reader.of(pod, HARD)
        except SelectorError as wrong:
            return None, error(f"get constraints from pod: {wrong}")
        if not constraints:
            return None, SKIP
        inclusion = Inclusion(pod)
        labelled = _all_keys(snapshot, constraints)
        counts: list[Ints] = []
        present: list[Mask] = []
        for one in constraints:
            ids, size = snapshot.topology(one.topology_key), snapshot.topology_size(one.topology_key)
            counted = inclusion.narrow(labelled, one, snapshot)
            counts.append(_per_value(ids, size, counted, matching_pods(snapshot, pod.pod.namespace, one.selector)))
            present.append(_present(snapshot, one.topology_key, counted))
        state.write(NAME, _Hard(constraints, inclusion, counts, present))
        return None, SUCCESS

    def pre_filter_key(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Hashable | None:
        """Return what it follows from that PreFilter skips; None: it counts pods."""
        return self._reader.key(pod, HARD) if state.get(NAME) is None else None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Count a pod that a dry run put on the row."""
        return self._count(state, pod, added, snapshot, row, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Stop counting a pod that a dry run took from the row."""
        return self._count(state, pod, removed, snapshot, row, -1)

    def _count(self, state: CycleState, pod: PodInfo, moved: PodInfo, snapshot: Snapshot, row: int, by: int) -> Status:
        hard: _Hard = state.read(NAME)
        info = snapshot.infos[row]
        if moved.pod.namespace != pod.pod.namespace:
            return SUCCESS
        if any(one.topology_key not in info.labels for one in hard.constraints):
            return SUCCESS
        for index, one in enumerate(hard.constraints):
            # Unlike PreFilter, upstream counts terminating pods here, and every pod for the empty selector.
            if selects(one.selector, moved.pod.metadata.labels) and hard.inclusion.counts(one, info):
                hard.counts[index][snapshot.topology(one.topology_key)[row]] += by
        return SUCCESS

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure where a label is missing, or the place would exceed the emptiest one by more than maxSkew."""
        hard: _Hard = state.expect(NAME, _NOT_FILTERED)
        keys: Ints = np.zeros(snapshot.count(rows), dtype=np.int64)
        for index in range(len(hard.constraints) - 1, -1, -1):
            one = hard.constraints[index]
            ids = snapshot.topology(one.topology_key)[rows]
            room = one.max_skew + hard.fewest(index) - selects(one.selector, pod.pod.metadata.labels)
            keys[hard.counts[index][ids] > room] = 1
            keys[ids == NO_VALUE] = 2
        return Verdicts(_CODES[keys], keys, _REASONS.__getitem__)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return per constraint that fails the pods of the node's place and of the emptiest one, and the skew."""
        hard: _Hard = state.expect(NAME, _NOT_FILTERED)
        found: list[Detail] = []
        for index, one in enumerate(hard.constraints):
            place = int(snapshot.topology(one.topology_key)[row])
            matching, fewest = int(hard.counts[index][place]), hard.fewest(index)
            skew = matching + selects(one.selector, pod.pod.metadata.labels) - fewest
            if place == NO_VALUE or skew > one.max_skew:
                found.append(
                    {
                        "kind": "spread",
                        "topologyKey": one.topology_key,
                        "value": snapshot.infos[row].labels.get(one.topology_key),
                        "matching": 0 if place == NO_VALUE else matching,
                        "fewest": fewest,
                        "skew": None if place == NO_VALUE else skew,
                        "maxSkew": one.max_skew,
                        "domains": int(np.count_nonzero(hard.present[index])),
                        "minDomains": one.min_domains,
                    }
                )
        return found

    # Score.

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        """Count the matching pods of the feasible nodes' places; Skip without soft constraints."""
        try:
            constraints = self._reader.of(pod, SOFT)
        except SelectorError as wrong:
            return error(f"calculating preScoreState: {wrong}")
        if not constraints:
            return SKIP
        # The system's defaults hold for clusters without zones too; every other list wants all of its labels.
        lenient = self._reader.system_defaulted and not pod.pod.spec.topology_spread_constraints
        labelled = None if lenient else _all_keys(snapshot, constraints)
        ignored = None if labelled is None else ~labelled[rows]
        chosen = snapshot.every_row if isinstance(rows, slice) else rows
        scored = chosen if ignored is None else chosen[~ignored]
        inclusion = Inclusion(pod)
        weights: list[float] = []
        counts: list[Ints | None] = []
        for one in constraints:
            if one.topology_key == HOSTNAME:
                weights.append(log(len(scored) + 2))
                counts.append(None)
                continue
            ids, size = snapshot.topology(one.topology_key), snapshot.topology_size(one.topology_key)
            if lenient:
                values = snapshot.topology_values(one.topology_key)
                if np.count_nonzero(values[NO_VALUE + 1 :]) == 0:
                    # No node has the label: all are scored as in no place, whatever runs there.
                    weights.append(0.0)
                    counts.append(_NOWHERE)
                    continue
                if values[NO_VALUE]:
                    # A node without the label is in the place of the empty value; it is scored as in none.
                    ids = np.maximum(ids, EMPTY_VALUE)
            if len(scored) == len(snapshot) and not (lenient and values[NO_VALUE]):
                wanted = snapshot.topology_values(one.topology_key)
            else:
                wanted = np.zeros(size, dtype=np.bool_)
                wanted[ids[scored]] = True
            weights.append(log(int(np.count_nonzero(wanted)) + 2))
            counted = inclusion.narrow(labelled, one, snapshot)
            pods = matching_pods(snapshot, pod.pod.namespace, one.selector)
            counts.append(_per_value(ids, size, counted, pods))
        state.write(_SCORE_KEY, _Soft(constraints, weights, counts, ignored, lenient))
        return SUCCESS

    def pre_score_key(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Hashable | None:
        """Return what the constraints follow from, where none of them counts pods before Score does."""
        soft: _Soft | None = state.get(_SCORE_KEY)
        if soft is not None and any(counts is not None and counts is not _NOWHERE for counts in soft.counts):
            return None
        return self._reader.key(pod, SOFT)

    def score_following(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, raw: Ints, normalized: Ints
    ) -> _ByNumber | None:
        """Return what keeps all nodes' scores level, where one constraint counts pods by node."""
        soft: _Soft = state.read(_SCORE_KEY)
        alone = soft.alone(snapshot)
        if alone is None:
            return None
        one, weight = alone
        return _ByNumber(pod.pod.namespace, one.selector, _by_number(weight, one.max_skew), raw, normalized)

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        """Return Σ pods in the node's place × weight + maxSkew − 1, rounded: the fewer, the better."""
        soft: _Soft = state.expect(_SCORE_KEY, _NOT_SCORED)
        alone = soft.alone(snapshot)
        if alone is not None:
            one, weight = alone
            pods = at(matching_pods(snapshot, pod.pod.namespace, one.selector), snapshot, rows)
            if np.maximum.reduce(pods, initial=0) < _NUMBERS_MAX:
                found: Ints = _by_number(weight, one.max_skew)[pods]
                return found
        sums: NDArray[np.float64] = np.zeros(snapshot.count(rows))
        for one, weight, counts in zip(soft.constraints, soft.weights, soft.counts, strict=True):
            if counts is _NOWHERE:
                continue
            ids = at(snapshot.topology(one.topology_key), snapshot, rows)
            if counts is None:
                pods = at(matching_pods(snapshot, pod.pod.namespace, one.selector), snapshot, rows)
                own = pods * weight
                own += one.max_skew - 1
            else:
                own = (counts * weight + (one.max_skew - 1))[ids]
            if soft.lenient and snapshot.topology_values(one.topology_key)[NO_VALUE]:
                own[ids == NO_VALUE] = 0.0
            sums += own
        scores = _rounded(sums)
        if soft.ignored is not None:
            scores[soft.ignored] = 0
        return scores

    def normalize(self, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
        """Return 100 for the emptiest place; nodes that lack a label get 0."""
        soft: _Soft = state.read(_SCORE_KEY)
        kept = scores if soft.ignored is None else scores[~soft.ignored]
        top = int(kept.max(initial=0))
        normalized = _shares(scores, top, int(np.minimum.reduce(kept)) if top else 0)
        if soft.ignored is not None:
            normalized[soft.ignored] = 0
        return normalized

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Return pods that begin or cease to count, and nodes that come, go or change place or taints."""
        return registrations(self._reader)
