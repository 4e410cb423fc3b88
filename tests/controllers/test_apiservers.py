"""API servers are all active: each has a Lease and an address behind the Service `kubernetes`, which they keep."""

from __future__ import annotations

from typing import Any

from controllers.kinds.coordination.apiservers import STATIC_PODS, api_servers, lease_of
from controllers.kinds.core.service_addresses import API_SERVER_ADDRESS
from controllers.log.operations import Delete, Patch
from scheduler_core.api.document import Document
from tests.tools.lab import Lab, node

SLICES = "endpointslices.discovery.k8s.io"
ALL = "etcd,kube-apiserver,kube-controller-manager,kube-scheduler"


def master(name: str) -> Document:
    made = node(name)
    made["metadata"]["annotations"] = {STATIC_PODS: ALL}
    made["spec"] = {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}
    return made


def addresses(lab: Lab) -> list[str]:
    """Return the addresses behind the Service, which Endpoints and EndpointSlice tell alike."""
    told = [one["ip"] for one in lab.get("endpoints", "kubernetes")["subsets"][0]["addresses"]]
    assert [one["addresses"][0] for one in lab.get(SLICES, "kubernetes")["endpoints"]] == told
    return told


def own(lab: Lab, name: str) -> str:
    listed: list[dict[str, Any]] = lab.get("nodes", name, "")["status"]["addresses"]
    return next(str(one["address"]) for one in listed if one["type"] == "InternalIP")


def test_what_was_deleted_comes_back_and_nothing_else_is_written() -> None:
    lab = Lab([node("n1")])
    lab.run(30)
    before = lab.get("services", "kubernetes")
    revision = lab.store.revision
    lab.run(60)
    assert not [row for row in lab.store.events(revision) if row.actor == "kube-apiserver"]
    for resource in ("services", "endpoints", SLICES):
        lab.do(Delete(resource, "default", "kubernetes"))
    lab.run(11)
    service = lab.get("services", "kubernetes")
    assert service["spec"] == before["spec"]
    assert service["metadata"]["uid"] != before["metadata"]["uid"]
    assert addresses(lab) == [API_SERVER_ADDRESS]


def test_changed_endpoints_are_put_right() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    lab.do(Patch("endpoints", "default", "kubernetes", {"subsets": None}))
    lab.run(11)
    assert addresses(lab) == [API_SERVER_ADDRESS]


def test_two_masters_are_two_addresses_and_a_dead_one_is_none_after_its_lease() -> None:
    lab = Lab([master("m1"), master("m2"), node("w1")])
    lab.run(20)
    both = sorted([own(lab, "m1"), own(lab, "m2")])
    assert addresses(lab) == both
    lab.do(Patch("nodes", "", "m2", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))
    lab.run(10)
    assert addresses(lab) == both
    lab.run(10)
    assert addresses(lab) == [own(lab, "m1")]
    lab.do(Patch("nodes", "", "m2", {"metadata": {"annotations": {"clustersim.io/kubelet": None}}}))
    lab.run(12)
    assert addresses(lab) == both


def test_the_last_one_leaves_its_address_behind() -> None:
    lab = Lab([master("m1")])
    lab.run(20)
    lab.do(Patch("nodes", "", "m1", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))
    lab.run(60)
    assert addresses(lab) == [own(lab, "m1")]


def test_the_control_plane_of_a_node_is_shown_as_mirror_pods_that_come_back() -> None:
    lab = Lab([master("m1"), node("w1")])
    lab.run(60)
    pods = {pod["metadata"]["name"]: pod for pod in lab.list("pods", "kube-system")}
    assert sorted(pods) == [f"{component}-m1" for component in ALL.split(",")]
    api = pods["kube-apiserver-m1"]
    annotations = api["metadata"]["annotations"]
    assert annotations["kubernetes.io/config.mirror"] == annotations["kubernetes.io/config.hash"]
    assert annotations["kubernetes.io/config.source"] == "file"
    owner = api["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Node", "m1", True)
    assert (api["status"]["phase"], api["status"]["podIP"]) == ("Running", own(lab, "m1"))
    assert (api["spec"]["priorityClassName"], api["spec"]["priority"]) == ("system-node-critical", 2_000_001_000)
    assert "serviceAccountName" not in api["spec"]
    lab.do(Delete("pods", "kube-system", "etcd-m1", grace_period_seconds=0))
    lab.run(10)
    again = lab.get("pods", "etcd-m1", "kube-system")
    assert again["metadata"]["uid"] != pods["etcd-m1"]["metadata"]["uid"]
    assert again["status"]["phase"] == "Running"


def test_a_lease_is_renewed_while_its_machine_lives() -> None:
    lab = Lab([master("m1")])
    lab.run(60)
    epoch_ms = lab.store.epoch_ms
    (server,) = api_servers(lab.list("nodes", ""), epoch_ms)
    lease = lease_of(server, epoch_ms + 65_000)
    assert lease["metadata"]["name"].startswith("apiserver-")
    assert len(lease["metadata"]["name"]) == len("apiserver-") + 26
    assert lease["metadata"]["labels"]["kubernetes.io/hostname"] == "m1"
    assert lease["spec"]["holderIdentity"].startswith(f"{server.lease}_")
    later = lease_of(server, epoch_ms + 95_000)
    assert later["spec"]["renewTime"] > lease["spec"]["renewTime"]
    stopped = server._replace(stopped_ms=epoch_ms + 65_000)
    assert lease_of(stopped, epoch_ms + 95_000)["spec"] == lease_of(stopped, epoch_ms + 65_000)["spec"]
