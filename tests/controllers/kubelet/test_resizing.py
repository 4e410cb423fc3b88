"""Amounts that change while a pod runs: what its kubelet tells, what waits for room, and who starts again."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Delete, Patch
from tests.tools.lab import Document, Lab, node, pod

HOME = "default"


def resize(lab: Lab, cpu: str, name: str = "web") -> None:
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    lab.do(Patch("pods", HOME, name, {"spec": spec}, "strategic", "resize"))


def resize_conditions(lab: Lab, name: str = "web") -> list[Document]:
    conditions: list[Document] = lab.get("pods", name)["status"]["conditions"]
    return [one for one in conditions if one["type"].startswith("PodResize")]


def one(lab: Lab, name: str = "web") -> Document:
    found: Document = lab.get("pods", name)["status"]["containerStatuses"][0]
    return found


def sized(**more: Any) -> Document:
    resources = {"requests": {"cpu": "100m"}}
    return pod("web", containers=[{"name": "main", "image": "nginx:1.27", "resources": resources, **more}])


def test_a_resize_is_told_while_it_goes_on_and_when_it_is_done() -> None:
    lab = Lab([node("n1"), sized()])
    lab.run(10)
    before = lab.store.revision
    resize(lab, "200m")
    lab.run(10)
    seen = [
        condition["type"]
        for row in lab.rows(before)
        if row.resource == "pods"
        for condition in row.object["status"]["conditions"]
        if condition["type"].startswith("PodResize")
    ]
    assert set(seen) == {"PodResizeInProgress"}
    assert resize_conditions(lab) == []
    status = one(lab)
    assert status["resources"]["requests"]["cpu"] == status["allocatedResources"]["cpu"] == "200m"
    assert status["restartCount"] == 0
    (event,) = [event for event in lab.list("events") if event["reason"] == "ResizeCompleted"]
    told = '{"containers":[{"name":"main","resources":{"requests":{"cpu":"200m"}}}]}'
    assert event["message"] == f"Pod resize completed: {told}"
    revision = lab.store.revision
    lab.run(60)
    assert [row for row in lab.rows(revision) if row.resource == "pods"] == []


def test_what_no_node_of_its_size_can_give_is_infeasible() -> None:
    lab = Lab([node("n1"), sized()])
    lab.run(10)
    resize(lab, "8")
    lab.run(5)
    (condition,) = resize_conditions(lab)
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodResizePending", "True", "Infeasible")
    assert condition["message"] == "Node didn't have enough capacity: cpu, requested: 8000, capacity: 4000"
    assert one(lab)["resources"]["requests"]["cpu"] == "100m"
    resize(lab, "100m")
    lab.run(5)
    assert resize_conditions(lab) == []


def test_what_others_have_is_waited_for() -> None:
    lab = Lab([node("n1"), sized(), pod("big", cpu="3")])
    lab.run(10)
    resize(lab, "2")
    lab.run(5)
    (condition,) = resize_conditions(lab)
    assert condition["reason"] == "Deferred"
    assert condition["message"] == (
        "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
    )
    lab.do(Delete("pods", HOME, "big"))
    lab.run(240)
    assert resize_conditions(lab) == []
    assert one(lab)["resources"]["requests"]["cpu"] == "2"


def test_a_container_that_asks_for_it_is_started_again() -> None:
    lab = Lab([node("n1"), sized(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}])])
    lab.run(10)
    resize(lab, "200m")
    lab.run(20)
    assert one(lab)["restartCount"] == 1
    assert one(lab)["resources"]["requests"]["cpu"] == "200m"
    messages = [event["message"] for event in lab.list("events") if event["reason"] == "Killing"]
    assert messages == ["Container main resize requires restart"]
