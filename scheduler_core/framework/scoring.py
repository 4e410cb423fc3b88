"""Score, NormalizeScore and weights over the feasible nodes, with reuse between pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.extending import extends
from scheduler_core.framework.interface import (
    MAX_NODE_SCORE,
    OF_ONE_NODE,
    Reads,
    ScoreNormalizer,
    ScorePlugin,
    shape_of,
)
from scheduler_core.framework.ranking import Ranking
from scheduler_core.framework.reuse import Position, Reuse, ScoreMemory, ScorePart, SettledScores, position_of
from scheduler_core.framework.rules import ErrorText, error_text
from scheduler_core.framework.score_asking import (
    Following,
    ScoreCycle,
    ScoreError,
    Scorer,
    ask_score,
    ask_score_of_node,
    normalize,
    out_of_range,
)
from scheduler_core.framework.scores import PluginScores, Scores
from scheduler_core.framework.status import SUCCESS, Status, error
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Ints, Snapshot

_CLUSTER: Final = Reads.CLUSTER
_SUMS: Final = Reads.NODE_AND_SUMS
_UNSETTLED: Final = (*OF_ONE_NODE, Reads.CLUSTER)


@dataclass(frozen=True, slots=True)
class _Active:
    """The score plugins of one cycle, in order.

    Attributes:
        every: all of them.
        kept: those whose raw scores are reused.
        settled: those of them that need not be asked again while no Node object changes.
        fresh: all but these.
        unsettled: those of them to be asked again although no Node object changed.
        summed: those of them without normalisation: their sum is kept.
        open: those that every cycle must look at: all but what is summed up and within range.
    """

    every: tuple[Scorer, ...]
    kept: tuple[Scorer, ...]
    settled: tuple[Scorer, ...]
    fresh: tuple[Scorer, ...]
    unsettled: tuple[Scorer, ...]
    summed: tuple[Scorer, ...]
    open: tuple[Scorer, ...]


@dataclass(slots=True)
class Sum:
    """The scores of all nodes for one shape, of which single ones can be changed.

    Attributes:
        memory: raw scores that are kept, and the sum of those without normalisation.
        even: what is added everywhere: by plugins whose raw scores are all 0.
        followed: (plugin, what keeps these level, raw, normalised) of those that read the cluster.
        total: (N,) the sums.
        ranking: the highest of them.
    """

    active: _Active
    memory: ScoreMemory
    even: int
    followed: Sequence[tuple[Scorer, Following, Ints, Ints]]
    total: Ints
    ranking: Ranking


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
            Scorer(
                plugin,
                plugin.name,
                weight,
                cast("ScoreNormalizer", plugin) if extends(plugin, ScoreNormalizer) else None,
                getattr(plugin, "score_reads", Reads.CLUSTER),
                getattr(plugin, "score_key", shape_of),
                score_max == MAX_NODE_SCORE and getattr(plugin, "score_ranged", False),
                getattr(plugin, "score_node", None) if getattr(plugin, "score_reads", None) in OF_ONE_NODE else None,
                getattr(plugin, "score_following", None),
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
        cycle = ScoreCycle(state, pod, snapshot, rows, len(rows) == len(snapshot))
        self._reuse.changes.look(snapshot)
        key = (pod.shape, state.skip_score)
        memory = self._reuse.scores.of(key, snapshot)
        try:
            raw, total = self._totals(cycle, memory, active) if memory.seen else self._first_totals(cycle, active)
        except ScoreError:
            self._reuse.scores.forget(key)
            return self._afresh(cycle, active)
        memory.seen = True
        if not self._scorers:
            total += 1
        return Scores(rows, total, state.skip_score, partial(_detail, active, raw, cycle)), SUCCESS

    def sum_of(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, scores: Scores) -> Sum | None:
        """Return scores of all nodes in a form in which one node's can be changed, None where they have none."""
        active, position = self._active(state.skip_score), position_of(snapshot)
        memory = self._reuse.scores.known((pod.shape, state.skip_score), snapshot)
        if (
            memory is None
            or memory.position != position
            or any(one.of_node is None or one.reads is not _SUMS for one in active.unsettled)
        ):
            return None
        even, followed, parts = 0, [], scores.detail()
        for one in active.open:
            if one.reads is not _CLUSTER:
                part = memory.parts[one.name]
                if one.normalizer is None or part.even is None:
                    return None
                even += part.even
                continue
            own = parts[one.name].raw.copy(), parts[one.name].normalized.copy()
            following = one.follow(state, pod, snapshot, *own) if one.ranged and one.follow is not None else None
            if following is None:
                return None
            followed.append((one, following, *own))
        total = scores.total.copy()
        return Sum(active, memory, even, followed, total, Ranking(snapshot, total))

    def sum_again(
        self, kept: Sum, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int, before: Position, now: Position
    ) -> Scores | None:
        """Score all nodes for a pod of the same shape, one row having changed since; None: it cannot be told so."""
        memory, ranking, info = kept.memory, kept.ranking, snapshot.infos[row]
        for one in kept.active.unsettled:
            part = memory.parts[one.name]
            if part.position != now:
                if part.position != before:
                    return None
                assert one.of_node is not None
                part.raw[row] = one.of_node(state, pod, info)
                part.position = now
        base = 0
        for one in kept.active.summed:
            base += int(memory.parts[one.name].raw[row]) * one.weight
        memory.base[row], memory.position = base, now
        base += kept.even
        everywhere = False
        for one, following, _, normalized in kept.followed:
            changed = following.change(snapshot, row)
            if changed is None:
                return None
            everywhere = everywhere or changed
            base += int(normalized[row]) * one.weight
        if everywhere:
            kept.total = memory.base + kept.even
            for one, _, _, normalized in kept.followed:
                kept.total += normalized * one.weight
            ranking.look(kept.total)
        else:
            ranking.change(row, kept.total, base)
        return Scores(
            snapshot.every_row,
            kept.total,
            state.skip_score,
            partial(_detail_of, kept, state, pod, snapshot),
            ranking.top,
            ranking=ranking,
        )

    def _afresh(self, cycle: ScoreCycle, active: _Active) -> tuple[Scores | None, Status]:
        """Score without what is kept, which broke: perhaps at a node that is not feasible, and so counts for nothing.

        The error, if there is one, is upstream's: of the first plugin that breaks, in scoring, then in normalising.
        """
        rows, state, pod = cycle.rows, cycle.state, cycle.pod
        parts: dict[str, PluginScores] = {}
        total = np.zeros(len(rows), dtype=np.int64)
        try:
            raw = {one.name: ask_score(one.plugin, cycle, rows) for one in active.every}
            final = {
                one.name: raw[one.name] if one.normalizer is None else normalize(one, state, pod, raw[one.name])
                for one in active.every
            }
            for one in active.every:
                self._check(one, final[one.name])
                weighted = final[one.name] * one.weight
                parts[one.name] = PluginScores(raw[one.name], final[one.name], weighted)
                total += weighted
        except ScoreError as wrong:
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
                tuple(one for one in kept if one.reads not in OF_ONE_NODE),
                tuple(one for one in every if one.reads in _UNSETTLED),
                tuple(one for one in kept if one.reads in OF_ONE_NODE),
                tuple(one for one in kept if one.normalizer is None),
                tuple(one for one in every if one.reads is _CLUSTER or one.normalizer is not None or not one.ranged),
            )
        return found

    def _first_totals(self, cycle: ScoreCycle, active: _Active) -> tuple[dict[str, Ints], Ints]:
        """Return what `_totals` does, for a shape that may never come again: nothing is summed up for later."""
        settled = self._settled(cycle, active)
        raw = {name: part.raw for name, part in settled.parts.items()}
        total = np.zeros(len(cycle.rows), dtype=np.int64)
        total += settled.even
        if settled.uneven:
            total += self._added(cycle, active, settled)
        for one in active.fresh:
            if one.reads is _CLUSTER:
                own = ask_score(one.plugin, cycle, cycle.rows)
            else:
                part = self._reuse.score_parts.of((one.name, one.key(cycle.pod)), cycle.snapshot)
                if part.seen:
                    self._level(cycle, part, one)
                    own = cycle.of(part.raw)
                else:
                    # Pods may never ask for as much again.
                    part.seen = True
                    own = ask_score(one.plugin, cycle, ALL_ROWS if cycle.everywhere else cycle.rows)
            raw[one.name] = own
            if one.normalizer is not None:
                own = normalize(one, cycle.state, cycle.pod, own)
            self._check(one, own)
            total += own if one.weight == 1 else own * one.weight
        return raw, total

    def _settled(self, cycle: ScoreCycle, active: _Active) -> SettledScores:
        """Return what the settled plugins come to, kept for all pods that they cannot tell apart."""
        changes = self._reuse.changes
        key = (cycle.state.skip_score, *[one.key(cycle.pod) for one in active.settled])
        found = self._reuse.settled_scores.of(key, cycle.snapshot)
        if not changes.has_same_nodes(found.position):
            found.even, found.uneven, found.rows = 0, False, None
            for one in active.settled:
                part = found.parts.get(one.name)
                if part is None:
                    part = self._reuse.score_parts.of((one.name, one.key(cycle.pod)), cycle.snapshot)
                    found.parts[one.name] = part
                self._level(cycle, part, one)
                if part.even is None:
                    found.uneven = True
                else:
                    found.even += part.even
        # Only now: a plugin may have raised.
        found.position = changes.now
        return found

    def _added(self, cycle: ScoreCycle, active: _Active, settled: SettledScores) -> Ints:
        """Return (K,) what those settled plugins come to together whose raw scores are not all 0."""
        if settled.rows is not cycle.rows:
            added = np.zeros(len(cycle.rows), dtype=np.int64)
            for one in active.settled:
                part = settled.parts[one.name]
                if part.even is None:
                    own = cycle.of(part.raw)
                    if one.normalizer is not None:
                        own = normalize(one, cycle.state, cycle.pod, own)
                    self._check(one, own)
                    added += own * one.weight
            settled.added, settled.rows = added, cycle.rows
        return settled.added

    def _totals(self, cycle: ScoreCycle, memory: ScoreMemory, active: _Active) -> tuple[dict[str, Ints], Ints]:
        """Return raw scores by plugin ((N,) for all rows, or (K,)) and (K,) totals."""
        self._level_all(cycle, memory, active)
        raw = {name: part.raw for name, part in memory.parts.items()}
        total = memory.base.copy() if cycle.everywhere else memory.base[cycle.rows]
        for one in active.open:
            if one.reads is _CLUSTER:
                own = raw[one.name] = ask_score(one.plugin, cycle, cycle.rows)
            else:
                part = memory.parts[one.name]
                if one.normalizer is not None and part.even is not None:
                    total += part.even
                    continue
                own = cycle.of(part.raw)
            if one.normalizer is not None:
                own = normalize(one, cycle.state, cycle.pod, own)
            self._check(one, own)
            if one.reads is _CLUSTER or one.normalizer is not None:
                total += own * one.weight
        return raw, total

    def _level_all(self, cycle: ScoreCycle, memory: ScoreMemory, active: _Active) -> None:
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

    def _level(self, cycle: ScoreCycle, part: ScorePart, one: Scorer) -> None:
        """Bring a plugin's raw scores of all rows level, and what it adds to every total while all of them are 0.

        Equal raw scores normalise to equal ones, so one node's answer is everybody's.
        """
        part.seen = True
        of_node = None
        if one.of_node is not None and cycle.state.timing is None:
            of_node = partial(ask_score_of_node, one.name, one.of_node, cycle)
        if not part.level(partial(ask_score, one.plugin, cycle), one.reads, self._reuse.changes, of_node):
            return
        part.even = None
        if one.normalizer is None and one.reads in OF_ONE_NODE:
            # Resources rarely score 0 everywhere: looking costs more than adding.
            return
        if not np.count_nonzero(part.raw):
            nothing = np.zeros(1, dtype=np.int64)
            if one.normalizer is not None:
                nothing = normalize(one, cycle.state, cycle.pod, nothing)
            self._check(one, nothing)
            part.even = one.weight * int(nothing[0])

    def _check(self, one: Scorer, scores: Ints) -> None:
        """Look at a plugin's final scores, which must be within the era's range."""
        if not one.ranged and len(scores):
            low, high = int(scores.min()), int(scores.max())
            if low < 0 or high > self._score_max:
                raise out_of_range(one.name, low if low < 0 else high, self._score_max)


def _detail(active: _Active, raw: Mapping[str, Ints], cycle: ScoreCycle) -> Mapping[str, PluginScores]:
    """Return each plugin's part of the totals."""
    parts: dict[str, PluginScores] = {}
    for one in active.every:
        own = raw[one.name]
        if len(own) != len(cycle.rows):
            own = own[cycle.rows]
        normalized = own if one.normalizer is None else normalize(one, cycle.state, cycle.pod, own)
        parts[one.name] = PluginScores(own, normalized, normalized * one.weight)
    return parts


def _detail_of(kept: Sum, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Mapping[str, PluginScores]:
    """Return each plugin's part of a sum."""
    raw = {name: part.raw for name, part in kept.memory.parts.items()}
    raw.update((one.name, own) for one, _, own, _ in kept.followed)
    return _detail(kept.active, raw, ScoreCycle(state, pod, snapshot, snapshot.every_row, True))
