"""What is told of a decision in one line, to charts that follow a scheduler as it goes."""

from __future__ import annotations

from typing import Any, Final

from scheduler_core.preemption.evaluator import Preemption
from scheduler_core.scheduler.run import Run

TOLD_NAMES_MAX: Final = 12
"""Names of equally good nodes, and of victims, that a summary holds; their number is always told."""


def summary_of(run: Run) -> dict[str, Any]:
    """Return an attempt in short: `summary` in docs/trace.md. The run's arrays must still be its own.

    Points are told where upstream scores: with two feasible nodes or more.
    """
    told: dict[str, Any] = {"feasible": 0 if run.outcome is None else len(run.outcome.feasible)}
    if run.chosen:
        told["node"] = run.chosen
        if run.outcome is not None and run.outcome.used_nominated_node:
            told["alone"] = "nominated"
        elif run.framework.rules.feasible_max == 1:
            told["alone"] = "turn"
        if run.scores is not None:
            told["points"] = run.scores.top
            told["best"] = run.best_count
            if 1 < run.best_count <= TOLD_NAMES_MAX:
                names = run.snapshot.names
                told["of"] = sorted(names[row] for row in run.scores.best().tolist())
    account = run.post_filter.detail if run.post_filter is not None else None
    if isinstance(account, Preemption) and account.chosen is not None:
        victims = account.chosen.victims
        told["preemption"] = {
            "node": account.chosen.node_name,
            "candidates": len(account.candidates),
            "criterion": criterion_of(account),
            "victims": [info.key for info in victims[:TOLD_NAMES_MAX]],
            "count": len(victims),
        }
    return told


def criterion_of(account: Preemption) -> str:
    """Return what left one candidate: a criterion, `lot` among equals, `only` where there was no other."""
    choice = account.choice
    if choice is None or len(account.candidates) < 2:
        return "only"
    if len(choice.ties) > 1:
        return "lot"
    return choice.asked[-1] if choice.asked else "only"
