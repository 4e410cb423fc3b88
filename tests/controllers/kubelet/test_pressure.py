"""Nodes that run out of something: what they tell, who goes, when it is over."""

from __future__ import annotations

import re
from typing import Any

import pytest

from controllers.flags.thresholds import EVICTION_HARD, EVICTION_SOFT_GRACE
from controllers.log.operations import Patch
from scheduler_core.api.document import Document
from scheduler_core.api.document import condition as condition_of
from tests.tools.lab import Lab, node, pod

HIGHER = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "higher"},
    "value": 10,
}


def using(name: str, *, asks: dict[str, str] | None = None, priority: str = "", **uses: str) -> Document:
    """Return a pod that uses `memory`, `disk` or `pid`."""
    document = pod(name)
    document["metadata"]["annotations"] = {f"clustersim.io/{what}-usage": text for what, text in uses.items()}
    if priority:
        document["spec"]["priorityClassName"] = priority
    document["spec"]["containers"][0]["resources"] = {"requests": asks or {}}
    return document


def lab_of(*documents: Document, **flags: str) -> Lab:
    lab = Lab([node("n1"), HIGHER, *documents])
    if flags:
        lab.create({"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}})
        spec = {"kubelet": {key.replace("_", "-"): text for key, text in flags.items()}}
        lab.ask("flags.clustersim.io", "flags", spec)
    lab.run(10)
    return lab


def uses(lab: Lab, what: str, text: str | None) -> None:
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {f"clustersim.io/{what}": text}}}))


def condition(lab: Lab, kind: str) -> tuple[str, str]:
    found = condition_of(lab.get("nodes", "n1", ""), kind)
    assert found is not None
    return found["status"], found["reason"]


def taints(lab: Lab) -> set[str]:
    return {one["key"].partition("/")[2] for one in lab.get("nodes", "n1", "")["spec"].get("taints") or ()}


def status(lab: Lab, name: str) -> tuple[str, str]:
    found = lab.get("pods", name)["status"]
    return found["phase"], found.get("reason", "")


def told(lab: Lab, reason: str) -> list[str]:
    return [one["message"] for one in lab.list("events") if one["reason"] == reason]


def test_of_memory_who_uses_more_than_it_asked_for_goes_first_and_nobody_once_there_is_enough() -> None:
    modest = using("modest", memory="4Gi", asks={"memory": "6Gi"})
    lab = lab_of(modest, using("greedy", memory="2Gi"), using("greedier", memory="3Gi", priority="higher"))
    assert condition(lab, "MemoryPressure") == ("False", "KubeletHasSufficientMemory")
    uses(lab, "memory-usage", "7Gi")
    lab.run(5)
    assert condition(lab, "MemoryPressure") == ("True", "KubeletHasInsufficientMemory")
    assert condition(lab, "Ready")[0] == "True"
    assert taints(lab) == {"memory-pressure"}
    text = (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 0. "
        "Container main was using 2Gi, request is 0, has larger consumption of memory. "
    )
    found = lab.get("pods", "greedy")["status"]
    assert (found["phase"], found["reason"], found["message"]) == ("Failed", "Evicted", text)
    assert found["containerStatuses"][0]["state"]["terminated"]["exitCode"] in (137, 143)
    disrupted = condition_of(lab.get("pods", "greedy"), "DisruptionTarget")
    assert disrupted is not None
    assert disrupted["reason"] == "TerminationByKubelet"
    assert told(lab, "Evicted") == [text]
    assert told(lab, "EvictionThresholdMet") == ["Attempting to reclaim memory"]
    assert told(lab, "NodeHasInsufficientMemory") == ["Node n1 status is now: NodeHasInsufficientMemory"]
    lab.run(60)
    assert (status(lab, "modest"), status(lab, "greedier")) == (("Running", ""), ("Running", ""))
    assert condition(lab, "MemoryPressure")[0] == "True"
    lab.run(300)
    assert condition(lab, "MemoryPressure") == ("False", "KubeletHasSufficientMemory")
    assert told(lab, "NodeHasSufficientMemory") == ["Node n1 status is now: NodeHasSufficientMemory"]
    assert taints(lab) == set()


def test_of_disk_and_processes_the_node_tells_its_own_conditions() -> None:
    hard = "nodefs.available<10%,pid.available<10%"
    lab = lab_of(using("writes", disk="95Gi"), using("forks", pid="31000"), eviction_hard=hard)
    lab.run(30)
    assert status(lab, "writes") == ("Failed", "Evicted")
    assert status(lab, "forks") == ("Failed", "Evicted")
    assert (condition(lab, "DiskPressure")[0], condition(lab, "PIDPressure")[0]) == ("True", "True")
    assert taints(lab) == {"disk-pressure", "pid-pressure"}
    disk, processes = sorted(told(lab, "Evicted"))
    assert disk == (
        "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 5Gi. "
        "Container main was using 95Gi, request is 0, has larger consumption of ephemeral-storage. "
    )
    assert processes.startswith("The node was low on resource: pids. Threshold quantity: 3276, available: 176")


def test_a_soft_threshold_has_its_grace_and_its_minimum_to_reclaim() -> None:
    lab = lab_of(
        using("a", memory="1Gi"),
        using("b", memory="1Gi"),
        eviction_hard="memory.available<100Mi",
        eviction_soft="memory.available<2Gi",
        eviction_soft_grace_period="memory.available=1m",
        eviction_minimum_reclaim="memory.available=1Gi",
        eviction_max_pod_grace_period="30",
        eviction_pressure_transition_period="20s",
    )
    uses(lab, "memory-usage", "12500Mi")
    lab.run(50)
    assert condition(lab, "MemoryPressure")[0] == "True"
    assert {status(lab, name)[0] for name in "ab"} == {"Running"}
    lab.run(16)
    assert sorted(status(lab, name) for name in "ab") == [("Failed", "Evicted"), ("Running", "")]
    # One pod is enough for the threshold, and not for what is to be left before evictions end.
    lab.run(20)
    assert {status(lab, name) for name in "ab"} == {("Failed", "Evicted")}
    lab.run(40)
    assert condition(lab, "MemoryPressure")[0] == "False"


def test_under_pressure_pods_without_requests_are_refused_and_critical_ones_taken() -> None:
    lab = lab_of()
    uses(lab, "pressure", "memory")
    lab.run(5)
    documents = {
        "plain": using("plain"),
        "asks": using("asks", asks={"memory": "1Mi"}),
        "critical": using("critical", priority="system-cluster-critical"),
    }
    documents["tolerates"] = using("tolerates")
    documents["tolerates"]["spec"]["tolerations"] = [
        {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
    ]
    for one in documents.values():
        one["spec"]["nodeName"] = "n1"
    lab.create(*documents.values())
    lab.run(1)
    found = lab.get("pods", "plain")["status"]
    text = "Pod was rejected: The node had condition: [MemoryPressure]. "
    assert (found["phase"], found["reason"], found["message"]) == ("Failed", "Evicted", text)
    assert {lab.get("pods", name)["status"]["phase"] for name in documents if name != "plain"} <= {"Pending", "Running"}
    uses(lab, "pressure", "disk")
    lab.run(2)
    late = using("late", asks={"memory": "1Mi"})
    late["spec"]["nodeName"] = "n1"
    lab.create(late)
    lab.run(1)
    assert status(lab, "late") == ("Failed", "Evicted")


def test_the_annotation_asks_for_pressure_of_what_has_no_threshold() -> None:
    lab = lab_of(pod("web"))
    uses(lab, "pressure", "pid")
    lab.run(5)
    assert condition(lab, "PIDPressure") == ("True", "KubeletHasInsufficientPID")
    assert status(lab, "web") == ("Failed", "Evicted")


def test_a_new_owner_goes_on_with_a_node_under_pressure() -> None:
    lab = lab_of(pod("web"))
    uses(lab, "memory-usage", "16Gi")
    lab.run(5)
    assert condition(lab, "MemoryPressure")[0] == "True"
    uses(lab, "memory-usage", None)
    lab.run(1)
    again = Lab(store=lab.store)
    again.run(330)
    assert condition(again, "MemoryPressure")[0] == "False"


def test_a_node_that_has_enough_again_is_looked_at_no_more() -> None:
    lab = lab_of(pod("web"))
    uses(lab, "memory-usage", "16Gi")
    lab.run(5)
    uses(lab, "memory-usage", None)
    lab.run(330)
    assert condition(lab, "MemoryPressure")[0] == "False"
    kubelets: Any = lab.cluster._loop.slots["kubelet"]
    assert not [timer for timer in kubelets.timers if isinstance(timer, tuple)]


@pytest.mark.parametrize(
    ("flag", "text", "says"),
    [
        (EVICTION_HARD, "memory.available", "malformed pair, expect string<string"),
        (EVICTION_HARD, "cats<1", "unsupported eviction signal cats"),
        (EVICTION_HARD, "memory.available<101%", "eviction percentage threshold must be >= 0% and <= 100%: 101%"),
        (EVICTION_SOFT_GRACE, "memory.available=soon", 'time: invalid duration "soon"'),
    ],
)
def test_thresholds_that_cannot_be_read_are_refused(flag: Any, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        flag.parse(text)
