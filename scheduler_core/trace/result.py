"""A cycle's outcome as the conformance format's output, plus `chosen` and `lot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scheduler_core.framework.interface import PostFilterResult, PreFilterResult
from scheduler_core.framework.scores import Scores
from scheduler_core.framework.status import Code, Status
from scheduler_core.framework.verdicts import FilterOutcome
from scheduler_core.preemption.evaluator import Preemption

_SUCCESS: Final = int(Code.SUCCESS)

NOMINATED_TOLD_MAX: Final = 100
"""Nodes with nominated pods of which a trace keeps both verdicts, those where they differ first: some 15 KB."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a cycle so far; fields that no point has filled yet are None or empty.

    Attributes:
        result: `scheduled`, `unschedulable`, `error`, `no_nodes`; empty while the cycle goes on.
        pre_filter: the nodes left and PreFilter's status.
        filter_skip: plugins whose PreFilter answered Skip.
        filters: what Filter said of each node.
        post_filter: PostFilter's result and status.
        eligible: the pod may preempt.
        scores: None unless two nodes or more were feasible.
        best: the tie set, sorted by name.
        chosen: the node drawn from it.
        draw: index into `best`; None where it has one node.
        message: text of the failure.
    """

    result: str = ""
    pre_filter: tuple[PreFilterResult, Status] | None = None
    filter_skip: frozenset[str] = frozenset()
    filters: FilterOutcome | None = None
    post_filter: tuple[PostFilterResult | None, Status] | None = None
    eligible: bool = True
    scores: Scores | None = None
    best: Sequence[str] = ()
    chosen: str = ""
    draw: int | None = None
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the format's object; keys of points that have not run are absent."""
        shown: dict[str, Any] = {"result": self.result} if self.result else {}
        if self.pre_filter is not None:
            left, status = self.pre_filter
            names = left.node_names if status.ok else None
            shown["preFilter"] = {
                **status.as_dict(),
                "allNodes": names is None,
                "nodeNames": sorted(names or ()),
                "skip": sorted(self.filter_skip),
            }
        if self.filters is not None:
            names_by_row = self.filters.snapshot.names
            shown["filters"] = verdict_table(self.filters)
            shown["firstFail"] = {names_by_row[row]: status.as_dict() for row, status in self.filters.failed()}
            shown["feasible"] = sorted(names_by_row[row] for row in self.filters.feasible.tolist())
            if self.filters.not_run is not None:
                shown["notRun"] = [names_by_row[row] for row in np.flatnonzero(self.filters.not_run).tolist()]
            shown["usedNominatedNode"] = self.filters.used_nominated_node
            if self.scores is not None:
                shown["scores"] = self.scores.as_dict(names_by_row)
        if self.best:
            shown["best"] = list(self.best)
        if self.chosen:
            shown["chosen"] = self.chosen
            if self.draw is not None:
                shown["lot"] = {"draw": self.draw, "below": len(self.best), "of": list(self.best)}
        if self.message:
            shown["fitError"] = self.message
        if self.post_filter is not None:
            shown["preemption"] = {"eligible": self.eligible, **preemption_object(*self.post_filter)}
        return shown


def verdict_table(outcome: FilterOutcome) -> dict[str, dict[str, Any]]:
    """Return node → plugin → answer, for every answer that is no success."""
    table: dict[str, dict[str, Any]] = {}
    for plugin, verdicts in outcome.verdicts.items():
        failed = verdicts.codes != _SUCCESS
        if not np.count_nonzero(failed):
            # Most plugins let all pass.
            continue
        # Nodes with one key share one answer, and encode as fast as one.
        known: dict[tuple[int, int], dict[str, Any]] = {}
        rows = np.flatnonzero(failed if outcome.not_run is None else failed & ~outcome.not_run)
        codes, keys = verdicts.codes[rows].tolist(), verdicts.keys[rows].tolist()
        for row, code, key in zip(rows.tolist(), codes, keys, strict=True):
            answer = known.get((code, key))
            if answer is None:
                answer = known[code, key] = verdicts.status(row).as_dict()
            table.setdefault(outcome.snapshot.names[row], {})[plugin] = answer
    return table


def preemption_object(result: PostFilterResult | None, status: Status) -> dict[str, Any]:
    """Return the `preemption` object; without DefaultPreemption's account it says only what PostFilter answered."""
    shown: dict[str, Any] = {"code": status.code.wire, "reasons": list(status.reasons)}
    if result is not None and isinstance(result.detail, Preemption):
        shown.update(result.detail.as_dict())
    return shown


def explanation(outcome: Outcome) -> Mapping[str, Any]:
    """Return what a screen needs beyond the format's keys."""
    explained: dict[str, Any] = {}
    if outcome.filters is not None and outcome.filters.nominated:
        explained["nominated"] = [
            {
                "node": both.node_name,
                "pods": list(both.pods),
                "with": both.added.as_dict(),
                "without": both.plain.as_dict(),
            }
            for both in outcome.filters.both_verdicts()[:NOMINATED_TOLD_MAX]
        ]
    result = outcome.post_filter[0] if outcome.post_filter is not None else None
    if result is not None and isinstance(result.detail, Preemption):
        explained["preemption"] = result.detail.explain()
    return explained
