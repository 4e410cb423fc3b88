"""Pods that ask for devices: they get them with their node, wait while there are none, and give them back."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Delete, Patch
from scheduler_core.devices.claims import CLAIMS, FINALIZER
from tests.controllers.test_resource_claims import template
from tests.tools.lab import Document, Lab, node, pod

DRIVER = "gpu.example.com"
GPU = {"name": "gpu", "resourceClaimTemplateName": "card"}


def device_class(name: str = DRIVER, **spec: Any) -> Document:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def slice_of(node_name: str, *devices: Document) -> Document:
    pool = {"name": node_name, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-{DRIVER}"},
        "spec": {"driver": DRIVER, "nodeName": node_name, "pool": pool, "devices": list(devices)},
    }


def gpu(name: str, memory: str = "16Gi", **attributes: Any) -> Document:
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": memory}}}


def claim(name: str, *, count: int = 1, selector: str = "", **devices: Any) -> Document:
    asked: Document = {"deviceClassName": DRIVER, "count": count}
    if selector:
        asked["selectors"] = [{"cel": {"expression": selector}}]
    requests = [{"name": "gpu", "exactly": asked}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": requests, **devices}},
    }


def using(name: str, *claims: str) -> Document:
    return pod(name, resourceClaims=[{"name": one, "resourceClaimName": one} for one in claims])


def given(lab: Lab, name: str) -> list[str]:
    """Return the devices that a claim has."""
    allocation = lab.get(CLAIMS, name).get("status", {}).get("allocation")
    return [one["device"] for one in allocation["devices"]["results"]] if allocation else []


def message(lab: Lab, name: str) -> str:
    conditions = lab.get("pods", name)["status"]["conditions"]
    return next((one.get("message", "") for one in conditions if one["type"] == "PodScheduled"), "")


def two_nodes() -> Lab:
    cards = slice_of("n2", gpu("a", model={"string": "small"}), gpu("b", "80Gi", model={"string": "large"}))
    return Lab([node("n1"), node("n2"), device_class(), cards])


def test_a_claim_is_allocated_where_its_devices_are_and_reserved_for_the_pod() -> None:
    lab = two_nodes()
    lab.create(claim("one", selector=f"device.capacity['{DRIVER}'].memory.compareTo(quantity('40Gi')) > 0"))
    lab.create(using("p", "one"))
    lab.run(30)
    found = lab.get("pods", "p")
    assert (found["spec"]["nodeName"], found["status"]["phase"]) == ("n2", "Running")
    stored = lab.get(CLAIMS, "one")
    assert stored["metadata"]["finalizers"] == [FINALIZER]
    assert stored["status"] == {
        "allocation": {
            "devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": "n2", "device": "b"}]},
            "nodeSelector": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]
            },
        },
        "reservedFor": [{"resource": "pods", "name": "p", "uid": found["metadata"]["uid"]}],
    }


def test_who_finds_no_device_waits_until_one_is_given_back() -> None:
    lab = two_nodes()
    lab.create(device_class("gpu"), template("card"))
    for name in ("p1", "p2", "p3"):
        lab.create(pod(name, resourceClaims=[GPU]))
    lab.run(30)
    waiting = [name for name in ("p1", "p2", "p3") if not lab.get("pods", name)["spec"].get("nodeName")]
    assert len(waiting) == 1
    said = "0/2 nodes are available: 2 cannot allocate all claims. "
    assert message(lab, waiting[0]).startswith(said)
    assert "still not schedulable" in message(lab, waiting[0])
    taken = [device for one in lab.list(CLAIMS) for device in given(lab, one["metadata"]["name"])]
    assert sorted(taken) == ["a", "b"]
    lab.do(Delete("pods", "default", "p1" if waiting[0] != "p1" else "p2"))
    lab.run(60)
    assert lab.get("pods", waiting[0])["spec"]["nodeName"] == "n2"


def test_two_pods_share_a_claim() -> None:
    lab = two_nodes()
    lab.create(claim("both"), using("p1", "both"), using("p2", "both"))
    lab.run(30)
    assert {lab.get("pods", name)["spec"].get("nodeName") for name in ("p1", "p2")} == {"n2"}
    users = [one["name"] for one in lab.get(CLAIMS, "both")["status"]["reservedFor"]]
    assert sorted(users) == ["p1", "p2"]


def test_a_class_that_comes_later_and_devices_that_come_later_wake_the_pod() -> None:
    lab = Lab([node("n1")])
    lab.create(claim("one"), using("p", "one"))
    lab.run(10)
    assert message(lab, "p").startswith(
        "0/1 nodes are available: request gpu: device class gpu.example.com does not exist. "
    )
    lab.create(device_class())
    lab.run(10)
    assert message(lab, "p").startswith("0/1 nodes are available: 1 cannot allocate all claims. ")
    lab.create(slice_of("n1", gpu("a")))
    lab.run(10)
    assert lab.get("pods", "p")["spec"]["nodeName"] == "n1"
    assert given(lab, "one") == ["a"]


def test_a_claim_whose_devices_are_elsewhere_is_given_anew_when_nobody_uses_it() -> None:
    lab = two_nodes()
    lab.create(claim("one"), using("first", "one"))
    lab.run(30)
    lab.do(Delete("pods", "default", "first"))
    lab.run(60)
    assert given(lab, "one") == []
    lab.create(slice_of("n1", gpu("c")))
    lab.create(using("second", "one") | {"metadata": {"name": "second", "namespace": "default"}})
    lab.run(30)
    assert lab.get("pods", "second")["spec"].get("nodeName") in ("n1", "n2")


def test_an_allocation_by_hand_that_the_pod_cannot_reach_is_taken_back() -> None:
    lab = two_nodes()
    lab.create(claim("one"))
    result = {"request": "gpu", "driver": DRIVER, "pool": "gone", "device": "x"}
    only = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}
    status = {"allocation": {"devices": {"results": [result]}, "nodeSelector": only}}
    lab.do(Patch(CLAIMS, "default", "one", {"status": status}, "merge", "status"))
    lab.create(using("p", "one"))
    lab.run(60)
    assert lab.get("pods", "p")["spec"]["nodeName"] == "n2"
    assert given(lab, "one") == ["a"]


def test_a_selector_without_a_value_ends_the_attempt() -> None:
    lab = two_nodes()
    lab.create(claim("one", selector=f"device.attributes['{DRIVER}'].speed > 3"))
    lab.create(using("p", "one"))
    lab.run(10)
    said = "claim default/one: selector #0: CEL runtime error: no such key: speed"
    assert message(lab, "p") == f'running "DynamicResources" filter plugin: {said}'


def test_a_pod_at_permit_keeps_its_devices_through_a_change_of_leaders() -> None:
    lab = Lab([node("n1"), device_class(), slice_of("n1", gpu("a"))], replicas=2)
    lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": approving(timeoutSeconds=600)}))
    lab.run(30)
    lab.create(claim("one"), using("p", "one"), claim("two"), using("q", "two"))
    lab.run(5)
    leases = {one["metadata"]["name"]: one["spec"] for one in lab.list("leases.coordination.k8s.io", "kube-system")}
    leader = leases["kube-scheduler"]["holderIdentity"]
    lab.ask("replicas.clustersim.io", leader, {"fault": {"id": 1, "kind": "crash"}})
    lab.run(40)
    uid = lab.get("pods", "p")["metadata"]["uid"]
    assert given(lab, "one") == []
    (heir,) = {"kube-scheduler-0", "kube-scheduler-1"} - {leader}
    told = lab.ask("replicas.clustersim.io", heir, {"verdict": {"id": 1, "uid": uid, "verdict": "allow"}})
    assert told["verdict"]["outcome"] == "allowed"
    lab.run(10)
    assert lab.get("pods", "p")["spec"]["nodeName"] == "n1"
    assert given(lab, "one") == ["a"]
    assert message(lab, "q").startswith("0/1 nodes are available: 1 cannot allocate all claims.")


def approving(**arguments: Any) -> Document:
    plugins = {"permit": {"enabled": [{"name": "ManualApproval"}]}}
    config = [{"name": "ManualApproval", "args": arguments}]
    return {"era": "v1.34", "configuration": {"profiles": [{"plugins": plugins, "pluginConfig": config}]}}
