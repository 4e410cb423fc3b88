"""Services of type LoadBalancer get a balancer of the cloud, and give it back."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Create, Delete, Patch
from controllers.servicelb.controller import FINALIZER
from scheduler_core.api.document import Document
from tests.controllers.test_endpoints import service
from tests.controllers.test_topology_hints import told
from tests.tools.lab import Lab, node

ENSURED = [
    ("Normal", "EnsuringLoadBalancer", "Ensuring load balancer"),
    ("Normal", "EnsuredLoadBalancer", "Ensured load balancer"),
]
DELETED = [
    ("Normal", "DeletingLoadBalancer", "Deleting load balancer"),
    ("Normal", "DeletedLoadBalancer", "Deleted load balancer"),
]
UPDATED = ("Normal", "UpdatedLoadBalancer", "Updated load balancer with new hosts")
NO_NODES = ("Warning", "UnAvailableLoadBalancer", "There are no available nodes for LoadBalancer")


def opened(*nodes: Document) -> Lab:
    lab = Lab(nodes or (node("n1"),))
    lab.run(20)
    return lab


def balanced(name: str = "web", **spec: Any) -> Document:
    return service(name, type="LoadBalancer", **spec)


def ingress(lab: Lab, name: str = "web") -> list[Document]:
    return list(lab.get("services", name)["status"]["loadBalancer"].get("ingress") or ())


def change(lab: Lab, patch: Document, name: str = "web") -> None:
    lab.do(Patch("services", "default", name, patch))


def test_the_cloud_takes_a_moment_and_holds_the_service_meanwhile() -> None:
    lab = opened()
    lab.create(balanced())
    lab.run(1)
    assert ingress(lab) == []
    assert lab.get("services", "web")["metadata"]["finalizers"] == [FINALIZER]
    assert told(lab) == ENSURED[:1]
    lab.run(2)
    assert ingress(lab) == [{"ip": "203.0.113.1", "ipMode": "VIP"}]
    assert told(lab) == ENSURED
    change(lab, {"metadata": {"labels": {"seen": "yes"}}})
    lab.run(5)
    assert told(lab) == ENSURED, "a label is nothing to the cloud"


def test_each_has_an_address_of_its_own_the_lowest_that_is_free() -> None:
    lab = opened()
    lab.create(balanced("a"), balanced("b"), balanced("c", loadBalancerIP="192.0.2.9"))
    lab.run(3)
    assert [ingress(lab, name)[0]["ip"] for name in "abc"] == ["203.0.113.1", "203.0.113.2", "192.0.2.9"]
    lab.do(Delete("services", "default", "a"))
    lab.run(1)
    lab.create(balanced("d"))
    lab.run(3)
    assert ingress(lab, "d")[0]["ip"] == "203.0.113.1"


def test_a_service_goes_once_its_balancer_is_taken_back() -> None:
    lab = opened()
    lab.create(balanced())
    lab.run(3)
    left = lab.do(Delete("services", "default", "web"))
    assert left["metadata"]["deletionTimestamp"]
    lab.run(1)
    assert lab.store.get("services", "default", "web") is None
    assert told(lab) == [*ENSURED, *DELETED]


def test_a_service_of_another_type_gives_its_balancer_back() -> None:
    lab = opened()
    lab.create(balanced())
    lab.run(3)
    change(lab, {"spec": {"type": "ClusterIP"}})
    lab.run(1)
    found = lab.get("services", "web")
    assert "finalizers" not in found["metadata"]
    assert ingress(lab) == []
    assert told(lab) == [*ENSURED, *DELETED]
    change(lab, {"spec": {"type": "LoadBalancer"}})
    lab.run(3)
    assert ingress(lab) == [{"ip": "203.0.113.1", "ipMode": "VIP"}]


def test_what_asks_for_another_class_or_type_is_left_alone() -> None:
    lab = opened()
    lab.create(balanced("own", loadBalancerClass="example.com/mine"), service("plain"))
    lab.run(5)
    assert all("finalizers" not in lab.get("services", name)["metadata"] for name in ("own", "plain"))
    assert told(lab) == []


def test_what_a_balancer_sends_to_follows_the_nodes() -> None:
    lab = opened()
    lab.create(balanced())
    lab.run(3)
    lab.create(node("n2"))
    lab.run(1)
    assert told(lab) == [*ENSURED, UPDATED]
    label = {"node.kubernetes.io/exclude-from-external-load-balancers": ""}
    for name in ("n1", "n2"):
        lab.do(Patch("nodes", "", name, {"metadata": {"labels": label}}))
        lab.run(1)
    assert told(lab)[-1] == NO_NODES
    change(lab, {"metadata": {"annotations": {"cloud": "other"}}})
    lab.run(1)
    assert [reason for _, reason, _ in told(lab)][-1] == "EnsuredLoadBalancer", "what it asks for has changed"
    assert ingress(lab) == [{"ip": "203.0.113.1", "ipMode": "VIP"}], "and its address stays"


def test_who_leads_next_asks_again_and_the_address_stays() -> None:
    lab = Lab((node("n1"), node("n2")), replicas=2)
    lab.run(20)
    lab.create(balanced("a"), balanced("b"))
    lab.run(3)
    lab.do(Delete("services", "default", "a"))
    lab.run(1)
    leader = lab.get("leases.coordination.k8s.io", "kube-controller-manager", "kube-system")["spec"]["holderIdentity"]
    lab.ask("replicas.clustersim.io", leader.split("_")[0], {"faults": [{"id": 1, "kind": "crash"}]})
    lab.run(40)
    assert ingress(lab, "b") == [{"ip": "203.0.113.2", "ipMode": "VIP"}]
    assert [reason for _, reason, _ in told(lab)].count("EnsuredLoadBalancer") >= 2


def test_addresses_that_run_out_are_told_and_tried_again() -> None:
    lab = opened()
    for number in range(1, 255):
        for network in ("203.0.113", "198.51.100"):
            name = f"s{number}-{network[:3]}"
            lab.do(Create("services", "default", balanced(name, loadBalancerIP=f"{network}.{number}")))
    lab.run(10)
    lab.create(balanced())
    lab.run(4)
    failed = ("Warning", "SyncLoadBalancerFailed")
    text = "Error syncing load balancer: failed to ensure load balancer: no address is left"
    assert (*failed, text) in told(lab)
    lab.do(Delete("services", "default", "s7-203"))
    lab.run(300)
    assert ingress(lab) == [{"ip": "203.0.113.7", "ipMode": "VIP"}]
