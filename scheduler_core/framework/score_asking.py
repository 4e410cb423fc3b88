"""Asking a score plugin: what is known of it beforehand, and what it raises told by the point where it did."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import MAX_NODE_SCORE, Reads, ScoreNormalizer, ScorePlugin
from scheduler_core.framework.status import Code
from scheduler_core.kernels.resources import InvalidScoreError
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot


class ScoreError(Exception):
    """At `Score`, `NormalizeScore` or `Weight` a plugin broke."""

    def __init__(self, point: str, plugin: str, message: str) -> None:
        """Keep who broke where."""
        super().__init__(message)
        self.point, self.plugin = point, plugin


class Following(Protocol):
    """One plugin's raw and normalised scores of all nodes, of a pod of which others of its shape come after it."""

    def change(self, snapshot: Snapshot, row: int) -> bool | None:
        """Bring them level where the pods of one row have changed; return whether those of other rows are others now.

        None: it cannot be told so, and the plugin is to be asked.
        """
        ...


Follow = Callable[[CycleState, PodInfo, Snapshot, Ints, Ints], Following | None]
"""(state, pod, snapshot, raw, normalised) → what keeps these two level in place; None: nothing does."""


@dataclass(frozen=True, slots=True)
class Scorer:
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
    follow: Follow | None
    """How to keep its scores level, of a plugin that reads the cluster."""


@dataclass(slots=True)
class ScoreCycle:
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


def out_of_range(plugin: str, wrong: int, most: int) -> ScoreError:
    """Return the error of a plugin whose score is none that may be."""
    text = f"returns an invalid score {wrong}, it should in the range of [0, {most}] after normalizing"
    return ScoreError("Weight", plugin, text)


def ask_score(plugin: ScorePlugin, cycle: ScoreCycle, rows: Rows) -> Ints:
    """Return a plugin's raw scores of some rows; timed where the cycle's plugins are.

    Raises:
        ScoreError: it failed, or answered out of range.
    """
    timing = cycle.state.timing
    try:
        if timing is None:
            return plugin.score(cycle.state, cycle.pod, cycle.snapshot, rows)
        began = timing.timer()
        scores = plugin.score(cycle.state, cycle.pod, cycle.snapshot, rows)
        timing.note(plugin.name, "Score", Code.SUCCESS, began)
        return scores
    except InvalidScoreError as wrong:
        raise out_of_range(plugin.name, wrong.score, MAX_NODE_SCORE) from wrong
    except Exception as raised:
        raise ScoreError("Score", plugin.name, str(raised)) from raised


def ask_score_of_node(
    name: str, of_node: Callable[[CycleState, PodInfo, NodeInfo], int], cycle: ScoreCycle, info: NodeInfo
) -> int:
    """Return a plugin's raw score of one node.

    Raises:
        ScoreError: it failed, or answered out of range.
    """
    try:
        return of_node(cycle.state, cycle.pod, info)
    except InvalidScoreError as wrong:
        raise out_of_range(name, wrong.score, MAX_NODE_SCORE) from wrong
    except Exception as raised:
        raise ScoreError("Score", name, str(raised)) from raised


def normalize(one: Scorer, state: CycleState, pod: PodInfo, scores: Ints) -> Ints:
    """Return a plugin's scores brought to the common range.

    Raises:
        ScoreError: it failed.
    """
    assert one.normalizer is not None
    try:
        return one.normalizer.normalize(state, pod, scores)
    except Exception as raised:
        raise ScoreError("NormalizeScore", one.name, str(raised)) from raised
