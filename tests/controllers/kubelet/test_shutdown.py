"""Machines that shut down: who ends when, what is told, and how they come back."""

from __future__ import annotations

from controllers.log.operations import Patch
from scheduler_core.api.document import Document, condition
from tests.tools.lab import Lab, node, pod

MESSAGE = "Pod was terminated in response to imminent node shutdown."
CRITICAL = 2_000_000_000
DETECTED = "Shutdown manager detected shutdown event"


def class_of(priority: int) -> Document:
    """Return the PriorityClass of a priority."""
    name = "system-cluster-critical" if priority == CRITICAL else f"priority-{priority}"
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": priority,
    }


def placed(name: str, *, priority: int = 0, grace: int = 30, hook: int = 0) -> Document:
    document = pod(name)
    document["spec"] |= {"terminationGracePeriodSeconds": grace, "nodeName": "n1"}
    if priority:
        document["spec"]["priorityClassName"] = class_of(priority)["metadata"]["name"]
    if hook:
        document["spec"]["containers"][0]["lifecycle"] = {"preStop": {"sleep": {"seconds": hook}}}
    return document


def lab_of(*documents: Document, **flags: str) -> Lab:
    lab = Lab([node("n1"), *(class_of(priority) for priority in (5, 150, 9_000)), *documents])
    lab.create({"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}})
    lab.ask("flags.clustersim.io", "flags", {"kubelet": {key.replace("_", "-"): text for key, text in flags.items()}})
    lab.run(10)
    return lab


def order(lab: Lab, to: str | None) -> None:
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kubelet": to}}}))


def ready(lab: Lab) -> tuple[str, str, str]:
    found = condition(lab.get("nodes", "n1", ""), "Ready")
    assert found is not None
    return found["status"], found["reason"], found["message"]


def phases(lab: Lab) -> dict[str, str]:
    return {one["metadata"]["name"]: one["status"]["phase"] for one in lab.list("pods")}


def shutdowns(lab: Lab) -> list[str]:
    told = [one for one in lab.list("events") if one["reason"] == "NodeShutdown"]
    return [one["message"] for one in told if one["involvedObject"]["kind"] == "Node"]


def test_critical_pods_end_after_the_others_and_the_node_says_why_it_is_not_ready() -> None:
    lab = lab_of(
        placed("plain", hook=10),
        placed("critical", priority=CRITICAL, hook=10),
        shutdown_grace_period="30s",
        shutdown_grace_period_critical_pods="10s",
    )
    order(lab, "shutdown")
    lab.run(5)
    assert ready(lab) == ("False", "KubeletNotReady", "node is shutting down")
    assert shutdowns(lab) == [DETECTED]
    assert phases(lab) == {"plain": "Running", "critical": "Running"}
    lab.create(placed("late"))
    lab.run(1)
    late = lab.get("pods", "late")["status"]
    text = "Pod was rejected: Pod was rejected as the node is shutting down."
    assert (late["phase"], late["reason"], late["message"]) == ("Failed", "NodeShutdown", text)
    lab.run(7)
    assert phases(lab) == {"plain": "Failed", "critical": "Running", "late": "Failed"}
    found = lab.get("pods", "plain")
    assert (found["status"]["reason"], found["status"]["message"]) == ("Terminated", MESSAGE)
    disrupted = condition(found, "DisruptionTarget")
    assert disrupted is not None
    assert (disrupted["reason"], disrupted["message"]) == ("TerminationByKubelet", MESSAGE)
    lab.run(15)
    critical = lab.get("pods", "critical")["status"]
    assert (critical["phase"], critical["reason"]) == ("Failed", "Terminated")
    # Its group had less time than it wanted: it was killed.
    assert critical["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
    assert "clustersim.io/kubelet-off-since" in lab.get("nodes", "n1", "")["metadata"]["annotations"]
    lab.run(60)
    assert ready(lab)[0] == "Unknown"
    order(lab, None)
    lab.run(5)
    assert ready(lab)[:2] == ("True", "KubeletReady")
    assert shutdowns(lab) == [DETECTED]


def test_groups_by_priority_end_one_after_the_other_each_in_its_time() -> None:
    lab = lab_of(
        placed("low", priority=5, hook=20),
        placed("middle", priority=150, grace=2, hook=2),
        placed("high", priority=9_000, hook=20),
        shutdown_grace_period_by_pod_priority="100=10,0=15,5000=5",
    )
    order(lab, "shutdown")
    lab.run(14)
    assert phases(lab) == {"low": "Running", "middle": "Running", "high": "Running"}
    lab.run(2)
    assert phases(lab) == {"low": "Failed", "middle": "Running", "high": "Running"}
    # The pod's own grace is shorter than its group's time.
    lab.run(2)
    assert phases(lab) == {"low": "Failed", "middle": "Failed", "high": "Running"}
    lab.run(6)
    assert set(phases(lab).values()) == {"Failed"}


def test_without_a_grace_period_a_machine_is_gone_at_once() -> None:
    lab = lab_of(placed("web"))
    order(lab, "shutdown")
    lab.run(5)
    assert phases(lab) == {"web": "Running"}
    assert shutdowns(lab) == []
    assert ready(lab)[0] == "True"
    lab.run(60)
    assert ready(lab)[0] == "Unknown"


def test_a_shutdown_that_is_cancelled_says_so_and_the_node_is_ready_again() -> None:
    lab = lab_of(placed("web", hook=20), shutdown_grace_period="30s")
    order(lab, "shutdown")
    lab.run(2)
    order(lab, None)
    lab.run(5)
    assert ready(lab)[:2] == ("True", "KubeletReady")
    assert shutdowns(lab) == [DETECTED, "Shutdown manager detected shutdown cancellation"]
    lab.create(placed("after"))
    lab.run(5)
    assert phases(lab)["after"] == "Running"


def test_a_new_owner_goes_on_with_a_shutdown_and_tells_it_once() -> None:
    lab = lab_of(placed("web", hook=20), shutdown_grace_period="15s")
    order(lab, "shutdown")
    lab.run(3)
    again = Lab(store=lab.store)
    again.run(40)
    assert phases(again) == {"web": "Failed"}
    assert shutdowns(again) == [DETECTED]
