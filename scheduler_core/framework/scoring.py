"""Score, NormalizeScore and weights over the feasible nodes, with reuse between pods."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.extending import extends
from scheduler_core.framework.interface import MAX_NODE_SCORE, Reads, ScoreNormalizer, ScorePlugin, shape_of
from scheduler_core.framework.reuse import Reuse, ScoreMemory, ScorePart
from scheduler_core.framework.rules import ErrorText, error_text
from scheduler_core.framework.scores import PluginScores, Scores
from scheduler_core.framework.status import SUCCESS, Code, Status, error
from scheduler_core.kernels.resources import InvalidScoreError
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot

_CLUSTER: Final = Reads.CLUSTER
_NODE_AND_PODS: Final = Reads.NODE_AND_PODS


class _ScoreError(Exception):
    """At `Score`, `NormalizeScore` or `Weight` a plugin broke."""

    def __init__(self, point: str, plugin: str, message: str) -> None:
        super().__init__(message)
        self.point, self.plugin = point, plugin


@dataclass(frozen=True, slots=True)
class _Scorer:
    """A score plugin with what is asked about it once: protocol checks are too slow for every pod."""

    plugin: ScorePlugin
    name: str
    weight: int
    normalizer: ScoreNormalizer | None
    reads: Reads
    key: Callable[[PodInfo], Hashable]
    ranged: bool
    """Its scores are within the range by construction, so nobody need look."""
    of_node: Callable[[CycleState, PodInfo, NodeInfo], int] | None
    """How to ask about one node, of a plugin that looks at the node and its pods alone."""


@dataclass(frozen=True, slots=True)
class _Active:
    """The score plugins of one cycle, in order.

    Attributes:
        every: all of them.
        kept: those whose raw scores are reused.
        unsettled: those of them to be asked again although no Node object changed.
        summed: those of them without normalisation: their sum is kept.
        open: those that every cycle must look at: all but what is summed up and within range.
    """

    every: tuple[_Scorer, ...]
    kept: tuple[_Scorer, ...]
    unsettled: tuple[_Scorer, ...]
    summed: tuple[_Scorer, ...]
    open: tuple[_Scorer, ...]


@dataclass(slots=True)
class _Cycle:
    """What one cycle's Score is about.

    Attributes:
        rows: (K,) the feasible rows.
        everywhere: whether these are all rows.
    """

    state: CycleState
    pod: PodInfo
    snapshot: Snapshot
    rows: NDArray[np.intp]
    everywhere: bool

    def of(self, own: Ints) -> Ints:
        """Return (K,) the feasible rows' part of (N,) scores."""
        return own if self.everywhere else own[self.rows]


class Scoring:
    """The score plugins of one profile, with their weights."""

    def __init__(
        self,
        plugins: Sequence[tuple[ScorePlugin, int]],
        reuse: Reuse,
        score_max: int = MAX_NODE_SCORE,
        error_text: ErrorText = error_text,
    ) -> None:
        self._score_max = score_max
        self._error_text = error_text
        self._scorers = [
            _Scorer(
                plugin,
                plugin.name,
                weight,
                cast("ScoreNormalizer", plugin) if extends(plugin, ScoreNormalizer) else None,
                getattr(plugin, "score_reads", Reads.CLUSTER),
                getattr(plugin, "score_key", shape_of),
                score_max == MAX_NODE_SCORE and getattr(plugin, "score_ranged", False),
                getattr(plugin, "score_node", None) if getattr(plugin, "score_reads", None) is _NODE_AND_PODS else None,
            )
            for plugin, weight in plugins
        ]
        self._reuse = reuse
        self._by_skipped: dict[frozenset[str], _Active] = {}

    def run(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: NDArray[np.intp]
    ) -> tuple[Scores | None, Status]:
        """Score the feasible rows.

        Args:
            state: the cycle's scratch; plugins in `skip_score` are left out.
            pod: the pod.
            snapshot: the nodes.
            rows: (K,) feasible rows, at least one.

        Returns:
            The scores and success, or None and the error.
        """
        active = self._active(state.skip_score)
        cycle = _Cycle(state, pod, snapshot, rows, len(rows) == len(snapshot))
        self._reuse.changes.look(snapshot)
        key = (pod.shape, state.skip_score)
        memory = self._reuse.scores.of(key, snapshot)
        try:
            raw, total = self._totals(cycle, memory, active) if memory.seen else self._first_totals(cycle, active)
        except _ScoreError:
            self._reuse.scores.forget(key)
            return self._afresh(cycle, active)
        memory.seen = True
        if not self._scorers:
            total += 1

        def detail() -> Mapping[str, PluginScores]:
            parts: dict[str, PluginScores] = {}
            for one in active.every:
                own = raw[one.name]
                if len(own) != len(rows):
                    own = own[rows]
                normalized = own if one.normalizer is None else _normalized(one, state, pod, own)
                parts[one.name] = PluginScores(own, normalized, normalized * one.weight)
            return parts

        return Scores(rows, total, state.skip_score, detail), SUCCESS

    def _afresh(self, cycle: _Cycle, active: _Active) -> tuple[Scores | None, Status]:
        """Score without what is kept, which broke: perhaps at a node that is not feasible, and so counts for nothing.

        The error, if there is one, is upstream's: of the first plugin that breaks, in scoring, then in normalising.
        """
        rows, state, pod = cycle.rows, cycle.state, cycle.pod
        parts: dict[str, PluginScores] = {}
        total = np.zeros(len(rows), dtype=np.int64)
        try:
            raw = {one.name: _score(one.plugin, cycle, rows) for one in active.every}
            final = {
                one.name: raw[one.name] if one.normalizer is None else _normalized(one, state, pod, raw[one.name])
                for one in active.every
            }
            for one in active.every:
                self._check(one, final[one.name])
                weighted = final[one.name] * one.weight
                parts[one.name] = PluginScores(raw[one.name], final[one.name], weighted)
                total += weighted
        except _ScoreError as wrong:
            return None, error(self._error_text(wrong.point, wrong.plugin, pod.pod, str(wrong)))
        return Scores(rows, total, state.skip_score, lambda: parts), SUCCESS

    def _active(self, skipped: frozenset[str]) -> _Active:
        """Return the score plugins that are left without those that PreScore skipped."""
        found = self._by_skipped.get(skipped)
        if found is None:
            every = tuple(one for one in self._scorers if one.name not in skipped)
            kept = tuple(one for one in every if one.reads is not _CLUSTER)
            found = self._by_skipped[skipped] = _Active(
                every,
                kept,
                tuple(one for one in kept if one.reads is _NODE_AND_PODS),
                tuple(one for one in kept if one.normalizer is None),
                tuple(one for one in every if one.reads is _CLUSTER or one.normalizer is not None or not one.ranged),
            )
        return found

    def _first_totals(self, cycle: _Cycle, active: _Active) -> tuple[dict[str, Ints], Ints]:
        """Return what `_totals` does, for a shape that may never come again: nothing is summed up for later."""
        raw: dict[str, Ints] = {}
        total = np.zeros(len(cycle.rows), dtype=np.int64)
        for one in active.every:
            if one.reads is _CLUSTER:
                own = raw[one.name] = _score(one.plugin, cycle, cycle.rows)
            else:
                part = self._reuse.score_parts.of((one.name, one.key(cycle.pod)), cycle.snapshot)
                if cycle.everywhere or part.seen:
                    self._level(cycle, part, one)
                    if part.even is not None:
                        raw[one.name] = part.raw
                        total += part.even
                        continue
                    own = raw[one.name] = cycle.of(part.raw)
                else:
                    part.seen = True
                    own = raw[one.name] = _score(one.plugin, cycle, cycle.rows)
            if one.normalizer is not None:
                own = _normalized(one, cycle.state, cycle.pod, own)
            self._check(one, own)
            total += own if one.weight == 1 else own * one.weight
        return raw, total

    def _totals(self, cycle: _Cycle, memory: ScoreMemory, active: _Active) -> tuple[dict[str, Ints], Ints]:
        """Return raw scores by plugin ((N,) for all rows, or (K,)) and (K,) totals."""
        self._level_all(cycle, memory, active)
        raw = {name: part.raw for name, part in memory.parts.items()}
        total = memory.base.copy() if cycle.everywhere else memory.base[cycle.rows]
        for one in active.open:
            if one.reads is _CLUSTER:
                own = raw[one.name] = _score(one.plugin, cycle, cycle.rows)
            else:
                part = memory.parts[one.name]
                if one.normalizer is not None and part.even is not None:
                    total += part.even
                    continue
                own = cycle.of(part.raw)
            if one.normalizer is not None:
                own = _normalized(one, cycle.state, cycle.pod, own)
            self._check(one, own)
            if one.reads is _CLUSTER or one.normalizer is not None:
                total += own * one.weight
        return raw, total

    def _level_all(self, cycle: _Cycle, memory: ScoreMemory, active: _Active) -> None:
        """Bring the remembered raw scores, and their sum, level with the snapshot."""
        changes = self._reuse.changes
        touched = changes.since(memory.position)
        for one in active.kept if touched is None or len(touched.node) else active.unsettled:
            part = memory.parts.get(one.name)
            if part is None:
                part = self._reuse.score_parts.of((one.name, one.key(cycle.pod)), cycle.snapshot)
                memory.parts[one.name] = part
            self._level(cycle, part, one)
        memory.position = changes.now
        if touched is None or len(touched.node):
            memory.base = np.zeros(len(cycle.snapshot), dtype=np.int64)
            for one in active.summed:
                memory.base += memory.parts[one.name].raw * one.weight
        elif touched.only >= 0:
            # One row is the rule, and plain indexing is faster than indexing by arrays.
            row, total = touched.only, 0
            for one in active.summed:
                total += int(memory.parts[one.name].raw[row]) * one.weight
            memory.base[row] = total
        elif len(touched.any):
            memory.base[touched.any] = sum(
                memory.parts[one.name].raw[touched.any] * one.weight for one in active.summed
            )

    def _level(self, cycle: _Cycle, part: ScorePart, one: _Scorer) -> None:
        """Bring a plugin's raw scores of all rows level, and what it adds to every total while all of them are 0.

        Equal raw scores normalise to equal ones, so one node's answer is everybody's.
        """
        part.seen = True
        of_node = None
        if one.of_node is not None and cycle.state.timing is None:
            of_node = partial(_score_node, one.name, one.of_node, cycle)
        if not part.level(partial(_score, one.plugin, cycle), one.reads, self._reuse.changes, of_node):
            return
        part.even = None
        if one.normalizer is None and one.reads is _NODE_AND_PODS:
            # Resources rarely score 0 everywhere: looking costs more than adding.
            return
        if not part.raw.any():
            nothing = np.zeros(1, dtype=np.int64)
            if one.normalizer is not None:
                nothing = _normalized(one, cycle.state, cycle.pod, nothing)
            self._check(one, nothing)
            part.even = one.weight * int(nothing[0])

    def _check(self, one: _Scorer, scores: Ints) -> None:
        """Look at a plugin's final scores, which must be within the era's range."""
        if not one.ranged and len(scores):
            low, high = int(scores.min()), int(scores.max())
            if low < 0 or high > self._score_max:
                raise _out_of_range(one.name, low if low < 0 else high, self._score_max)


def _out_of_range(plugin: str, wrong: int, most: int) -> _ScoreError:
    text = f"returns an invalid score {wrong}, it should in the range of [0, {most}] after normalizing"
    return _ScoreError("Weight", plugin, text)


def _score(plugin: ScorePlugin, cycle: _Cycle, rows: Rows) -> Ints:
    timing = cycle.state.timing
    try:
        if timing is None:
            return plugin.score(cycle.state, cycle.pod, cycle.snapshot, rows)
        began = timing.timer()
        scores = plugin.score(cycle.state, cycle.pod, cycle.snapshot, rows)
        timing.note(plugin.name, "Score", Code.SUCCESS, began)
        return scores
    except InvalidScoreError as wrong:
        raise _out_of_range(plugin.name, wrong.score, MAX_NODE_SCORE) from wrong
    except Exception as raised:
        raise _ScoreError("Score", plugin.name, str(raised)) from raised


def _score_node(
    name: str, of_node: Callable[[CycleState, PodInfo, NodeInfo], int], cycle: _Cycle, info: NodeInfo
) -> int:
    try:
        return of_node(cycle.state, cycle.pod, info)
    except InvalidScoreError as wrong:
        raise _out_of_range(name, wrong.score, MAX_NODE_SCORE) from wrong
    except Exception as raised:
        raise _ScoreError("Score", name, str(raised)) from raised


def _normalized(one: _Scorer, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
    assert one.normalizer is not None
    try:
        return one.normalizer.normalize(state, pod, scores)
    except Exception as raised:
        raise _ScoreError("NormalizeScore", one.name, str(raised)) from raised
