"""What upstream's end-to-end tests of pods, nodes and their scheduling do beside those of docs/e2e-nodes.md (v1.34)."""

from __future__ import annotations

from controllers.log.operations import Delete, Patch, Update
from tests.tools.lab import Document, Lab, node, pod, workload
from tests.tools.upstream import condition_of, deleted, does, make, names, patched, updated

PODS = "[sig-node] Pods should"
FAKE = "example.com/fakecpu"
PREEMPTION = "[sig-scheduling] SchedulerPreemption [Serial]"


def cluster(*documents: Document, nodes: int = 2) -> Lab:
    lab = Lab([*(node(f"n{number}", cpu="16") for number in range(1, nodes + 1)), *documents])
    lab.run(5)
    return lab


@does(PODS, "run through the lifecycle of Pods and PodStatus [Conformance]")
@does(PODS, "patch a pod status [Conformance]")
@does(PODS, "delete a collection of pods [Conformance]")
def test_the_life_of_pods() -> None:
    lab = cluster()
    for number in range(3):
        one = pod(f"pod-{number}", terminationGracePeriodSeconds=1)
        one["metadata"]["labels"] = {"type": "Testing"}
        make(lab, "pods", one)
    lab.run(20)
    change = {"metadata": {"labels": {"test-pod": "patched"}}}
    told = patched(lab, "pods", "pod-0", {**change, "spec": {"containers": [{"name": "main", "image": "httpd:2"}]}})
    assert (told["metadata"]["labels"]["test-pod"], told["spec"]["containers"][0]["image"]) == ("patched", "httpd:2")

    def unready(document: Document) -> None:
        for one in document["status"]["conditions"]:
            if one["type"] in ("Ready", "ContainersReady"):
                one["status"] = "False"

    told = updated(lab, "pods", "pod-0", unready, "status")
    assert [condition_of(told, kind)["status"] for kind in ("Ready", "ContainersReady")] == ["False"] * 2
    told = patched(lab, "pods", "pod-1", {"status": {"message": "Patched by e2e test", "reason": "E2E"}}, "status")
    assert (told["status"]["message"], told["status"]["reason"]) == ("Patched by e2e test", "E2E")
    for name in names(lab):
        lab.do(Delete("pods", "default", name, grace_period_seconds=1))
    lab.run(10)
    assert names(lab) == []


@does(
    "[sig-api-machinery] Generated clientset should create pods, set the deletionTimestamp and",
    "deletionGracePeriodSeconds of the pod",
)
def test_a_pod_is_deleted_with_grace() -> None:
    lab = cluster()
    probe = {"httpGet": {"path": "/index.html", "port": 8080}, "initialDelaySeconds": 30}
    document = pod("probed")
    document["spec"]["containers"][0]["livenessProbe"] = probe
    make(lab, "pods", document)
    lab.run(10)
    assert lab.get("pods", "probed")["status"]["phase"] == "Running"
    deleted(lab, "pods", "probed", grace=31)
    metadata = lab.get("pods", "probed")["metadata"]
    assert (metadata["deletionGracePeriodSeconds"], bool(metadata["deletionTimestamp"])) == (31, True)


@does(
    "[sig-node] Kubelet when scheduling a busybox command that always fails in a pod should be possible to delete",
    "[NodeConformance] [Conformance]",
)
def test_a_pod_whose_command_fails_can_be_deleted() -> None:
    document = pod("bin-false", image="busybox:1.37")
    document["spec"]["containers"][0]["command"] = ["/bin/false"]
    lab = cluster(document)
    lab.run(30)
    deleted(lab, "pods", "bin-false", grace=None)
    lab.run(60)
    assert names(lab) == []


@does("[sig-node] Node Lifecycle should run through the lifecycle of a node [Conformance]")
def test_the_life_of_a_node() -> None:
    lab = cluster()
    fake: Document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "e2e-fake"}}
    fake["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "reason": "E2E"}]}
    make(lab, "nodes", fake)
    told = lab.do(Patch("nodes", "", "e2e-fake", {"metadata": {"labels": {"e2e-fake": "patched"}}}))
    assert told["metadata"]["labels"]["e2e-fake"] == "patched"
    told["metadata"]["labels"]["e2e-fake"] = "updated"
    assert lab.do(Update("nodes", "", "e2e-fake", told))["metadata"]["labels"]["e2e-fake"] == "updated"
    lab.do(Delete("nodes", "", "e2e-fake"))
    assert lab.store.get("nodes", "", "e2e-fake") is None


def level(name: str, value: int) -> Document:
    metadata = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}


def asking(document: Document, count: str, priority: str) -> Document:
    """Let a pod, or the pods of a set, ask for an extended resource at a priority."""
    spec = document["spec"].get("template", document)["spec"]
    spec["containers"][0]["resources"] = {"requests": {FAKE: count}, "limits": {FAKE: count}}
    spec["priorityClassName"] = priority
    return document


def with_extended(count: str, *documents: Document) -> Lab:
    lab = cluster(*documents)
    for name in ("n1", "n2"):
        lab.do(Patch("nodes", "", name, {"status": {"capacity": {FAKE: count}}}, "strategic", "status"))
        lab.do(Patch("nodes", "", name, {"metadata": {"labels": {"spread": name}}}))
    lab.run(30)
    assert lab.get("nodes", "n1", "")["status"]["allocatable"][FAKE] == count
    return lab


@does(PREEMPTION, "PreemptionExecutionPath runs ReplicaSets to verify preemption running path [Conformance]")
def test_the_least_important_make_room() -> None:
    lab = with_extended("1k", *(level(f"p{number}", number) for number in range(1, 5)))
    here = {"kubernetes.io/hostname": "n1"}
    after = lab.store.revision
    for number, count in ((1, "200"), (2, "300"), (3, "450")):
        one = asking(workload("ReplicaSet", f"rs-pod{number}", 1), count, f"p{number}")
        one["spec"]["template"]["spec"]["nodeSelector"] = here
        make(lab, "replicasets.apps", one)
        lab.run(20)
    make(lab, "pods", asking(pod("pod4", nodeSelector=here), "500", "p4"))
    lab.run(60)
    assert lab.get("pods", "pod4")["status"]["phase"] == "Running"
    made = [row.name.rpartition("-")[0] for row in lab.rows(after) if row.resource == "pods" and row.verb == "ADDED"]
    assert sorted(made) == ["", "rs-pod1", "rs-pod1", "rs-pod2", "rs-pod2", "rs-pod3"]


@does(PREEMPTION, "PodTopologySpread Preemption validates proper pods are preempted")
def test_who_leaves_for_an_even_spread() -> None:
    lab = with_extended("10", level("low", 1), level("medium", 2), level("high", 3))

    def labelled(name: str, count: str, priority: str) -> Document:
        one = asking(pod(name), count, priority)
        one["metadata"]["labels"] = {"e2e-pts-preemption": ""}
        return one

    make(lab, "pods", labelled("high", "9", "high"))
    lab.run(10)
    for number in range(1, 4):
        make(lab, "pods", labelled(f"low-{number}", "3", "low"))
    lab.run(20)
    medium = labelled("medium", "3", "medium")
    selector = {"matchExpressions": [{"key": "e2e-pts-preemption", "operator": "Exists"}]}
    even = {"maxSkew": 1, "topologyKey": "spread", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    medium["spec"]["topologySpreadConstraints"] = [even]
    make(lab, "pods", medium)
    lab.run(60)
    left = names(lab)
    assert [name.partition("-")[0] for name in left] == ["high", "low", "medium"]
    assert {lab.get("pods", name)["status"]["phase"] for name in left} == {"Running"}


@does(
    "[sig-scheduling] SchedulerPriorities [Serial] PodTopologySpread Scoring validates pod should be preferably",
    "scheduled to node which makes the matching pods more evenly distributed",
)
def test_the_emptier_node_is_preferred() -> None:
    crowd = workload("ReplicaSet", "spread", 4)
    crowd["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n1"}
    crowd["spec"]["template"]["metadata"]["labels"]["e2e-pts-score"] = ""
    lab = cluster(crowd)
    lab.run(20)
    one = pod("test-pod")
    one["metadata"]["labels"] = {"e2e-pts-score": ""}
    selector = {"matchExpressions": [{"key": "e2e-pts-score", "operator": "Exists"}]}
    key = "kubernetes.io/hostname"
    even = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
    one["spec"]["topologySpreadConstraints"] = [even]
    make(lab, "pods", one)
    lab.run(10)
    assert lab.get("pods", "test-pod")["spec"]["nodeName"] == "n2"


@does(
    "[sig-scheduling] SchedulerPredicates [Serial] when PVC has node-affinity to non-existent/illegal nodes, the pod",
    "should be scheduled normally if suitable nodes exist",
)
def test_a_volume_that_names_nodes_that_are_not_there() -> None:
    lab = cluster()
    access = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    term = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2", "gone-1", "gone-2"]}
    volume: Document = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    volume["spec"] = {
        **access,
        "capacity": {"storage": "2Gi"},
        "local": {"path": "/tmp"},
        "claimRef": {"name": "pvc", "namespace": "default"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [term]}]}},
    }
    claim: Document = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    claim |= {"metadata": {"name": "pvc", "namespace": "default"}}
    claim["spec"] = {**access, "resources": {"requests": {"storage": "2Gi"}}}
    make(lab, "persistentvolumes", volume)
    make(lab, "persistentvolumeclaims", claim)
    lab.run(10)
    mounts = [{"name": "data", "persistentVolumeClaim": {"claimName": "pvc"}}]
    make(lab, "pods", pod("bind-pv-with-non-existent-nodes", volumes=mounts))
    lab.run(30)
    told = lab.get("pods", "bind-pv-with-non-existent-nodes")
    assert (told["status"]["phase"], told["spec"]["nodeName"]) == ("Running", "n2")


@does("[sig-storage] EmptyDir wrapper volumes should not conflict [Conformance]")
@does(
    "[sig-storage] EmptyDir wrapper volumes should not cause race condition when used for configmaps [Serial]",
    "[Conformance]",
)
def test_pods_with_many_volumes() -> None:
    maps = [f"racey-configmap-{number}" for number in range(50)]
    lab = cluster()
    for kind, name in (("Secret", "secret"), *(("ConfigMap", name) for name in maps)):
        data = {"data-1": "dmFsdWUtMQ=="}
        lab.create({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "data": data})
    volumes = [{"name": name, "configMap": {"name": name}} for name in maps]
    volumes.append({"name": "secret-volume", "secret": {"secretName": "secret"}})
    for turn in range(2):
        wrapped = workload("ReplicationController", f"wrapped-{turn}", 5)
        wrapped["spec"]["template"]["spec"]["volumes"] = volumes
        make(lab, "replicationcontrollers", wrapped)
        lab.run(30)
        assert [one["status"]["phase"] for one in lab.list("pods", "default")] == ["Running"] * 5
        deleted(lab, "replicationcontrollers", f"wrapped-{turn}")
        lab.run(60)
        assert names(lab) == []
