"""Filter over all nodes: masks with reason codes, nominated pods in two passes, sampling, reuse between shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.extending import extending
from scheduler_core.framework.filter_asking import Filter, ask_filter, described
from scheduler_core.framework.interface import (
    OF_ONE_NODE,
    FilterPlugin,
    Plugin,
    PreFilterExtensions,
    PreFilterResult,
    Reads,
)
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.reuse import NOWHERE, FilterMemory, FilterPart, Reuse, position_of
from scheduler_core.framework.rules import error_text
from scheduler_core.framework.sampling import feasible_nodes_to_find, sample
from scheduler_core.framework.status import SUCCESS, Status, error, unresolvable
from scheduler_core.framework.trial import Explain, FilterOfNode, LightTrial, SnapshotTrial, Trial
from scheduler_core.framework.verdicts import (
    ABSENT,
    PASSED,
    UNSEEN,
    FilterErrorText,
    FilterOutcome,
    Verdicts,
    rows_passed,
)
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.resource_columns import FEW_ROWS_MAX
from scheduler_core.snapshot.snapshot import ALL_ROWS, Rows, Snapshot

# Looking a member up on the class is slow, and these are asked for every plugin and pod.
_NODE: Final = Reads.NODE
_CLUSTER: Final = Reads.CLUSTER
_SUMS: Final = Reads.NODE_AND_SUMS
_UNSETTLED: Final = (*OF_ONE_NODE, Reads.CLUSTER)

OneByOne = tuple[FilterOfNode, FilterPart]
"""How to ask a filter about one node, and what it has said of all."""


@dataclass(frozen=True, slots=True)
class _Active:
    """The filters of one cycle, in order.

    Attributes:
        settled: those that need not be asked again while no Node object changes.
        unsettled: the others.
        settled_names: the settled ones' names, empty in the unsettled ones' places.
        are_local: each looks at the node and its pods alone.
        of_node: per filter how to ask it about one node, None for one that looks at the Node object alone; None where
            one cannot be asked so, or a plugin keeps count in dry runs.
    """

    every: tuple[Filter, ...]
    names: tuple[str, ...]
    settled: tuple[Filter, ...]
    unsettled: tuple[Filter, ...]
    settled_names: tuple[str, ...]
    are_local: bool
    of_node: tuple[FilterOfNode | None, ...] | None


class Filtering:
    """The filter plugins of one profile."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        handle: Handle,
        reuse: Reuse,
        feasible_max: int | None = None,
        *,
        pre_filter: Sequence[Plugin],
    ) -> None:
        """Take the plugins of Filter, and those of PreFilter: these keep their state level in dry runs."""
        self._feasible_max = feasible_max
        self._filters = [described(plugin) for plugin in extending(plugins, FilterPlugin)]
        self._extensions: list[PreFilterExtensions] = extending(pre_filter, PreFilterExtensions)
        self._handle = handle
        self._reuse = reuse
        self._by_skipped: dict[frozenset[str], _Active] = {}

    def run(
        self,
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        result: PreFilterResult,
        narrowing: frozenset[str],
        *,
        percentage: int,
        start: int,
        nominated_first: bool = True,
    ) -> FilterOutcome:
        """Run all filters over all nodes.

        Args:
            state: the cycle's scratch; plugins in `skip_filter` are left out.
            pod: the pod; its nominated node is tried first and, if it passes, taken alone.
            snapshot: the nodes.
            result: the nodes that PreFilter left.
            narrowing: plugins that narrowed them, for the absent nodes' reason.
            percentage: percentageOfNodesToScore; below 100 the search stops once enough nodes are feasible.
            start: row at which a sampled search begins; the next one begins `processed` rows later. With fewer nodes
                left it is taken round their number.
            nominated_first: try the nominated node alone first; False once that has been tried in vain.
        """
        active = self._active(state.skip_filter)
        memory = self._reuse.filters.of((pod.shape, state.skip_filter), snapshot)
        quiet = self._level(state, pod, snapshot, memory, active)
        if memory.passed is None:
            memory.passed = rows_passed(memory.first, snapshot)
        first = memory.first.copy()
        every = self._handle.rules.run_all_filters
        outcome = FilterOutcome(snapshot, active.names, memory.verdicts, first, all_filters=every, quiet=quiet)
        outcome.error_text = self._error_text(pod)
        nominated = snapshot.row_of.get(pod.pod.status.nominated_node_name) if nominated_first else None
        absent = _mark_absent(outcome, result, nominated)
        self._override_nominated(state, pod, outcome, memory, active.are_local)
        if absent is None and not outcome.overrides:
            outcome.take_feasible(memory.passed)
        tried: int | None = None
        if nominated is not None:
            status = outcome.status_of(nominated)
            if status.ok:
                first[:] = UNSEEN
                first[nominated] = PASSED
                outcome.work_out_anew()
                outcome.overrides.clear()
                outcome.nominated = {row: both for row, both in outcome.nominated.items() if row == nominated}
                outcome.used_nominated_node = True
                outcome.processed = 1
                return outcome
            if status.rejected:
                tried = nominated
                narrowing = narrowing | {status.plugin}
            elif absent is not None and absent[nominated]:
                # Broken there: as if nobody had asked, since PreFilter left the node out.
                first[nominated] = ABSENT
                outcome.overrides.pop(nominated, None)
        if absent is not None:
            listed = " ".join(sorted(narrowing))
            outcome.absent_status = unresolvable(f"node(s) didn't satisfy plugin(s) [{listed}]")
        present = len(snapshot) if absent is None else int(np.count_nonzero(~absent))
        wanted = feasible_nodes_to_find(present, percentage)
        until_next = self._feasible_max is None or wanted < self._feasible_max
        if self._feasible_max is not None:
            wanted = min(wanted, self._feasible_max)
        sample(outcome, absent, wanted, start, until_next=until_next, tried=tried)
        return outcome

    def _active(self, skipped: frozenset[str]) -> _Active:
        """Return the filters that are left without those that PreFilter skipped."""
        found = self._by_skipped.get(skipped)
        if found is None:
            every = tuple(one for one in self._filters if one.name not in skipped)
            names = tuple(one.name for one in every)
            unsettled = tuple(one for one in every if one.reads in _UNSETTLED)
            settled = tuple(one for one in every if one.reads not in _UNSETTLED)
            settled_names = tuple("" if one in unsettled else one.name for one in every)
            are_local = all(one.is_local for one in every)
            of_node = self._ways_to_ask(every, skipped)
            found = _Active(every, names, settled, unsettled, settled_names, are_local, of_node)
            self._by_skipped[skipped] = found
        return found

    def _ways_to_ask(
        self, filters: Sequence[Filter], skipped: frozenset[str]
    ) -> tuple[FilterOfNode | None, ...] | None:
        if any(plugin.name not in skipped for plugin in self._extensions):
            return None
        ways: list[FilterOfNode | None] = []
        for one in filters:
            if one.of_node is None and one.reads is not _NODE:
                return None
            ways.append(one.of_node)
        return tuple(ways)

    def _override_nominated(
        self,
        state: CycleState,
        pod: PodInfo,
        outcome: FilterOutcome,
        memory: FilterMemory,
        are_local: bool,
    ) -> None:
        """Ask again, with nominated pods added, about the nodes that pods of at least this priority hope for."""
        for name in self._handle.nominator.nodes():
            row = outcome.snapshot.row_of.get(name)
            if row is None or outcome.first[row] == ABSENT:
                continue
            rivals = self._rivals(pod, name)
            if not rivals:
                continue
            known = memory.nominated.get(row)
            if known is not None and known[0] == rivals:
                status = known[1]
            else:
                status = self._with_rivals(state, pod, outcome.snapshot, row, rivals)
                if are_local:
                    memory.nominated[row] = (rivals, status)
            outcome.nominated[row] = (rivals, status)
            if status.ok:
                continue
            outcome.overrides[row] = status
            outcome.first[row] = next(
                (index for index, plugin in enumerate(outcome.plugins) if plugin == status.plugin), 0
            )

    def _level(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, memory: FilterMemory, active: _Active
    ) -> bool:
        """Bring the remembered verdicts level with the snapshot; return whether none of them is an Error."""
        changes = self._reuse.changes
        changes.look(snapshot)
        touched = changes.since(memory.position)
        memory.position = changes.now
        if touched is None:
            return self._level_anew(state, pod, snapshot, memory, active)
        if memory.nominated:
            for row in touched.any.tolist():
                memory.nominated.pop(row, None)
        filters = active.every if len(touched.node) else active.unsettled
        quiet = self._ask_each(state, pod, snapshot, memory, filters)
        is_whole = memory.position is NOWHERE or not all(one.is_local for one in filters)
        _combine(memory, len(snapshot), active.names, ALL_ROWS if is_whole else touched.any)
        return quiet

    def _level_anew(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, memory: FilterMemory, active: _Active
    ) -> bool:
        """Do the same for a memory of which nothing holds any more.

        What the Node objects alone decide is kept for all pods that the settled filters cannot tell apart: most often
        only the others are left to be asked.
        """
        changes, quiet = self._reuse.changes, True
        base = self._reuse.settled.of((state.skip_filter, *[one.key(pod) for one in active.settled]), snapshot)
        has_same_nodes = changes.has_same_nodes(base.position)
        base.position = changes.now
        if not has_same_nodes:
            quiet = self._ask_each(state, pod, snapshot, base, active.settled)
            _combine(base, len(snapshot), active.settled_names, ALL_ROWS)
            base.passed = rows_passed(base.first, snapshot)
        memory.nominated.clear()
        memory.parts.update(base.parts)
        if base.position is NOWHERE:
            memory.position = NOWHERE
        quiet = self._ask_each(state, pod, snapshot, memory, active.unsettled) and quiet
        parts = memory.parts
        # In their order, in which traces tell of them.
        memory.verdicts = {name: parts[name].verdicts for name in active.names}
        for one in active.unsettled:
            if parts[one.name].failing:
                _combine(memory, len(snapshot), active.names, ALL_ROWS)
                return quiet
        memory.first, memory.passed = base.first.copy(), base.passed
        return quiet

    def _ask_each(
        self,
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        memory: FilterMemory,
        filters: Sequence[Filter],
    ) -> bool:
        """Bring some filters' verdicts level; return whether none of them is an Error."""
        quiet, changes = True, self._reuse.changes
        for one in filters:
            part = memory.parts.get(one.name)
            if one.reads is _CLUSTER:
                part = FilterPart(snapshot)
            elif part is None:
                part = self._reuse.filter_parts.of((one.name, one.key(pod)), snapshot)
            if part.position != changes.now:
                way = one.of_node if state.timing is None else None
                ask_one = None if way is None else partial(way, state, pod)
                ask = partial(ask_filter, one.plugin, state, pod, snapshot)
                quiet = not part.level(ask, one.reads, changes, ask_one) and quiet
                if part.position is NOWHERE:
                    # It broke: all are asked again the next time.
                    memory.position = NOWHERE
            if memory.parts.get(one.name) is not part:
                memory.parts[one.name], memory.verdicts[one.name] = part, part.verdicts
        return quiet

    def unsettled(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Sequence[OneByOne] | None:
        """Return the filters whose verdicts change with what a node's pods come to, None where one looks farther."""
        memory = self._reuse.filters.known((pod.shape, state.skip_filter), snapshot)
        active = self._active(state.skip_filter)
        if memory is None or memory.position != position_of(snapshot) or not active.are_local:
            return None
        if any(one.reads is not _SUMS or one.of_node is None for one in active.unsettled):
            return None
        return [(one.of_node, memory.parts[one.name]) for one in active.unsettled if one.of_node is not None]

    # One node: dry runs.

    def node(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Return the first refusal of one row as it is, or success."""
        rows = np.array([row], dtype=np.intp)
        known = self._known(state, pod, snapshot, row)
        active = self._active(state.skip_filter)
        for one in active.every:
            if known is not None and one.reads is _NODE:
                verdicts, index = known[0][one.name], known[1]
            else:
                verdicts, index = ask_filter(one.plugin, state, pod, snapshot, rows), 0
            if verdicts.codes[index]:
                return verdicts.status(index, one.name, self._error_text(pod))
        return SUCCESS

    def _error_text(self, pod: PodInfo) -> FilterErrorText | None:
        """Return the era's words of a filter's error for the pod; None: today's."""
        words = self._handle.rules.error_text
        return None if words is error_text else lambda plugin, message: words("Filter", plugin, pod.pod, message)

    def _known(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int
    ) -> tuple[dict[str, Verdicts], int] | None:
        """Return what was answered for the node that a dry run's row was taken from, and its row there.

        A dry run changes pods, not nodes: what depends on the Node object alone need not be asked again.
        """
        if snapshot.origin is None:
            return None
        origin, rows = snapshot.origin
        memory = self._reuse.filters.known((pod.shape, state.skip_filter), origin)
        return None if memory is None or memory.position != position_of(origin) else (memory.verdicts, rows[row])

    def trial(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Trial:
        """Begin a dry run on one row of the cycle's snapshot."""
        active = self._active(state.skip_filter)
        if active.of_node is not None and snapshot.origin is None:
            memory = self._reuse.filters.known((pod.shape, state.skip_filter), snapshot)
            if memory is not None and memory.position == position_of(snapshot):
                words = self._error_text(pod)
                asked: list[tuple[str, FilterOfNode | Status, Explain]] = []
                for name, way in zip(active.names, active.of_node, strict=True):
                    verdicts = memory.verdicts[name]
                    if way is not None:
                        asked.append((name, way, verdicts.explain))
                    elif verdicts.codes[row]:
                        asked.append((name, verdicts.status(row, name, words), verdicts.explain))
                return LightTrial(state, pod, snapshot.infos[row], asked, self._rivals(pod, snapshot.names[row]), words)
        return SnapshotTrial(self, state, pod, snapshot, row)

    def node_with_nominated(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Return the verdict on one row under the two-pass rule: with the nominated pods added, then without.

        Both must pass: nominated pods may never arrive, so nothing may rely on them (pod affinity), and may arrive, so
        nothing may ignore them.
        """
        rivals = self._rivals(pod, snapshot.names[row])
        if rivals:
            status = self._with_rivals(state, pod, snapshot, row, rivals)
            if not status.ok:
                return status
        return self.node(state, pod, snapshot, row)

    def _rivals(self, pod: PodInfo, node_name: str) -> tuple[PodInfo, ...]:
        """Return the other pods nominated to a node whose claim is no weaker than the pod's."""
        nominated = self._handle.nominator.nominated_to(node_name)
        return tuple(rival for rival in nominated if rival.priority >= pod.priority and rival.uid != pod.uid)

    def _with_rivals(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int, rivals: Sequence[PodInfo]
    ) -> Status:
        """Return the verdict on one row with nominated pods added."""
        trial, copy = snapshot.what_if([row]), state.clone()
        for rival in rivals:
            trial.add_pod(0, rival)
            status = self.add_pod(copy, pod, rival, trial, 0)
            if not status.ok:
                return status
        return self.node(copy, pod, trial, 0)

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Run the AddPod extensions of the filters that are not skipped."""
        for plugin in self._extensions:
            if plugin.name not in state.skip_filter:
                status = plugin.add_pod(state, pod, added, snapshot, row)
                if not status.ok:
                    return error(f'running AddPod on PreFilter plugin "{plugin.name}": {status.message}')
        return SUCCESS

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Run the RemovePod extensions of the filters that are not skipped."""
        for plugin in self._extensions:
            if plugin.name not in state.skip_filter:
                status = plugin.remove_pod(state, pod, removed, snapshot, row)
                if not status.ok:
                    return error(f'running RemovePod on PreFilter plugin "{plugin.name}": {status.message}')
        return SUCCESS


def _mark_absent(outcome: FilterOutcome, result: PreFilterResult, tried: int | None) -> NDArray[np.bool_] | None:
    """Mark the rows that PreFilter ruled out, and return them; one that is tried before all others is looked at."""
    if result.node_names is None:
        return None
    absent = np.ones(len(outcome.snapshot), dtype=np.bool_)
    for name in result.node_names:
        row = outcome.snapshot.row_of.get(name)
        if row is not None:
            absent[row] = False
    marked = absent.copy()
    if tried is not None:
        marked[tried] = False
    outcome.first[marked] = ABSENT
    return absent


def _combine(memory: FilterMemory, count: int, active: Sequence[str], rows: Rows) -> None:
    """Find each row's first failing filter again, for the rows that were asked about again.

    Args:
        memory: holds the verdicts.
        count: of all rows.
        active: the filters' names in order; in an empty one's place there is none.
        rows: which.
    """
    if not isinstance(rows, slice) and len(rows) <= FEW_ROWS_MAX:
        verdicts = memory.verdicts
        for row in rows.tolist():
            first_failing = PASSED
            for index, name in enumerate(active):
                if verdicts[name].codes[row]:
                    first_failing = index
                    break
            if memory.first[row] != first_failing:
                memory.first[row], memory.passed = first_failing, None
        return
    first = np.full(count, PASSED, dtype=np.int8)
    for index in range(len(active) - 1, -1, -1):
        part = memory.parts[active[index]] if active[index] else None
        if part is not None and part.failing:
            first[part.verdicts.codes != 0] = index
    memory.first, memory.passed = first, None
