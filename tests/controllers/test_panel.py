"""What a controller tells of itself: caches, queue, workers, the last reconciliation (contract 25)."""

from __future__ import annotations

from typing import Any

from controllers.kit.manager import ControllerManager
from controllers.leaderelection.replica import Replica
from controllers.log.operations import Delete, Patch, Update
from controllers.table import CONTROLLERS
from tests.tools.certificates import asking
from tests.tools.lab import Document, Lab, node, pod, workload


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


def test_a_cache_tells_how_many_revisions_it_lacks() -> None:
    lab = Lab([node("n1")])
    lab.run(3)
    assert {one["lag"] for told in lab.cluster.panels().values() for one in told[0]["caches"].values()} == {0}
    lab.create(pod("late"))
    lab.create(pod("later"))
    ((first, *_),) = lab.cluster.panels().values()
    assert {resource: cache["lag"] for resource, cache in first["caches"].items()} == {
        "deployments.apps": 0,
        "pods": 2,
        "replicasets.apps": 0,
    }


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


def service(**spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec},
    }


def last(lab: Lab, name: str) -> Document:
    """Return the last reconciliation; time has to come to it first."""
    found: Document = panel(lab, name)["last"]
    return found


def recent(lab: Lab, name: str, reason: str) -> Document:
    """Return the newest reconciliation that was of a reason."""
    found: list[Document] = panel(lab, name)["recent"]
    assert reason in [one["reason"] for one in found]
    return next(one for one in found if one["reason"] == reason)


def test_each_branch_of_endpoints_is_a_reason() -> None:
    lab = Lab([node("n1")])
    lab.run(2)
    lab.create(service())
    lab.run(2)
    told = last(lab, "endpoint")
    assert told["reason"] == "resourceVersion 0: created"
    assert told["actual"] == {"endpoints": None, "resourceVersion": "0"}
    version = lab.get("endpoints", "web")["metadata"]["resourceVersion"]
    behind = pod("one")
    behind["metadata"]["labels"] = {"app": "web"}
    lab.create(behind)
    lab.run(20)
    told = last(lab, "endpoint")
    assert told["reason"] == "subsets differ: updated"
    assert told["desired"] == {"podStore": {"ready": 1, "notReady": 0}}
    assert told["actual"]["resourceVersion"] >= version
    lab.do(Patch("services", "default", "web", {"metadata": {"labels": {"a": "b"}}}))
    lab.run(2)
    assert last(lab, "endpoint")["reason"] == "labels differ: updated"
    lab.do(Patch("services", "default", "web", {"metadata": {"annotations": {"a": "b"}}}))
    lab.run(2)
    assert last(lab, "endpoint")["reason"] == "as asked"
    assert last(lab, "endpointslice")["reason"] == "as asked"
    lab.do(Delete("services", "default", "web"))
    lab.run(2)
    told = last(lab, "endpoint")
    assert told["reason"] == "the Service has gone"
    before = panel(lab, "endpoint")["recent"][1]
    assert before["reason"] == "the Service has gone: its Endpoints go too"
    assert [(call["verb"], call["code"]) for call in before["calls"]] == [("delete", 200)]


def test_a_hostname_that_differs_is_a_reason_of_its_own() -> None:
    lab = Lab([node("n1"), service()])
    behind = pod("one")
    behind["metadata"]["labels"] = {"app": "web"}
    lab.create(behind)
    lab.run(30)
    document = lab.get("endpoints", "web")
    subset = document["subsets"][0]
    changed = {**subset, "addresses": [{**subset["addresses"][0], "hostname": "other"}]}
    lab.do(Update("endpoints", "default", "web", {**document, "subsets": [changed]}))
    lab.do(Patch("services", "default", "web", {"metadata": {"annotations": {"look": "again"}}}))
    lab.run(2)
    assert last(lab, "endpoint")["reason"] == "host names differ: updated"


def test_quotas_lost_nodes_and_finished_pods_tell_their_reasons() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": "5"}},
    }
    lab = Lab([node("n1"), node("n2")])
    lab.run(2)
    lab.create(quota)
    lab.run(2)
    told = recent(lab, "resourcequota", "status.hard is not spec.hard: written")
    assert told["desired"]["spec.hard"] == {"pods": "5"}
    assert told["actual"] == {"status.hard": None, "status.used": None}
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))
    lab.run(70)
    told = recent(lab, "node-lifecycle", "silent for too long, not ready any more: n1")
    assert told["actual"] == {"ready": 1, "nodeStore": 2}


def everything() -> list[Document]:
    """Return objects that give each controller something to look at."""
    meta = {"namespace": "default"}
    template = {"metadata": {"labels": {"app": "task"}}, "spec": {"restartPolicy": "Never", "containers": [TASK]}}
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    daemon = workload("DaemonSet", "agent", 1)
    del daemon["spec"]["replicas"]
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    uid = "11111111-2222-3333-4444-555555555555"
    stray = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": uid}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    made_deployments = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "leaving"}},
        workload("Deployment", "web", 2),
        workload("ReplicationController", "rc", 1),
        workload("StatefulSet", "db", 1, serviceName="db"),
        daemon,
        made("batch/v1", "Job", "task", {"template": template, "ttlSecondsAfterFinished": 5}),
        made("batch/v1", "CronJob", "tick", {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}),
        made("autoscaling/v2", "HorizontalPodAutoscaler", "web", {"maxReplicas": 3, "scaleTargetRef": target}),
        made("v1", "ResourceQuota", "quota", {"hard": {"pods": "50"}}),
        made("v1", "Service", "web", {"selector": {"app": "web"}, "ports": [{"port": 80}]}),
        made("v1", "Service", "manual", {"ports": [{"port": 80}]}),
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {**meta, "name": "manual"},
            "subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}],
        },
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "small"},
            "spec": {
                "matchConstraints": {"resourceRules": [made_deployments]},
                "validations": [{"expression": "object.spec.replicas <= 5"}],
            },
        },
        made(
            "policy/v1", "PodDisruptionBudget", "web", {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
        ),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "fast"},
            "provisioner": "example.dev/fast",
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "VolumeAttributesClass",
            "metadata": {"name": "gold"},
            "driverName": "example.dev/fast",
            "parameters": {"iops": "100"},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "gathers"},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "gathers"}}]},
        },
        THINGS,
        certificate_request(),
        made("v1", "PersistentVolumeClaim", "data", claim),
        pod("writer", volumes=[scratch]),
        made("v1", "Service", "shop", {"type": "LoadBalancer", "ports": [{"port": 80}]}),
        made("resource.k8s.io/v1", "ResourceClaimTemplate", "card", {"spec": {}}),
        pod("counter", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "card"}]),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**meta, "name": "stray", "ownerReferences": [stray]}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {**meta, "name": "token", "annotations": {"kubernetes.io/service-account.name": "default"}},
            "type": "kubernetes.io/service-account-token",
        },
    ]


TASK: Document = {"name": "task", "image": "task:1", "command": ["sh", "-c", "exit 0"]}


def certificate_request() -> Document:
    """Return a client's request for a certificate, which nobody has approved."""
    signer = "kubernetes.io/kube-apiserver-client"
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "mei"},
        "spec": {"request": asking("mei"), "signerName": signer, "usages": ["client auth"]},
    }


THINGS: Document = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def made(version: str, kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def test_every_controller_tells_what_it_found() -> None:
    lab = Lab([node("n1"), node("n2"), *everything()])
    told: set[str] = set()

    def listen(seconds: int) -> None:
        lab.run(seconds)
        manager = manager_of(lab)
        for name in manager.controllers:
            recent = manager.panel(name, lab.cluster.now_ms)["recent"]
            if any(one["reason"] and (one["desired"] or one["actual"]) for one in recent):
                told.add(name)

    listen(5)
    listen(85)
    lab.do(Patch("nodes", "", "n1", {"spec": {"taints": [{"key": "down", "effect": "NoExecute"}]}}))
    lab.do(Patch("nodes", "", "n2", {"metadata": {"annotations": {"clustersim.io/kubelet": "gone"}}}))
    lab.do(Delete("deployments.apps", "default", "web", propagation="Foreground"))
    lab.do(Delete("namespaces", "", "leaving"))
    lab.do(Delete("persistentvolumeclaims", "default", "data"))
    lab.do(Delete("volumeattributesclasses.storage.k8s.io", "", "gold"))
    lab.do(Delete("customresourcedefinitions.apiextensions.k8s.io", "", "things.example.com"))
    listen(5)
    listen(120)
    # The node controller of the first document's time rests today; tests/controllers/test_era.py hears it.
    assert told == {entry.name for entry in CONTROLLERS} - {"node"}
