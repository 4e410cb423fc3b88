"""Filter over all nodes: masks with reason codes, nominated pods in two passes, sampling, reuse between shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.extending import extending
from scheduler_core.framework.guarded import WrongAnswerError
from scheduler_core.framework.interface import (
    LOCAL,
    OF_ONE_NODE,
    FilterPlugin,
    Plugin,
    PreFilterExtensions,
    PreFilterResult,
    Reads,
    shape_of,
)
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.reuse import NOWHERE, FilterMemory, FilterPart, Reuse, position_of
from scheduler_core.framework.rules import error_text
from scheduler_core.framework.sampling import feasible_nodes_to_find, sample
from scheduler_core.framework.status import SUCCESS, Code, Status, error, unresolvable
from scheduler_core.framework.trial import Explain, FilterOfNode, LightTrial, SnapshotTrial, Trial
from scheduler_core.framework.verdicts import ABSENT, PASSED, UNSEEN, FilterErrorText, FilterOutcome, Verdicts
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.resource_columns import FEW_ROWS_MAX
from scheduler_core.snapshot.snapshot import ALL_ROWS, Rows, Snapshot

# Looking a member up on the class is slow, and these are asked for every plugin and pod.
_NODE: Final = Reads.NODE
_CLUSTER: Final = Reads.CLUSTER
_SUMS: Final = Reads.NODE_AND_SUMS
_UNSETTLED: Final = (*OF_ONE_NODE, Reads.CLUSTER)
_ERROR: Final = int(Code.ERROR)
_ALLOWED: Final = np.array(
    [Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING, Code.ERROR]
)
"""What a Filter may answer."""


OneByOne = tuple[FilterOfNode, FilterPart]
"""How to ask a filter about one node, and what it has said of all."""


@dataclass(frozen=True, slots=True)
class _Active:
    """The filters of one cycle, in order.

    Attributes:
        unsettled: those to be asked again although no Node object changed.
        are_local: each looks at the node and its pods alone.
        of_node: per filter how to ask it about one node, None for one that looks at the Node object alone; None where
            one cannot be asked so, or a plugin keeps count in dry runs.
    """

    plugins: tuple[FilterPlugin, ...]
    names: tuple[str, ...]
    unsettled: tuple[FilterPlugin, ...]
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
        self._plugins: list[FilterPlugin] = extending(plugins, FilterPlugin)
        self._reads: dict[str, Reads] = {
            plugin.name: getattr(plugin, "filter_reads", Reads.CLUSTER) for plugin in self._plugins
        }
        self._keys = {plugin.name: getattr(plugin, "filter_key", shape_of) for plugin in self._plugins}
        self._of_node: dict[str, FilterOfNode] = {
            plugin.name: way
            for plugin in self._plugins
            if self._reads[plugin.name] in OF_ONE_NODE and (way := getattr(plugin, "filter_node", None)) is not None
        }
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
        first = memory.first.copy()
        every = self._handle.rules.run_all_filters
        outcome = FilterOutcome(snapshot, active.names, memory.verdicts, first, all_filters=every, quiet=quiet)
        outcome.error_text = self._error_text(pod)
        nominated = snapshot.row_of.get(pod.pod.status.nominated_node_name) if nominated_first else None
        absent = _mark_absent(outcome, result, nominated)
        self._override_nominated(state, pod, outcome, memory, active.are_local)
        tried: int | None = None
        if nominated is not None:
            status = outcome.status_of(nominated)
            if status.ok:
                first[:] = UNSEEN
                first[nominated] = PASSED
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
            plugins = tuple(plugin for plugin in self._plugins if plugin.name not in skipped)
            names = tuple(plugin.name for plugin in plugins)
            unsettled = tuple(plugin for plugin in plugins if self._reads[plugin.name] in _UNSETTLED)
            are_local = all(self._reads[name] in LOCAL for name in names)
            of_node = self._ways_to_ask(plugins, skipped)
            found = self._by_skipped[skipped] = _Active(plugins, names, unsettled, are_local, of_node)
        return found

    def _ways_to_ask(
        self, plugins: Sequence[FilterPlugin], skipped: frozenset[str]
    ) -> tuple[FilterOfNode | None, ...] | None:
        if any(plugin.name not in skipped for plugin in self._extensions):
            return None
        ways: list[FilterOfNode | None] = []
        for plugin in plugins:
            way = self._of_node.get(plugin.name)
            if way is None and self._reads[plugin.name] is not _NODE:
                return None
            ways.append(way)
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
        quiet = True
        changes = self._reuse.changes
        changes.look(snapshot)
        touched = changes.since(memory.position)
        memory.position = changes.now
        one_by_one = state.timing is None
        recombine: Rows = ALL_ROWS if touched is None else touched.any
        if touched is None:
            memory.nominated.clear()
        elif memory.nominated:
            for row in touched.any.tolist():
                memory.nominated.pop(row, None)
        for plugin in active.plugins if touched is None or len(touched.node) else active.unsettled:
            name, reads = plugin.name, self._reads[plugin.name]
            part = memory.parts.get(name)
            if reads not in LOCAL:
                recombine = ALL_ROWS
            if reads is _CLUSTER:
                part = FilterPart(snapshot)
            elif part is None:
                part = self._reuse.filter_parts.of((name, self._keys[name](pod)), snapshot)
            way = self._of_node.get(name) if one_by_one else None
            one = None if way is None else partial(way, state, pod)
            quiet = not part.level(partial(_ask, plugin, state, pod, snapshot), reads, changes, one) and quiet
            if part.position is NOWHERE:
                # It broke: all are asked again the next time.
                memory.position, recombine = NOWHERE, ALL_ROWS
            if memory.parts.get(name) is not part:
                memory.parts[name], memory.verdicts[name] = part, part.verdicts
        _combine(memory, len(snapshot), active.names, recombine)
        return quiet

    def unsettled(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Sequence[OneByOne] | None:
        """Return the filters whose verdicts change with what a node's pods come to, None where one looks farther."""
        memory = self._reuse.filters.known((pod.shape, state.skip_filter), snapshot)
        active = self._active(state.skip_filter)
        if memory is None or memory.position != position_of(snapshot) or not active.are_local:
            return None
        if any(self._reads[plugin.name] is not _SUMS for plugin in active.unsettled):
            return None
        ways = [self._of_node.get(plugin.name) for plugin in active.unsettled]
        parts = [memory.parts[plugin.name] for plugin in active.unsettled]
        found = [(way, part) for way, part in zip(ways, parts, strict=True) if way is not None]
        return found if len(found) == len(ways) else None

    # One node: dry runs.

    def node(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Status:
        """Return the first refusal of one row as it is, or success."""
        rows = np.array([row], dtype=np.intp)
        known = self._known(state, pod, snapshot, row)
        active = self._active(state.skip_filter)
        for plugin, name in zip(active.plugins, active.names, strict=True):
            if known is not None and self._reads[name] is _NODE:
                verdicts, index = known[0][name], known[1]
            else:
                verdicts, index = _ask(plugin, state, pod, snapshot, rows), 0
            if verdicts.codes[index]:
                return verdicts.status(index, name, self._error_text(pod))
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


def _ask(plugin: FilterPlugin, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
    timing = state.timing
    began = 0 if timing is None else timing.timer()
    try:
        answer = plugin.filter(state, pod, snapshot, rows)
        if not _is_of_the_core(type(plugin)):
            answer = _checked(answer, snapshot.count(rows))
    except Exception as raised:
        answer = _ask_one_by_one(plugin, state, pod, snapshot, rows, raised)
    if timing is not None:
        timing.note(plugin.name, "Filter", Code.SUCCESS, began)
    return answer


def _ask_one_by_one(
    plugin: FilterPlugin, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows, raised: Exception
) -> Verdicts:
    """Return the verdicts of a plugin that raised over some rows: each row's own, Error where it raises there too."""
    every = snapshot.every_row[rows].tolist()
    statuses: list[Status] = []
    if len(every) == 1 or isinstance(raised, WrongAnswerError):
        statuses = [error(str(raised))] * len(every)
        every = []
    for row in every:
        try:
            statuses.append(plugin.filter(state, pod, snapshot, np.array([row], dtype=np.intp)).status(0))
        except Exception as own:
            statuses.append(error(str(own)))
    reasons = list(dict.fromkeys(status.reasons for status in statuses))
    number = {own: key for key, own in enumerate(reasons)}
    codes = np.array([status.code for status in statuses], dtype=np.int8)
    keys = np.array([number[status.reasons] for status in statuses], dtype=np.int64)
    return Verdicts(codes, keys, reasons.__getitem__, pieced=True)


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


@cache
def _is_of_the_core(plugin: type) -> bool:
    """Return whether a plugin's answers need not be looked at: the tests of the core's own have done that."""
    return plugin.__module__.startswith("scheduler_core.")


def _checked(answer: Verdicts, count: int) -> Verdicts:
    """Return verdicts in which whatever a Filter may not answer (Wait, Skip, an unknown code) is an Error.

    Raises:
        WrongAnswerError: it did not answer for every node.
    """
    if len(answer.codes) != count or len(answer.keys) != count:
        raise WrongAnswerError(f"{len(answer.codes)} verdicts and {len(answer.keys)} keys for {count} nodes")
    strange = ~np.isin(answer.codes, _ALLOWED)
    if strange.any():
        answer.codes[strange] = _ERROR
    return answer


def _combine(memory: FilterMemory, count: int, active: Sequence[str], rows: Rows) -> None:
    """Find each row's first failing filter again, for the rows that were asked about again."""
    if not isinstance(rows, slice) and len(rows) <= FEW_ROWS_MAX:
        verdicts = memory.verdicts
        for row in rows.tolist():
            first_failing = PASSED
            for index, name in enumerate(active):
                if verdicts[name].codes[row]:
                    first_failing = index
                    break
            memory.first[row] = first_failing
        return
    first = np.full(count, PASSED, dtype=np.int8)
    for index in range(len(active) - 1, -1, -1):
        part = memory.parts[active[index]]
        if part.failing:
            first[part.verdicts.codes != 0] = index
    memory.first = first
