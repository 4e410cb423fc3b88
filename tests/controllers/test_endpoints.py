"""Who is behind a Service: Endpoints, EndpointSlices, and slices that mirror what people keep by hand."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.endpoint.subsets import packed, truncated
from controllers.kit.slices import distribute, endpoint_key
from controllers.log.operations import Delete, Patch, Update
from scheduler_core.api.document import Document
from tests.tools.lab import Lab, node, pod

SLICES = "endpointslices.discovery.k8s.io"


def service(name: str = "web", *, labels: dict[str, str] | None = None, **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}, **spec},
    }


def behind(name: str, *, run: str = "", **spec: Any) -> Document:
    """Return a pod of the Service."""
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": "web"}
    if run:
        made["metadata"]["annotations"] = {"clustersim.io/run": run}
    return made


def names(lab: Lab, field: str = "addresses") -> list[str]:
    subsets = lab.get("endpoints", "web").get("subsets") or ()
    return [address["targetRef"]["name"] for subset in subsets for address in subset.get(field) or ()]


def slices(lab: Lab) -> list[Document]:
    return [
        one
        for one in lab.list(SLICES, "default")
        if one["metadata"]["labels"].get("kubernetes.io/service-name") == "web"
    ]


def entries(lab: Lab) -> dict[str, tuple[bool, bool, bool]]:
    """Return (ready, serving, terminating) by pod."""
    return {
        entry["targetRef"]["name"]: tuple(entry["conditions"][name] for name in ("ready", "serving", "terminating"))
        for one in slices(lab)
        for entry in one.get("endpoints") or ()
    }


def test_a_service_has_its_pods_ready_ones_and_others() -> None:
    lab = Lab([node("n1"), service(labels={"x": "y"}), behind("one"), behind("two", run="unready"), pod("other")])
    lab.run(20)
    endpoints = lab.get("endpoints", "web")
    assert endpoints["metadata"]["labels"] == {"x": "y", "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    (subset,) = endpoints["subsets"]
    one = lab.get("pods", "one")
    assert subset["ports"] == [{"port": 80, "protocol": "TCP"}]
    assert subset["addresses"] == [
        {
            "ip": one["status"]["podIP"],
            "nodeName": "n1",
            "targetRef": {"kind": "Pod", "namespace": "default", "name": "one", "uid": one["metadata"]["uid"]},
        }
    ]
    assert names(lab, "notReadyAddresses") == ["two"]
    assert entries(lab) == {"one": (True, True, False), "two": (False, False, False)}


def test_a_slice_begins_empty_follows_its_pods_and_goes_with_its_service() -> None:
    lab = Lab([node("n1"), service()])
    lab.run(5)
    (empty,) = slices(lab)
    assert (empty["endpoints"], empty["ports"], empty["addressType"]) == (None, None, "IPv4")
    owner = lab.get("services", "web")["metadata"]
    assert empty["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "name": "web",
            "uid": owner["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    lab.create(behind("one"))
    lab.run(20)
    (filled,) = slices(lab)
    assert filled["metadata"]["name"] == empty["metadata"]["name"]
    assert filled["ports"] == [{"name": "", "port": 80, "protocol": "TCP"}]
    lab.do(Patch("services", "default", "web", {"metadata": {"labels": {"tier": "front"}}}))
    lab.run(1)
    assert slices(lab)[0]["metadata"]["labels"]["tier"] == "front"
    assert lab.get("endpoints", "web")["metadata"]["labels"]["tier"] == "front"
    lab.do(Delete("services", "default", "web"))
    lab.run(5)
    assert slices(lab) == []
    assert lab.store.get("endpoints", "default", "web") is None


def test_a_pod_that_ends_is_told_so_before_it_is_gone() -> None:
    lab = Lab([node("n1"), service(), behind("one"), behind("two")])
    lab.run(20)
    lab.do(Delete("pods", "default", "one", grace_period_seconds=0))
    lab.run(5)
    told = [row.object for row in lab.rows() if row.resource == SLICES]
    seen = [
        entry["conditions"]
        for one in told
        for entry in one.get("endpoints") or ()
        if entry.get("targetRef", {}).get("name") == "one"
    ]
    assert seen[-1] == {"ready": False, "serving": True, "terminating": True}
    assert list(entries(lab)) == ["two"]
    assert names(lab) == ["two"]


def test_a_phase_that_is_written_by_hand_moves_no_address_until_readiness_follows() -> None:
    lab = Lab([node("n1"), service(), behind("one")])
    lab.run(20)
    lab.do(Patch("pods", "default", "one", {"status": {"phase": "Failed"}}, subresource="status"))
    lab.run(5)
    assert names(lab) == ["one"]
    assert entries(lab) == {"one": (True, True, False)}
    ready = [{"type": "Ready", "status": "False"}]
    lab.do(Patch("pods", "default", "one", {"status": {"conditions": ready}}, subresource="status"))
    lab.run(5)
    assert names(lab) == []
    assert entries(lab) == {}


def test_who_publishes_unready_addresses_has_all() -> None:
    lab = Lab([node("n1"), service(publishNotReadyAddresses=True), behind("one", run="unready")])
    lab.run(20)
    assert names(lab) == ["one"]
    assert entries(lab) == {"one": (True, False, False)}


def test_headless_services_are_labelled_and_pods_have_host_names() -> None:
    named = behind("one", hostname="h1", subdomain="web")
    lab = Lab([node("n1"), service(clusterIP="None", ports=[]), named])
    lab.run(20)
    endpoints = lab.get("endpoints", "web")
    assert endpoints["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    (subset,) = endpoints["subsets"]
    assert (subset["addresses"][0]["hostname"], "ports" in subset) == ("h1", False)
    assert slices(lab)[0]["endpoints"][0]["hostname"] == "h1"
    assert slices(lab)[0]["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_ports_of_a_subset_stand_in_upstreams_order() -> None:
    ports = [
        {"name": "a", "port": 1, "protocol": "SCTP"},
        {"name": "b", "port": 2, "protocol": "UDP"},
        {"name": "c", "port": 3},
    ]
    lab = Lab([node("n1"), service(ports=ports), behind("one")])
    lab.run(20)
    (subset,) = lab.get("endpoints", "web")["subsets"]
    assert [port["name"] for port in subset["ports"]] == ["c", "b", "a"]


def test_ports_of_a_slice_stand_in_upstreams_order() -> None:
    ports = [
        {"name": "web", "port": 80, "targetPort": 8080, "appProtocol": "http"},
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "raw", "port": 1000, "targetPort": 2000},
    ]
    lab = Lab([node("n1"), service(ports=ports), behind("one")])
    lab.run(20)
    (one,) = slices(lab)
    assert [port["name"] for port in one["ports"]] == ["raw", "web", "dns"]


def test_named_ports_are_each_pod_s_own() -> None:
    one, two = behind("one"), behind("two")
    one["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8080}]
    two["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 9090}]
    lab = Lab(
        [node("n1"), service(ports=[{"name": "web", "port": 80, "targetPort": "http"}]), one, two, behind("none")]
    )
    lab.run(20)
    found = {
        address["targetRef"]["name"]: subset["ports"]
        for subset in lab.get("endpoints", "web")["subsets"]
        for address in subset["addresses"]
    }
    assert found == {
        "one": [{"name": "web", "port": 8080, "protocol": "TCP"}],
        "two": [{"name": "web", "port": 9090, "protocol": "TCP"}],
    }
    assert sorted(one["ports"][0]["port"] for one in slices(lab) if one["ports"]) == [8080, 9090]


def test_services_without_a_selector_are_left_to_people_and_their_endpoints_mirrored() -> None:
    lab = Lab([service(selector=None), service("far", type="ExternalName", externalName="example.dev", ports=[])])
    lab.run(5)
    assert not {"web", "far"} & {one["metadata"]["name"] for one in lab.list("endpoints", "default")}
    mine: Document = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "web", "namespace": "default", "labels": {"a": "b"}},
        "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}],
    }
    lab.create(mine)
    lab.run(2)
    (mirrored,) = slices(lab)
    assert mirrored["endpoints"] == [{"addresses": ["10.1.2.3"], "conditions": {"ready": True}}]
    assert mirrored["metadata"]["labels"] == {
        "a": "b",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
        "kubernetes.io/service-name": "web",
    }
    changed = {**mine, "subsets": [{"notReadyAddresses": [{"ip": "10.1.2.4"}], "ports": [{"port": 80}]}]}
    lab.do(Update("endpoints", "default", "web", changed))
    lab.run(2)
    (again,) = slices(lab)
    assert again["metadata"]["name"] == mirrored["metadata"]["name"]
    assert again["endpoints"] == [{"addresses": ["10.1.2.4"], "conditions": {"ready": False}}]
    lab.do(Delete("endpoints", "default", "web"))
    lab.run(2)
    assert slices(lab) == []


def test_a_mirrored_slice_that_is_written_anew_keeps_its_name_alone() -> None:
    kept = service(selector=None)
    del kept["spec"]["selector"]
    endpoints: Document = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "web", "namespace": "default"},
        "subsets": [{"addresses": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}], "ports": [{"port": 90}]}],
    }
    lab = Lab([kept, endpoints])
    lab.run(5)
    (made,) = slices(lab)
    assert made["metadata"]["generateName"] == "web-"
    fewer = [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 90}]}]
    lab.do(Patch("endpoints", "default", "web", {"subsets": fewer}))
    lab.run(5)
    (after,) = slices(lab)
    assert after["metadata"]["name"] == made["metadata"]["name"]
    assert (len(after["endpoints"]), "generateName" in after["metadata"]) == (1, False)


def test_of_a_subset_with_very_many_addresses_the_ready_ones_are_mirrored_first_and_the_rest_is_told() -> None:
    lab = Lab([service(selector=None)])
    lab.run(5)
    ready = [{"ip": f"10.1.{one // 200}.{one % 200 + 1}"} for one in range(999)]
    late = [{"ip": "fd00::1"}, {"ip": "10.9.0.1"}, {"ip": "10.9.0.2"}]
    lab.create(
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": "web", "namespace": "default"},
            "subsets": [{"addresses": ready, "notReadyAddresses": late, "ports": [{"port": 80}]}],
        }
    )
    lab.run(2)
    assert sorted((one["addressType"], len(one["endpoints"])) for one in slices(lab)) == [("IPv4", 999), ("IPv6", 1)]
    (told,) = [one for one in lab.list("events") if one["reason"] == "TooManyAddressesToMirror"]
    assert told["message"] == (
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped"
    )
    assert (told["type"], told["involvedObject"]["kind"]) == ("Warning", "Endpoints")


def test_endpoints_that_are_deleted_come_back() -> None:
    lab = Lab([node("n1"), service(), behind("one")])
    lab.run(20)
    lab.do(Delete("endpoints", "default", "web"))
    for one in slices(lab):
        lab.do(Delete(SLICES, "default", one["metadata"]["name"]))
    lab.run(2)
    assert names(lab) == ["one"]
    assert list(entries(lab)) == ["one"]


def test_the_change_that_addresses_follow_is_dated() -> None:
    key = "endpoints.kubernetes.io/last-change-trigger-time"
    lab = Lab([node("n1"), service(), behind("one"), behind("two")])
    lab.run(20)
    since = max(
        entry["lastTransitionTime"]
        for name in ("one", "two")
        for entry in lab.get("pods", name)["status"]["conditions"]
        if entry["type"] == "Ready"
    )
    assert lab.get("endpoints", "web")["metadata"]["annotations"][key] == since
    lab.do(Delete("pods", "default", "one", grace_period_seconds=0))
    lab.run(2)
    assert key not in (lab.get("endpoints", "web")["metadata"].get("annotations") or {})


def test_where_traffic_is_to_stay_near_addresses_say_for_whom_they_are() -> None:
    zoned = node("n1")
    zoned["metadata"]["labels"] = {"topology.kubernetes.io/zone": "a"}
    lab = Lab([zoned, service(trafficDistribution="PreferClose"), behind("one")])
    lab.run(20)
    (entry,) = slices(lab)[0]["endpoints"]
    assert (entry["zone"], entry["hints"]) == ("a", {"forZones": [{"name": "a"}]})
    lab.do(Patch("services", "default", "web", {"spec": {"trafficDistribution": None}}))
    lab.run(2)
    assert "hints" not in slices(lab)[0]["endpoints"][0]


def address(number: int) -> Document:
    return {"addresses": [f"10.0.{number // 250}.{number % 250}"], "conditions": {"ready": True}}


def part(name: str, *numbers: int) -> Document:
    return {"metadata": {"name": name, "labels": {}}, "addressType": "IPv4", "endpoints": [address(n) for n in numbers]}


@pytest.mark.parametrize(
    ("existing", "wanted", "sizes"),
    [
        pytest.param([], range(7), {"": [3, 3, 1]}, id="all new"),
        pytest.param([part("a", 0, 1)], [0, 1, 2], {"a": [3]}, id="what is left fits beside the others"),
        pytest.param([part("a", 0, 1, 2)], [0, 1, 2, 3], {"": [1]}, id="a full one is left alone"),
        pytest.param(
            [part("a", 0, 1), part("b", 2)], [0, 5, 6, 7, 2], {"a": [3], "b": [2]}, id="a changed one is filled"
        ),
        pytest.param([part("a", 0), part("b", 1)], [1], {}, id="an empty one goes"),
    ],
)
def test_slices_change_as_little_as_can_be(existing: list[Document], wanted: Any, sizes: dict[str, list[int]]) -> None:
    changes = distribute(existing, [address(n) for n in wanted], {}, {"metadata": {}, "addressType": "IPv4"}, 3)
    found: dict[str, list[int]] = {}
    for one in (*changes.create, *changes.update):
        found.setdefault(one["metadata"].get("name", ""), []).append(len(one["endpoints"]))
    assert found == sizes
    kept = [one for one in existing if one not in changes.delete]
    names = {one["metadata"]["name"] for one in changes.update}
    after = [*changes.create, *changes.update, *(one for one in kept if one["metadata"]["name"] not in names)]
    told = [endpoint_key(entry) for one in after for entry in one["endpoints"]]
    assert sorted(told) == sorted(endpoint_key(address(n)) for n in wanted)


def test_addresses_above_a_thousand_are_left_out_ready_ones_last() -> None:
    listed = [({"ip": f"10.1.{n // 250}.{n % 250}"}, {"port": 80}, n % 3 > 0) for n in range(1_200)]
    (kept,), cut = truncated(packed(listed))
    assert cut
    assert (len(kept["addresses"]), len(kept["notReadyAddresses"])) == (800, 200)


def test_one_address_that_is_not_ready_at_one_port_is_another_subset() -> None:
    one, two = {"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}
    http, dns = {"port": 80}, {"port": 53}
    found = packed([(one, http, True), (two, http, True), (one, dns, True), (two, dns, False)])
    assert found == [
        {"addresses": [one], "notReadyAddresses": [two], "ports": [dns]},
        {"addresses": [one, two], "ports": [http]},
    ]


def test_a_slice_that_the_watch_has_not_told_of_yet_is_not_made_again() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    late = {"id": 1, "kind": "slow-watch", "seconds": 2, "rate": None}
    lab.ask("replicas.clustersim.io", "kube-controller-manager-0", {"fault": late})
    lab.create(service())
    lab.run(1)
    lab.create(behind("one"))
    lab.run(20)
    assert entries(lab) == {"one": (True, True, False)}
    made = [row.name for row in lab.rows() if row.resource == SLICES and row.verb == "ADDED" and "web" in row.name]
    assert len(made) == 1


def test_a_slice_whose_last_change_the_watch_has_not_told_of_is_not_changed_again() -> None:
    lab = Lab([node("n1"), service(), *(behind(name) for name in ("one", "two", "three"))])
    lab.run(20)
    late = {"id": 1, "kind": "slow-watch", "seconds": 2, "rate": None}
    lab.ask("replicas.clustersim.io", "kube-controller-manager-0", {"fault": late})
    lab.run(1)
    for name in ("one", "two"):
        lab.do(Delete("pods", "default", name, grace_period_seconds=0))
        lab.run(1)
    lab.run(20)
    assert entries(lab) == {"three": (True, True, False)}
    assert "FailedToUpdateEndpointSlices" not in lab.reasons("web")
