"""The node controller of Kubernetes 1.2 and its time: phases of nodes, OutOfDisk, pods deleted and made as then."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Delete, Patch
from scheduler_core.api.document import condition
from tests.tools.lab import Document, Lab, node, pod, workload

THEN = {"kube-controller-manager": {"era": "v1.2", "pod-eviction-timeout": "1m"}, "kubelet": {"era": "v1.2"}}


def era(*documents: Document, **options: Any) -> Lab:
    """Return a cluster of that time."""
    flags = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}, "spec": THEN}
    return Lab([flags, *documents], **options)


def kubelet(lab: Lab, name: str, state: str | None) -> None:
    lab.do(Patch("nodes", "", name, {"metadata": {"annotations": {"clustersim.io/kubelet": state}}}))


def phase(lab: Lab, name: str = "n1") -> str | None:
    found: str | None = lab.get("nodes", name, "")["status"].get("phase")
    return found


def test_phases_of_a_node() -> None:
    silent = node("n2")
    silent["metadata"]["annotations"] = {"clustersim.io/kubelet": "off"}
    lab = era(node("n1"), silent)
    lab.run(5)
    assert (phase(lab, "n1"), phase(lab, "n2")) == ("Running", "Pending")
    kubelet(lab, "n1", "off")
    lab.run(60)
    assert condition(lab.get("nodes", "n1", ""), "Ready")["status"] == "Unknown"
    assert phase(lab, "n1") == "Running"
    lab.run(70)
    assert phase(lab, "n1") == "Terminated"
    kubelet(lab, "n1", None)
    lab.run(5)
    assert phase(lab, "n1") == "Running"


def test_today_a_node_has_no_phase() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    assert phase(lab) is None
    assert condition(lab.get("nodes", "n1", ""), "OutOfDisk") is None


def test_a_dead_nodes_pods_are_deleted_after_the_timeout_but_for_those_of_daemon_sets() -> None:
    daemons = workload("DaemonSet", "agent", 1)
    del daemons["spec"]["replicas"]
    lab = era(node("n1"), daemons, pod("web", terminationGracePeriodSeconds=10))
    lab.run(30)
    (agent,) = [one for one in lab.list("pods") if one["metadata"]["name"].startswith("agent-")]
    kubelet(lab, "n1", "off")
    lab.run(100)
    assert "deletionTimestamp" not in lab.get("pods", "web")["metadata"]
    taints = lab.get("nodes", "n1", "")["spec"].get("taints") or []
    assert not [taint for taint in taints if taint["effect"] == "NoExecute"]
    lab.run(40)
    assert [one["metadata"]["name"] for one in lab.list("pods")] == [agent["metadata"]["name"]]
    assert "NodeControllerEviction" in lab.reasons("web")
    assert "TerminatingEvictedPod" in lab.reasons("web")
    assert "DeletingAllPods" in lab.reasons("n1")


def test_orphans_go_at_the_next_look_of_thirty_seconds() -> None:
    lab = era(node("n1"), pod("web"))
    lab.run(32)
    lab.do(Delete("nodes", "", "n1"))
    lab.run(20)
    assert [one["metadata"]["name"] for one in lab.list("pods")] == ["web"]
    lab.run(10)
    assert lab.list("pods") == []
    panels = lab.cluster.panels()["kube-controller-manager-0"]
    reasons = [one["reason"] for one in next(one for one in panels if one["name"] == "node")["recent"]]
    assert "orphans are removed" in reasons


def test_out_of_disk_beside_running() -> None:
    lab = era(node("n1"))
    lab.run(5)
    told = condition(lab.get("nodes", "n1", ""), "OutOfDisk")
    assert told is not None
    assert (told["status"], told["reason"]) == ("False", "KubeletHasSufficientDisk")
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/pressure": "out-of-disk"}}}))
    lab.run(5)
    told = condition(lab.get("nodes", "n1", ""), "OutOfDisk")
    assert told is not None
    assert (told["status"], told["reason"]) == ("True", "KubeletOutOfDisk")
    assert phase(lab) == "Running"
    assert "NodeOutOfDisk" in lab.reasons("n1")
    lab.ask("schedulerconfigs.clustersim.io", "default", {"era": "algorithm-provider"})
    lab.create(pod("waits"))
    lab.run(5)
    assert "nodeName" not in lab.get("pods", "waits")["spec"]
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/pressure": None}}}))
    lab.run(70)
    assert lab.get("pods", "waits")["spec"]["nodeName"] == "n1"


def test_a_refused_template_is_refused_once_for_every_pod_in_bulk_and_once_in_slow_start() -> None:
    refused = workload("ReplicationController", "web", 4)
    refused["spec"]["template"]["spec"]["priorityClassName"] = "none"
    then, now = era(node("n1"), refused), Lab([node("n1"), refused])
    for lab, expected in ((then, 4), (now, 1)):
        lab.run(0.004)
        panels = lab.cluster.panels()["kube-controller-manager-0"]
        first = next(one for one in panels if one["name"] == "replication")["recent"][-1]
        assert [call["verb"] for call in first["calls"]].count("create") == expected


def test_back_to_today() -> None:
    lab = era(node("n1"))
    lab.run(5)
    today = {"kube-controller-manager": {"era": "v1.34"}, "kubelet": {"era": "v1.34"}}
    lab.do(Patch("flags.clustersim.io", "", "flags", {"spec": today}))
    lab.obey()
    lab.run(5)
    assert phase(lab) is None
    assert condition(lab.get("nodes", "n1", ""), "OutOfDisk") is None
