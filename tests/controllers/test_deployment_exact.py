"""Deployments: what kube-controller-manager does in the corners, each as it does it."""

from __future__ import annotations

from controllers.deployment import sets as rs
from controllers.log.operations import Create, Delete, Patch
from tests.tools.lab import Document, Lab, node, workload

RESOURCE = "deployments.apps"
SETS = "replicasets.apps"


def set_image(lab: Lab, image: str) -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    lab.do(Patch(RESOURCE, "default", "web", patch, "strategic"))


def messages(lab: Lab, reason: str) -> list[str]:
    rows = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    return [one["message"] for one in rows if one["reason"] == reason and one["involvedObject"]["name"] == "web"]


def statuses(lab: Lab) -> list[Document]:
    return [row.object.get("status") or {} for row in lab.rows() if row.resource == RESOURCE]


def test_a_status_that_was_there_once_never_goes_again() -> None:
    """A write that knows an older Deployment is a conflict, and is made anew from the newer one."""
    lab = Lab([node("n1"), workload("Deployment", "web", 3)])
    lab.run(20)
    set_image(lab, "nginx:2")
    lab.run(90)
    lab.do(Patch(RESOURCE, "default", "web", {"spec": {"replicas": 1}}))
    lab.run(30)
    told = [status for status in statuses(lab) if "observedGeneration" in status]
    first = next(at for at, status in enumerate(statuses(lab)) if "observedGeneration" in status)
    assert len(statuses(lab)) - first == len(told)
    generations = [status["observedGeneration"] for status in told]
    assert generations == sorted(generations)
    assert told[-1]["replicas"] == told[-1]["availableReplicas"] == 1


def test_ailing_pods_of_an_old_set_go_first_and_are_told_apart() -> None:
    broken = workload("Deployment", "web", 4, strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}})
    lab = Lab([node("n1", pods="10"), broken])
    lab.run(20)
    old = lab.list(SETS)[0]["metadata"]["name"]
    name = lab.list("pods")[0]["metadata"]["name"]
    unready = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    lab.do(Patch("pods", "default", name, unready, "strategic", "status"))
    set_image(lab, "nginx:2")
    lab.run(1)
    scaled = [text for text in messages(lab, "ScalingReplicaSet") if old in text and "down" in text]
    assert scaled[:2] == [
        f"Scaled down replica set {old} from 4 to 3",
        f"Scaled down replica set {old} from 3 to 2",
    ]


def test_a_set_of_the_name_but_of_another_template_is_a_collision_that_is_counted() -> None:
    lab = Lab([node("n1"), workload("Deployment", "web", 1)])
    lab.run(10)
    first = lab.list(SETS)[0]
    name = first["metadata"]["name"]
    lab.do(Patch(RESOURCE, "default", "web", {"spec": {"paused": True}}))
    lab.do(Delete(SETS, "default", name))
    lab.run(20)
    foreign = workload("ReplicaSet", name, 0)
    lab.do(Create(SETS, "default", foreign))
    lab.do(Patch(RESOURCE, "default", "web", {"spec": {"paused": False}}))
    lab.run(20)
    deployment = lab.get(RESOURCE, "web")
    assert deployment["status"]["collisionCount"] == 1
    assert deployment["status"]["availableReplicas"] == 1
    mine = [one for one in lab.list(SETS) if one["metadata"].get("ownerReferences")]
    assert [one["metadata"]["name"] == name for one in mine] == [False]


def test_what_is_zero_or_false_is_no_part_of_what_is_stored() -> None:
    lab = Lab([node("n1"), workload("Deployment", "web", 1, minReadySeconds=0, paused=False)])
    lab.run(10)
    assert not {"minReadySeconds", "paused"} & lab.get(RESOURCE, "web")["spec"].keys()
    set_image(lab, "nginx:2")
    lab.run(60)
    set_image(lab, "nginx:1.27")
    lab.run(60)
    newest = next(one for one in lab.list(SETS) if one["spec"]["replicas"] == 1)
    assert "minReadySeconds" not in newest["spec"]
    assert newest["metadata"]["generation"] == 3, "made, scaled to 0, scaled to 1"
    assert newest["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"


def sized(name: str, size: int, most: int | None) -> Document:
    annotations = {} if most is None else {rs.MAX_REPLICAS: str(most)}
    metadata = {"name": name, "creationTimestamp": "2027-01-01T00:00:00Z", "annotations": annotations}
    return {"metadata": metadata, "spec": {"replicas": size}}


def test_without_its_annotation_a_set_shares_by_what_the_deployment_had() -> None:
    deployment = {"spec": {"replicas": 20}, "status": {"replicas": 10}}
    assert rs.proportions(deployment, [sized("a", 8, None), sized("b", 2, None)], 0) == {"a": 16, "b": 4}
    assert rs.proportions(deployment, [sized("a", 8, 10), sized("b", 2, 10)], 0) == {"a": 16, "b": 4}
    down = {"spec": {"replicas": 0}, "status": {"replicas": 10}}
    assert rs.proportions(down, [sized("a", 8, 10), sized("b", 2, 10)], 0) == {"a": 0, "b": 0}
