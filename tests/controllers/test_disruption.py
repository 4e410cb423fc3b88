"""PodDisruptionBudgets in a running session: what they say may go, and what preemption makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Create, Patch
from controllers.log.stamps import wire_time
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Document, Lab, node, pod, workload


def budget(name: str = "web", app: str = "web", **spec: Any) -> Document:
    metadata = {"name": name, "namespace": "default"}
    spec = {"selector": {"matchLabels": {"app": app}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def counts(lab: Lab, name: str = "web") -> tuple[int, int, int, int]:
    status = lab.get("poddisruptionbudgets.policy", name)["status"]
    found = tuple(status[key] for key in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"))
    return found  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 3}, (2, 5, 3, 5)),
        ({"minAvailable": "50%"}, (2, 5, 3, 5)),
        ({"maxUnavailable": 1}, (1, 5, 4, 5)),
        ({"maxUnavailable": "30%"}, (2, 5, 3, 5)),
        ({"minAvailable": 9}, (0, 5, 9, 5)),
        ({"maxUnavailable": 0}, (0, 5, 5, 5)),
    ],
)
def test_it_counts_its_pods(spec: Document, expected: tuple[int, int, int, int]) -> None:
    lab = Lab([node("n1"), workload("Deployment", "web", 5), pod("other"), budget(**spec)])
    lab.run(20)
    assert counts(lab) == expected
    (condition,) = lab.get("poddisruptionbudgets.policy", "web")["status"]["conditions"]
    assert condition["reason"] == ("SufficientPods" if expected[0] else "InsufficientPods")


def test_it_follows_the_workload_and_its_own_spec() -> None:
    lab = Lab([node("n1"), workload("Deployment", "web", 2), budget(maxUnavailable=1)])
    lab.run(20)
    assert counts(lab) == (1, 2, 1, 2)
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": 4}}, "merge", "scale"))
    lab.run(20)
    assert counts(lab) == (1, 4, 3, 4)
    lab.do(Patch("poddisruptionbudgets.policy", "default", "web", {"spec": {"maxUnavailable": 3}}))
    lab.run(2)
    assert counts(lab) == (3, 4, 1, 4)


def test_pods_of_nobody_are_not_expected_by_a_share() -> None:
    one = pod("p")
    one["metadata"]["labels"] = {"app": "web"}
    lab = Lab([node("n1"), one, budget("share", minAvailable="50%"), budget("count", minAvailable=0)])
    lab.run(20)
    assert counts(lab, "share") == (0, 1, 0, 0)
    assert counts(lab, "count") == (1, 1, 0, 1)


def evict(lab: Lab, name: str) -> Any:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return lab.do(Create("pods", "default", body, "eviction"))


def test_evictions_go_as_far_as_the_budget_allows() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 3), budget(minAvailable=2)])
    lab.run(20)
    first, second, _ = [one["metadata"]["name"] for one in lab.list("pods")]
    evict(lab, first)
    status = lab.get("poddisruptionbudgets.policy", "web")["status"]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, [first])
    with pytest.raises(ApiError) as refused:
        evict(lab, second)
    assert (refused.value.code, refused.value.message) == (
        429,
        "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    assert refused.value.causes[0].reason == "DisruptionBudget"
    assert "deletionTimestamp" not in lab.get("pods", second)["metadata"]
    lab.run(20)
    assert counts(lab) == (1, 3, 2, 3)
    assert "disruptedPods" not in lab.get("poddisruptionbudgets.policy", "web")["status"]
    evict(lab, second)


def test_an_eviction_that_is_never_seen_counts_for_two_minutes() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 3), budget(minAvailable=1)])
    lab.run(20)
    name = lab.list("pods")[0]["metadata"]["name"]
    status = lab.get("poddisruptionbudgets.policy", "web")["status"]
    now = wire_time(lab.store.epoch_ms + lab.cluster.now_ms)
    lab.do(Patch("poddisruptionbudgets.policy", "default", "web",
                 {"status": {**status, "disruptedPods": {name: now}}}, "merge", "status"))  # fmt: skip
    lab.run(1)
    assert counts(lab) == (1, 2, 1, 3)
    lab.run(130)
    assert counts(lab) == (2, 3, 1, 3)


def test_pods_that_never_ran_and_pods_of_no_budget_are_evicted_freely() -> None:
    one = pod("p", cpu="100")
    one["metadata"]["labels"] = {"app": "web"}
    lab = Lab([node("n1"), one, pod("free"), budget(minAvailable=5), budget("again", minAvailable=5)])
    lab.run(10)
    evict(lab, "p")
    evict(lab, "free")
    lab.run(10)
    assert lab.list("pods") == []


def test_a_pod_of_two_budgets_is_not_evicted() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 1), budget(minAvailable=0), budget("again", minAvailable=0)])
    lab.run(20)
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget") as refused:
        evict(lab, lab.list("pods")[0]["metadata"]["name"])
    assert (refused.value.code, refused.value.reason) == (500, "")


def test_preemption_spares_the_pods_of_a_budget() -> None:
    """Two nodes, each full; the pod on one of them must stay."""
    full = []
    for name, app in (("kept", "kept"), ("free", "free")):
        one = pod(name, cpu="3", nodeSelector={"home": name})
        one["metadata"]["labels"] = {"app": app}
        full.append(one)
    homes = []
    for name in ("kept", "free"):
        home = node(f"n-{name}")
        home["metadata"]["labels"] = {"home": name}
        homes.append(home)
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    lab = Lab([*homes, *full, high, budget("kept", "kept", minAvailable=1)])
    lab.run(20)
    lab.create(pod("vip", cpu="3", priorityClassName="high"))
    lab.run(20)
    assert lab.get("pods", "vip")["spec"]["nodeName"] == "n-free"
    assert {one["metadata"]["name"] for one in lab.list("pods")} == {"kept", "vip"}
    traces = list(lab.store.traces(lab.get("pods", "vip")["metadata"]["uid"]))
    first = min(traces, key=lambda one: one[0]["attempt"])[0]
    costs = {one["node"]: one["costs"]["pdbViolations"] for one in first["explanation"]["preemption"]["candidates"]}
    assert costs == {"n-kept": 1, "n-free": 0}
