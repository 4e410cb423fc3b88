"""Score, NormalizeScore and weights over the feasible nodes, with reuse between pods of one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import MAX_NODE_SCORE, Reads, ScoreNormalizer, ScorePlugin
from scheduler_core.framework.reuse import Reuse, ShapeMemory
from scheduler_core.framework.scores import PluginScores, Scores
from scheduler_core.framework.status import SUCCESS, Code, Status, error
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Ints, Rows, Snapshot

_CLUSTER: Final = Reads.CLUSTER
_NODE_AND_PODS: Final = Reads.NODE_AND_PODS


class _ScoreError(Exception):
    """A score plugin raised; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class _Scorer:
    """A score plugin with what is asked about it once: protocol checks are too slow for every pod."""

    plugin: ScorePlugin
    name: str
    weight: int
    normalizer: ScoreNormalizer | None
    reads: Reads
    ranged: bool
    """Its scores are within the range by construction, so nobody need look."""


@dataclass(frozen=True, slots=True)
class _Active:
    """The score plugins of one cycle, in order.

    Attributes:
        every: all of them.
        kept: those whose raw scores are reused.
        unsettled: those of them to be asked again although no Node object changed.
        open: those that every cycle must look at: all but what is summed up in `ShapeMemory.base` and within range.
    """

    every: tuple[_Scorer, ...]
    kept: tuple[_Scorer, ...]
    unsettled: tuple[_Scorer, ...]
    open: tuple[_Scorer, ...]


class Scoring:
    """The score plugins of one profile, with their weights."""

    def __init__(
        self, plugins: Sequence[tuple[ScorePlugin, int]], reuse: Reuse, score_max: int = MAX_NODE_SCORE
    ) -> None:
        self._score_max = score_max
        self._scorers = [
            _Scorer(
                plugin,
                plugin.name,
                weight,
                plugin if isinstance(plugin, ScoreNormalizer) else None,
                getattr(plugin, "score_reads", Reads.CLUSTER),
                score_max == MAX_NODE_SCORE and getattr(plugin, "score_ranged", False),
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
        try:
            raw, total = self._totals(state, pod, snapshot, rows, active)
        except _ScoreError:
            self._reuse.forget(pod.shape)
            return self._afresh(state, pod, snapshot, rows, active)
        if not self._scorers:
            total += 1

        def detail() -> Mapping[str, PluginScores]:
            parts: dict[str, PluginScores] = {}
            for one in active.every:
                own = raw[one.name] if one.reads is _CLUSTER else raw[one.name][rows]
                normalized = own if one.normalizer is None else _normalized(one, state, pod, own)
                parts[one.name] = PluginScores(own, normalized, normalized * one.weight)
            return parts

        return Scores(rows, total, state.skip_score, detail), SUCCESS

    def _afresh(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: NDArray[np.intp], active: _Active
    ) -> tuple[Scores | None, Status]:
        """Score without what is kept, which broke: perhaps at a node that is not feasible, and so counts for nothing.

        The error, if there is one, is upstream's: of the first plugin that breaks, in scoring, then in normalising.
        """
        parts: dict[str, PluginScores] = {}
        total = np.zeros(len(rows), dtype=np.int64)
        try:
            raw = {one.name: _score(one.plugin, state, pod, snapshot, rows) for one in active.every}
            final = {
                one.name: raw[one.name] if one.normalizer is None else _normalized(one, state, pod, raw[one.name])
                for one in active.every
            }
            for one in active.every:
                weighted = self._checked(one, final[one.name]) * one.weight
                parts[one.name] = PluginScores(raw[one.name], final[one.name], weighted)
                total += weighted
        except _ScoreError as wrong:
            return None, error(str(wrong))
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
                tuple(one for one in every if one.reads is _CLUSTER or one.normalizer is not None or not one.ranged),
            )
        return found

    def _totals(
        self,
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        rows: NDArray[np.intp],
        active: _Active,
    ) -> tuple[dict[str, Ints], Ints]:
        """Return raw scores by plugin ((N,) for all rows where answers are reusable, else (K,)) and (K,) totals."""
        memory = self._reuse.memory(pod.shape, ("score", state.skip_score), snapshot)
        self._level(state, pod, snapshot, memory, active)
        raw = dict(memory.raw)
        everywhere = len(rows) == len(snapshot)
        total = memory.base.copy() if everywhere else memory.base[rows]
        for one in active.open:
            if one.name in memory.even:
                total += memory.even[one.name]
                continue
            if one.reads is _CLUSTER:
                own = raw[one.name] = _score(one.plugin, state, pod, snapshot, rows)
            else:
                own = memory.raw[one.name] if everywhere else memory.raw[one.name][rows]
            if one.normalizer is not None:
                own = _normalized(one, state, pod, own)
            own = self._checked(one, own)
            if one.reads is _CLUSTER or one.normalizer is not None:
                total += own * one.weight
        return raw, total

    def _level(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, memory: ShapeMemory, active: _Active) -> None:
        """Bring the remembered raw scores level with the snapshot."""
        touched = memory.score_mark.advance(snapshot)
        if touched is None:
            memory.raw = {}
            memory.base = np.zeros(len(snapshot), dtype=np.int64)
            for one in active.kept:
                own = memory.raw[one.name] = _score(one.plugin, state, pod, snapshot, ALL_ROWS)
                if one.normalizer is None:
                    memory.base += own * one.weight
                else:
                    self._note_even(state, pod, memory, one)
            return
        for one in active.kept if len(touched.node) else active.unsettled:
            changed = touched.rows_for(one.reads)
            if not isinstance(changed, slice) and not len(changed):
                continue
            _put(memory, one, changed, _score(one.plugin, state, pod, snapshot, changed))
            if one.normalizer is not None:
                self._note_even(state, pod, memory, one)

    def _note_even(self, state: CycleState, pod: PodInfo, memory: ShapeMemory, one: _Scorer) -> None:
        """Keep what a plugin adds to every total while all of its raw scores are 0.

        Equal raw scores normalise to equal ones, so one node's answer is everybody's.
        """
        memory.even.pop(one.name, None)
        if one.normalizer is not None and not memory.raw[one.name].any():
            equal = _normalized(one, state, pod, np.zeros(1, dtype=np.int64))
            memory.even[one.name] = one.weight * int(self._checked(one, equal)[0])

    def _checked(self, one: _Scorer, scores: Ints) -> Ints:
        """Return a plugin's final scores, which must be within the era's range."""
        if not one.ranged and len(scores):
            low, high = int(scores.min()), int(scores.max())
            if low < 0 or high > self._score_max:
                raise _ScoreError(
                    f'applying score defaultWeights on Score plugins: plugin "{one.name}" returns an invalid score '
                    f"{low if low < 0 else high}, it should in the range of [0, {self._score_max}] after normalizing"
                )
        return scores


def _put(memory: ShapeMemory, one: _Scorer, rows: Rows, fresh: Ints) -> None:
    """Take the raw scores of some rows anew."""
    own = memory.raw[one.name]
    if not isinstance(rows, slice) and len(rows) == 1:
        # One row is the rule, and plain indexing is faster than indexing by arrays.
        row, score = int(rows[0]), fresh[0]
        if one.normalizer is None:
            memory.base[row] += (score - own[row]) * one.weight
        own[row] = score
        return
    if one.normalizer is None:
        memory.base[rows] += (fresh - own[rows]) * one.weight
    own[rows] = fresh


def _score(
    plugin: ScorePlugin, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: NDArray[np.intp] | slice
) -> Ints:
    timing = state.timing
    try:
        if timing is None:
            return plugin.score(state, pod, snapshot, rows)
        began = timing.timer()
        scores = plugin.score(state, pod, snapshot, rows)
        timing.note(plugin.name, "Score", Code.SUCCESS, began)
        return scores
    except Exception as raised:
        raise _ScoreError(f'running Score plugins: plugin "{plugin.name}" failed with: {raised}') from raised


def _normalized(one: _Scorer, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
    assert one.normalizer is not None
    try:
        return one.normalizer.normalize(state, pod, scores)
    except Exception as raised:
        raise _ScoreError(f'running Normalize on Score plugins: plugin "{one.name}" failed with: {raised}') from raised
