"""A scheduling attempt as predicates see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controllers.predicates.shapes import CandidateFacts, Numbers, TraceFacts


def attempt_facts(trace: Mapping[str, Any], short: Callable[[str], str]) -> TraceFacts:
    """Return an attempt's facts.

    Args:
        trace: as `controllers.scheduler.decisions.whole` returns it; without `result` only what the envelope tells.
        short: makes `namespace/name` the name that predicates use.
    """
    result, summary = trace.get("result") or {}, trace.get("summary") or {}
    scores = result.get("scores") or {}
    first, preemption = result.get("firstFail") or {}, result.get("preemption") or {}
    candidates = preemption.get("candidates") or {}
    nominated = preemption.get("nominatedNode") or (summary.get("preemption") or {}).get("node") or ""
    return TraceFacts(
        exists=True,
        attempt=trace["attempt"],
        result=result.get("result") or summary.get("result") or "",
        chosen=result.get("chosen") or "",
        feasible=list(result.get("feasible") or ()),
        tie=list(result.get("best") or ()),
        total=_by_node(scores, scores.get("total")),
        score=_by_plugin(scores, "weighted"),
        raw=_by_plugin(scores, "raw"),
        normalised=_by_plugin(scores, "normalized"),
        failed={node: status.get("plugin") or "" for node, status in first.items()},
        reasons={node: list(status.get("reasons") or ()) for node, status in first.items()},
        message=result.get("fitError") or "",
        nominated=nominated,
        victims=[short(one) for one in preemption.get("victims") or ()],
        violations=(candidates.get(nominated) or {}).get("numPDBViolations") or 0,
        candidates=[
            CandidateFacts(
                node=node,
                victims=[short(pod) for pod in one.get("victims") or ()],
                violations=one.get("numPDBViolations") or 0,
            )
            for node, one in sorted(candidates.items())
        ],
        best=list(preemption.get("ties") or ()),
    )


def _by_node(scores: Mapping[str, Any], numbers: Any) -> Numbers:
    return dict(zip(scores.get("nodes") or (), numbers or (), strict=False))


def _by_plugin(scores: Mapping[str, Any], which: str) -> dict[str, Numbers]:
    return {plugin: _by_node(scores, one.get(which)) for plugin, one in (scores.get("plugins") or {}).items()}
