"""ReplicationControllers: the older kind that keeps a number of equal pods."""

from __future__ import annotations

from controllers.log.operations import Delete, Patch
from tests.tools.lab import Lab, node, pod, workload

RESOURCE = "replicationcontrollers"


def test_it_makes_its_pods_counts_them_and_replaces_what_goes() -> None:
    lab = Lab([node("n1"), workload("ReplicationController", "web", 3)])
    lab.run(15)
    pods = lab.list("pods")
    owner = lab.get(RESOURCE, "web")
    assert {one["metadata"]["ownerReferences"][0]["uid"] for one in pods} == {owner["metadata"]["uid"]}
    assert {one["metadata"]["ownerReferences"][0]["kind"] for one in pods} == {"ReplicationController"}
    assert owner["status"] == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 1,
    }
    lab.do(Delete("pods", "default", pods[0]["metadata"]["name"], grace_period_seconds=0))
    lab.run(15)
    assert len(lab.list("pods")) == 3
    events = [one for one in lab.list("events") if one["involvedObject"]["name"] == "web"]
    assert {one["source"]["component"] for one in events} == {"replication-controller"}
    assert {(one["reportingComponent"], one["reportingInstance"]) for one in events} == {("replication-controller", "")}
    assert lab.reasons("web") == ["SuccessfulCreate"] * 4


def test_it_adopts_what_its_labels_select_and_lets_go_what_they_do_not_any_more() -> None:
    orphan = pod("stray")
    orphan["metadata"]["labels"] = {"app": "web"}
    lab = Lab([node("n1"), orphan, workload("ReplicationController", "web", 1)])
    lab.run(10)
    assert lab.get("pods", "stray")["metadata"]["ownerReferences"][0]["name"] == "web"
    lab.do(Patch("pods", "default", "stray", {"metadata": {"labels": {"app": "other"}}}))
    lab.run(10)
    assert not lab.get("pods", "stray")["metadata"].get("ownerReferences")
    assert len(lab.list("pods")) == 2


def test_a_refusal_stands_in_its_status_until_it_is_over() -> None:
    refused = workload("ReplicationController", "web", 2)
    refused["spec"]["template"]["spec"]["priorityClassName"] = "none"
    lab = Lab([node("n1"), refused])
    lab.run(3)
    condition = lab.get(RESOURCE, "web")["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == ("ReplicaFailure", "True", "FailedCreate")
    lab.do(Patch(RESOURCE, "default", "web", {"spec": {"replicas": 0}}))
    lab.run(20)
    assert "conditions" not in lab.get(RESOURCE, "web")["status"]
