"""What upstream's end-to-end tests of evictions and budgets do (apps/disruption.go, v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kit.client import Client
from controllers.log.operations import Create
from tests.tools.lab import Document, Lab, node, pod, workload
from tests.tools.upstream import deleted, does, make, names, patched

BUDGETS = "poddisruptionbudgets.policy"
OF = "DisruptionController"


def budget(**spec: Any) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "foo", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def running(pods: int, size: int = 0, *budgets: Document) -> Lab:
    """Return a cluster where so many pods without and with a set run."""
    lone = [pod(f"pod-{number}") for number in range(pods)]
    for one in lone:
        one["metadata"]["labels"] = {"app": "web"}
    sets = [workload("ReplicaSet", "web", size)] if size else []
    lab = Lab([*(node(f"n{number}", cpu="16") for number in range(3)), *lone, *sets, *budgets])
    lab.run(60)
    assert [one["status"]["phase"] for one in lab.list("pods", "default")] == ["Running"] * (pods + size)
    return lab


def evicted(lab: Lab, name: str = "") -> str:
    """Ask for the eviction of a pod; return why it is refused, empty where it is not."""
    name = name or names(lab)[0]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    result = Client(lab.store).apply(Create("pods", "default", eviction, "eviction"), "user:test")
    if result.error is None:
        return ""
    status = result.error.status()
    assert status["code"] == 429
    (cause,) = status["details"]["causes"]
    return str(cause["reason"])


@pytest.mark.parametrize(
    ("asked", "pods", "size", "why"),
    [
        (None, 1, 0, ""),
        ({"minAvailable": 2}, 2, 0, "DisruptionBudget"),
        ({"minAvailable": 2}, 3, 0, ""),
        ({"minAvailable": "90%"}, 0, 10, ""),
        ({"maxUnavailable": "10%"}, 0, 10, ""),
    ],
)
@does(OF, "evictions: no PDB => should allow an eviction")
@does(OF, "evictions: too few pods, absolute => should not allow an eviction")
@does(OF, "evictions: enough pods, absolute => should allow an eviction")
@does(OF, "evictions: enough pods, replicaSet, percentage => should allow an eviction")
@does(OF, "evictions: maxUnavailable allow single eviction, percentage => should allow an eviction")
def test_what_a_budget_bears(asked: Document | None, pods: int, size: int, why: str) -> None:
    lab = running(pods, size, *([budget(**asked)] if asked else []))
    assert evicted(lab) == why


@does(OF, "should block an eviction until the PDB is updated to allow it [Conformance]")
def test_a_budget_that_is_changed_allows_it() -> None:
    lab = running(0, 3, budget(minAvailable=3))
    name = names(lab)[0]
    assert evicted(lab, name) == "DisruptionBudget"
    patched(lab, BUDGETS, "foo", {"spec": {"minAvailable": 2}})
    lab.run(10)
    assert evicted(lab, name) == ""
    lab.run(60)
    patched(lab, BUDGETS, "foo", {"spec": {"minAvailable": None, "maxUnavailable": 0}})
    lab.run(10)
    assert evicted(lab) == "DisruptionBudget"
    deleted(lab, BUDGETS, "foo")
    assert evicted(lab) == ""


@pytest.mark.parametrize("policy", [None, "IfHealthyBudget", "AlwaysAllow"])
@does(OF, "should evict ready pods with Default UnhealthyPodEvictionPolicy")
@does(OF, "should evict ready pods with IfHealthyBudget UnhealthyPodEvictionPolicy")
@does(OF, "should evict ready pods with AlwaysAllow UnhealthyPodEvictionPolicy")
def test_ready_pods_are_evicted_by_every_policy(policy: str | None) -> None:
    more = {"unhealthyPodEvictionPolicy": policy} if policy else {}
    lab = running(0, 3, budget(maxUnavailable=1, **more))
    before = names(lab)
    assert evicted(lab) == ""
    lab.run(60)
    assert len(names(lab)) == 3
    assert names(lab) != before


@does(OF, "should observe PodDisruptionBudget status updated [Conformance]")
@does(OF, "should observe that the PodDisruptionBudget status is not updated for unmanaged pods")
def test_the_status_follows_the_pods() -> None:
    lab = running(3)
    make(lab, BUDGETS, budget(minAvailable=1))
    lab.run(10)
    status = lab.get(BUDGETS, "foo")["status"]
    assert (status["currentHealthy"], status["disruptionsAllowed"]) == (3, 2)
    (told,) = status["conditions"]
    assert (told["type"], told["status"], told["reason"]) == ("DisruptionAllowed", "True", "SufficientPods")
