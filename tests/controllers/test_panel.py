"""What a controller tells of itself: caches, queue, workers, the last reconciliation (contract 25)."""

from __future__ import annotations

from controllers.kit.manager import ControllerManager
from controllers.leaderelection.replica import Replica
from controllers.table import CONTROLLERS
from tests.tools.lab import Document, Lab, node, workload


def manager_of(lab: Lab) -> ControllerManager:
    slot = next(slot for slot in lab.cluster._replicas.values() if "controller-manager" in slot.name)
    assert isinstance(slot.component, Replica)
    assert isinstance(slot.component.inner, ControllerManager)
    return slot.component.inner


def panel(lab: Lab, name: str) -> Document:
    return manager_of(lab).panel(name, lab.cluster.now_ms)


def test_every_controller_of_the_table_has_a_panel() -> None:
    lab = Lab([node("n1")])
    lab.run(3)
    manager = manager_of(lab)
    assert manager.controllers == tuple(entry.name for entry in CONTROLLERS)
    for entry in CONTROLLERS:
        shown = panel(lab, entry.name)
        assert shown["leading"]
        assert shown["workers"]["busy"] == 0 < shown["workers"]["limit"]
        assert set(shown["caches"]) == set(entry.resources)
        assert all(cache["synced"] and cache["lists"] == 1 for cache in shown["caches"].values())
        assert shown["queue"]["length"] == 0


def test_the_last_reconciliation_tells_why_what_and_which_calls() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 3)], kubelets=False)
    lab.run(3)
    last = panel(lab, "replicaset")["last"]
    assert last["object"] == "default/web"
    assert last["reason"] == "as many pods as asked"
    assert last["desired"] == {"spec.replicas": 3}
    assert last["actual"] == {"active pods": 3}
    assert last["endedMs"] >= last["beganMs"]
    assert last["error"] is None


def test_a_refused_call_stands_in_the_panel_with_its_answer_and_the_key_waits() -> None:
    refused = workload("ReplicaSet", "web", 3)
    refused["spec"]["template"]["spec"]["priorityClassName"] = "none"
    lab = Lab([node("n1"), refused])
    lab.run(3)
    shown = panel(lab, "replicaset")
    last = shown["last"]
    assert last["reason"] == "too few pods"
    assert last["actual"] == {"active pods": 0}
    create = last["calls"][0]
    assert (create["verb"], create["resource"], create["name"], create["code"]) == ("create", "pods", "web-", 403)
    assert "no PriorityClass with name none was found" in create["message"]
    assert last["error"] == create["message"]
    assert [(one["key"], one["failures"] > 3) for one in shown["queue"]["waiting"]] == [("default/web", True)]
