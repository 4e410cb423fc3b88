"""What the disruption controller tells: budgets without pods, of nobody's pods, two of one pod, evictions that fail."""

from __future__ import annotations

import pytest

from controllers.disruption.controller import DisruptionController
from controllers.kit.manager import Reconcile
from controllers.log.operations import Patch
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document, condition
from tests.tools.lab import Lab, node, pod, workload


def budget(name: str, **spec: object) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def told(lab: Lab, name: str) -> dict[str, tuple[str, str, str]]:
    """Return reason → (type, message, source) of the Events about an object."""
    found = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    return {
        one["reason"]: (one["type"], one["message"], one["source"]["component"])
        for one in found
        if one["involvedObject"]["name"] == name
    }


def web(name: str) -> Document:
    made = pod(name)
    made["metadata"]["labels"] = {"app": "web"}
    return made


def test_a_budget_without_pods_says_so() -> None:
    lab = Lab([budget("q", minAvailable=1)])
    lab.run(3)
    assert told(lab, "q")["NoPods"] == ("Normal", "No matching pods found", "controllermanager")


def test_pods_of_nobody_cannot_be_counted_in_shares() -> None:
    lab = Lab([node("n1"), web("bare"), budget("q", maxUnavailable=1)])
    lab.run(10)
    kind, message, _ = told(lab, "q")["UnmanagedPods"]
    assert kind == "Warning"
    assert message == (
        "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the "
        "PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please "
        "set "
        '".spec.minAvailable" field of the PDB to an integer value.'
    )
    status = lab.get("poddisruptionbudgets.policy", "q")["status"]
    assert (status["currentHealthy"], status["expectedPods"], status["disruptionsAllowed"]) == (1, 0, 0)


def test_a_pod_of_an_owner_that_cannot_be_asked_lets_nothing_go() -> None:
    strange = web("strange")
    owner = {"apiVersion": "example.dev/v1", "kind": "Thing", "name": "x", "uid": "u", "controller": True}
    strange["metadata"]["ownerReferences"] = [owner]
    lab = Lab([node("n1"), strange, budget("q", maxUnavailable="50%")])
    lab.run(10)
    status = lab.get("poddisruptionbudgets.policy", "q")["status"]
    (one,) = status["conditions"]
    assert (status["disruptionsAllowed"], one["status"], one["reason"], one["message"]) == (
        0,
        "False",
        "SyncFailed",
        'found no controllers for pod "strange"',
    )
    assert told(lab, "q")["CalculateExpectedPodCountFailed"][0] == "Warning"


def test_a_budget_that_cannot_be_counted_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write, differs = DisruptionController._write, []

    def looked(budget: Document, status: Document) -> Reconcile:
        differs.append(status != budget.get("status"))
        return write(budget, status)

    monkeypatch.setattr(DisruptionController, "_write", staticmethod(looked))
    strange = web("strange")
    owner = {"apiVersion": "example.dev/v1", "kind": "Thing", "name": "x", "uid": "u", "controller": True}
    strange["metadata"]["ownerReferences"] = [owner]
    lab = Lab([node("n1"), strange, budget("q", maxUnavailable="50%")])
    lab.run(20)
    differs.clear()
    lab.do(Patch("pods", "default", "strange", {"metadata": {"labels": {"seen": "again"}}}))
    lab.run(20)
    assert differs, "the pod was looked at"
    assert not any(differs)


def test_an_owner_that_has_no_scale_is_told_by_its_kind() -> None:
    daemons = workload("DaemonSet", "web", 1)
    del daemons["spec"]["replicas"]
    lab = Lab([node("n1"), daemons, budget("q", maxUnavailable=1)])
    lab.run(20)
    why = "daemonsets.apps does not implement the scale subresource"
    assert condition(lab.get("poddisruptionbudgets.policy", "q"), "DisruptionAllowed")["message"] == why
    text = f"Failed to calculate the number of expected pods: {why}"
    assert told(lab, "q")["CalculateExpectedPodCountFailed"][1] == text


def test_two_budgets_about_one_pod_are_told() -> None:
    lab = Lab([node("n1"), budget("a", minAvailable=1), budget("b", minAvailable=1), web("one")])
    lab.run(10)
    assert told(lab, "one")["MultiplePodDisruptionBudgets"] == (
        "Warning",
        'Pod "default"/"one" matches multiple PodDisruptionBudgets.  Chose "a" arbitrarily.',
        "controllermanager",
    )


def test_an_eviction_that_never_happens_is_told_and_counted_no_longer() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 2), budget("q", minAvailable=1)])
    lab.run(10)
    name = lab.list("pods", "default")[0]["metadata"]["name"]
    now = wire_time(lab.store.epoch_ms + lab.cluster.now_ms)
    noted = {"status": {"disruptedPods": {name: now}}}
    lab.do(Patch("poddisruptionbudgets.policy", "default", "q", noted, "merge", "status"))
    lab.do(Patch("poddisruptionbudgets.policy", "default", "q", {"spec": {"minAvailable": 0}}))
    lab.run(5)
    assert lab.get("poddisruptionbudgets.policy", "q")["status"]["currentHealthy"] == 1
    lab.run(125)
    assert lab.get("poddisruptionbudgets.policy", "q")["status"]["currentHealthy"] == 2
    assert told(lab, name)["NotDeleted"][1] == "Pod was expected by PDB default/default to be deleted but it wasn't"


def test_a_pod_that_was_to_go_and_stayed_is_not_to_go_any_more() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    now = wire_time(lab.store.epoch_ms + lab.cluster.now_ms)
    status = lab.get("pods", "web")["status"]
    marked = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "lastTransitionTime": now,
    }
    lab.do(
        Patch("pods", "default", "web", {"status": {"conditions": [*status["conditions"], marked]}}, "merge", "status")
    )
    lab.run(100)
    before = condition(lab.get("pods", "web"), "DisruptionTarget")
    lab.run(25)
    after = condition(lab.get("pods", "web"), "DisruptionTarget")
    assert before is not None
    assert after is not None
    assert (before["status"], after["status"]) == ("True", "False")


def test_a_budget_that_asks_for_nothing_counts_nothing() -> None:
    lab = Lab([node("n1"), web("bare"), budget("none")])
    lab.run(10)
    status = lab.get("poddisruptionbudgets.policy", "none")["status"]
    assert (status["expectedPods"], status["desiredHealthy"], status["disruptionsAllowed"]) == (0, 0, 0)
    allowed = condition(lab.get("poddisruptionbudgets.policy", "none"), "DisruptionAllowed")
    assert allowed is not None
    assert (allowed["status"], allowed["reason"]) == ("False", "InsufficientPods")
