"""What can happen between a nomination and a binding, in simulated time, under both ways to preempt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from controllers.log.memory import MemoryStore
from controllers.scenario import Start, read, run

FOLDER = Path(__file__).parents[2] / "clustersim" / "runtime" / "scenarios"
ERAS = ("v1.34", "framework-1.18")
Told = list[tuple[float, str, dict[str, Any]]]


def play(name: str, era: str) -> tuple[MemoryStore, Told]:
    """Run a scenario; return its store, and (second, pod, object) of every version of every pod."""
    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    scenario = read({**document, "scheduler": {"era": era}}, {"empty": Start((), 1, 0)})
    store, _ = run(scenario, seed=3)
    rows = [row for row in store.events(0, limit=10_000) if row.resource == "pods"]
    return store, [(row.now_ms / 1000, row.name, row.object) for row in rows]


def pod(store: MemoryStore, name: str) -> dict[str, Any] | None:
    stored = store.get("pods", "default", name)
    return None if stored is None else stored.object


def nominations(told: Told, name: str) -> list[str]:
    """Return the nodes that the pod was nominated to, one after the other; empty text: to none any more."""
    found: list[str] = []
    for _, who, document in told:
        node = document.get("status", {}).get("nominatedNodeName", "")
        if who == name and (not found or found[-1] != node):
            found.append(node)
    return found


def bound_at(told: Told, name: str) -> float:
    return next(second for second, who, document in told if who == name and document["spec"].get("nodeName"))


@pytest.mark.parametrize("era", ERAS)
def test_a_node_that_is_freed_meanwhile_is_taken(era: str) -> None:
    store, told = play("preemption-node-freed", era)
    assert nominations(told, "preemptor")[:2] == ["", "a"]
    preemptor = pod(store, "preemptor")
    assert preemptor is not None
    assert preemptor["spec"]["nodeName"] == "b"
    # The victim's thirty seconds were not over, and it is gone all the same.
    assert 20 <= bound_at(told, "preemptor") < 40
    assert pod(store, "victim") is None


@pytest.mark.parametrize("era", ERAS)
def test_a_node_that_joins_meanwhile_is_taken(era: str) -> None:
    store, told = play("preemption-node-added", era)
    preemptor = pod(store, "preemptor")
    assert preemptor is not None
    assert preemptor["spec"]["nodeName"] == "late"
    assert nominations(told, "preemptor")[:2] == ["", "a"]
    assert bound_at(told, "preemptor") < 40


@pytest.mark.parametrize("era", ERAS)
def test_a_higher_preemptor_takes_the_nomination(era: str) -> None:
    store, told = play("preemption-stolen", era)
    first, second = pod(store, "first"), pod(store, "second")
    assert first is not None
    assert second is not None
    assert nominations(told, "second")[:2] == ["", "a"]
    assert second["spec"]["nodeName"] == "a"
    # Cleared when the other took the node; then it preempts on b.
    assert nominations(told, "first")[:4] == ["", "a", "", "b"]
    assert first["spec"]["nodeName"] == "b"
    assert pod(store, "worker") is None


@pytest.mark.parametrize("era", ERAS)
def test_a_preemptor_may_still_not_bind(era: str) -> None:
    store, told = play("preemption-unbound", era)
    preemptor = pod(store, "preemptor")
    assert preemptor is not None
    assert "nodeName" not in preemptor["spec"]
    assert pod(store, "victim") is None
    assert "a" in nominations(told, "preemptor")
