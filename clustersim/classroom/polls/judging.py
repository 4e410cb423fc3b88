"""What is right, as the engine says it: from the trace of its own cycle, or from the lease that was renewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

NONE: Final = "none"
"""The option that nothing of the kind happens."""

REASONS_MAX: Final = 20
"""Nodes of which a reveal tells why they were refused; the decision has the others."""


def rights(kind: str, result: Mapping[str, Any]) -> list[list[str]]:
    """Return the answers that are right, each a list of options, by a decision's result.

    Of nodes every member of the tie set is right; of victims every set that the engine might have drawn.
    """
    preemption = result.get("preemption") or {}
    ties = preemption.get("ties") or ([preemption["nominatedNode"]] if preemption.get("nominatedNode") else [])
    if kind == "node":
        best = result.get("best") or ([result["chosen"]] if result.get("chosen") else [])
        return [[name] for name in (best or ties)] or [[NONE]]
    candidates = preemption.get("candidates") or {}
    sets = [list(candidates[node].get("victims") or ()) for node in ties if node in candidates]
    return [one for one in sets if one] or [[NONE]]


def is_right(choice: Sequence[str], right: Sequence[Sequence[str]]) -> bool:
    """Return whether a vote is one of the right answers; of several options all must agree."""
    return any(set(choice) == set(one) for one in right)


def answer_of(kind: str, trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told at the reveal of a node or victims poll, by the trace of the cycle that decided."""
    result = trace.get("result") or {}
    preemption = result.get("preemption") or {}
    nominated = preemption.get("nominatedNode") or ""
    victims = list((preemption.get("candidates") or {}).get(nominated, {}).get("victims") or ())
    chosen = result.get("chosen") or nominated or NONE
    if kind == "victims":
        chosen = ",".join(victims) or NONE
    alternatives = rights(kind, result)
    return {
        "right": sorted({name for one in alternatives for name in one}) if kind == "node" else (victims or [NONE]),
        "alternatives": alternatives,
        "chosen": chosen,
        "tie": list(result.get("best") or preemption.get("ties") or ()),
        "victims": victims,
        "lot": result.get("lot"),
        "decision": trace["id"],
        "explain": _explained(trace, result, preemption),
    }


def answer_of_leader(holder: str) -> dict[str, Any]:
    """Return what is told at the reveal of a leader poll."""
    return answer_of_options([holder or NONE])


def answer_of_options(right: Sequence[str], decision: str = "") -> dict[str, Any]:
    """Return what is told at the reveal of a poll of which just the right options are known.

    Args:
        right: the options.
        decision: the attempt at its pod that shows why; "" where there is none.
    """
    return {
        "right": list(right),
        "alternatives": [[name] for name in right],
        "chosen": right[0] if right else "",
        "tie": [],
        "victims": [],
        "lot": None,
        "decision": decision,
        "explain": {},
    }


def _explained(trace: Mapping[str, Any], result: Mapping[str, Any], preemption: Mapping[str, Any]) -> dict[str, Any]:
    scores = result.get("scores") or {}
    failed = result.get("firstFail") or {}
    summary = trace.get("summary") or {}
    return {
        "decision": trace["id"],
        "revision": trace["revision"],
        "result": result.get("result", ""),
        "message": result.get("fitError") or "",
        "feasible": list(result.get("feasible") or ()),
        "total": dict(zip(scores.get("nodes") or (), scores.get("total") or (), strict=False)),
        "failed": {
            name: {"plugin": failed[name].get("plugin", ""), "reasons": list(failed[name].get("reasons") or ())}
            for name in sorted(failed)[:REASONS_MAX]
        },
        "candidates": {
            name: list(one.get("victims") or ()) for name, one in sorted((preemption.get("candidates") or {}).items())
        },
        "criterion": (summary.get("preemption") or {}).get("criterion", ""),
        "plugins": {
            name: {plugin: part["weighted"][row] for plugin, part in (scores.get("plugins") or {}).items()}
            for row, name in enumerate(scores.get("nodes") or ())
        },
        "rows": _rows(trace),
    }


def _rows(trace: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return candidate → what it would have cost, and which criterion struck it; empty where nobody had to go."""
    account = (trace.get("explanation") or {}).get("preemption") or {}
    return {
        one["node"]: {
            **{
                name: (one.get("costs") or {}).get(name) for name in ("pdbViolations", "highestPriority", "victimCount")
            },
            "eliminatedBy": one.get("eliminatedBy", ""),
        }
        for one in account.get("candidates") or ()
    }
