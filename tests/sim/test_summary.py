"""Each decision's line says what its trace says at length."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controllers.log.memory import MemoryStore
from tests.sim.test_preemption import play


def kept(store: MemoryStore) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return (summary, whole trace) of every decision whose matrices were kept."""
    uids = {row.uid for row in store.events(0, limit=10_000) if row.resource == "pods"}
    found = [pair for uid in uids for pair in store.traces(uid) if pair[1]]
    return [(envelope["summary"], {**envelope, "result": json.loads(blob)}) for envelope, blob in found]


def criterion(account: dict[str, Any]) -> str:
    """Return what decided, as the account tells it: the last that struck a candidate, unless equals were left."""
    ends = [one["eliminatedBy"] for one in account["candidates"]]
    if len(ends) < 2:
        return "only"
    return "lot" if "lot" in ends else next(name for name in reversed(account["asked"]) if name in ends)


@pytest.mark.parametrize("name", ["preemption-node-freed", "preemption-stolen", "budget"])
def test_the_line_and_the_trace_agree(name: str) -> None:
    store, _ = play(name, "v1.34")
    decisions = kept(store)
    assert decisions
    for summary, trace in decisions:
        result = trace["result"]
        assert summary["result"] == result["result"]
        assert summary["feasible"] == len(result.get("feasible", []))
        assert summary.get("node", "") == result.get("chosen", "")
        scores = result.get("scores")
        assert summary.get("points") == (max(scores["total"]) if scores else None)
        if scores:
            assert summary["best"] == len(result["best"])
            assert summary.get("of", result["best"]) == result["best"]
        account = trace.get("explanation", {}).get("preemption", {})
        wanted = result.get("preemption", {}).get("nominatedNode") or None
        told = summary.get("preemption")
        assert (told and told["node"]) == wanted
        if told:
            assert told["victims"] == result["preemption"]["victims"]
            assert told["count"] == len(told["victims"])
            assert told["candidates"] == len(account["candidates"])
            assert told["criterion"] == criterion(account)


def test_preemptions_are_among_them() -> None:
    told = [
        summary["preemption"] for summary, _ in kept(play("preemption-stolen", "v1.34")[0]) if "preemption" in summary
    ]
    assert told


def test_the_line_tells_why_a_node_was_asked_alone() -> None:
    told = kept(play("preemption-node-freed", "v1.34")[0]) + kept(play("preemption-stolen", "v1.34")[0])
    alone = [(summary.get("alone"), trace["result"].get("usedNominatedNode")) for summary, trace in told]
    assert ("nominated", True) in alone
    assert all((why == "nominated") == bool(used) for why, used in alone)
