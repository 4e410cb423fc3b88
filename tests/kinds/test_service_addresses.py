"""What Services are given: addresses and node ports, the lower part of each range kept for those who ask."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

import pytest

from controllers.kinds.core import service_addresses as given
from scheduler_core.api.document import Document
from tests.registry.registry_tool import Cluster

BASE = int(given.CLUSTER_RANGE.network_address)


def other(**spec: Any) -> Document:
    return {"spec": spec}


def allocated(
    uid: str = "u", others: list[Document] | None = None, *, dry_run: bool = False, **spec: Any
) -> tuple[Document, list[str]]:
    asked: Document = {"type": "ClusterIP", "ports": [{"port": 80, "protocol": "TCP"}], **spec}
    causes = given.families(asked) or given.allocate(asked, uid, others or [], new=True, dry_run=dry_run)
    return asked, [f"{cause.field}: {cause.message}" for cause in causes]


def test_addresses_come_from_the_upper_part_and_differ() -> None:
    others: list[Document] = []
    for number in range(200):
        spec, causes = allocated(f"u{number}", others)
        assert not causes
        assert int(IPv4Address(spec["clusterIP"])) - BASE >= given.FIXED_ADDRESSES
        assert spec["clusterIPs"] == [spec["clusterIP"]]
        others.append({"spec": spec})
    assert len({one["spec"]["clusterIP"] for one in others}) == 200


def test_the_lower_part_is_given_when_nothing_else_is_left() -> None:
    upper = [
        other(clusterIP=str(IPv4Address(BASE + n)))
        for n in range(given.FIXED_ADDRESSES, given.CLUSTER_RANGE.num_addresses - 1)
    ]
    spec, _ = allocated(others=upper)
    assert 1 <= int(IPv4Address(spec["clusterIP"])) - BASE < given.FIXED_ADDRESSES


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("10.96.0.9", "failed to allocate IP 10.96.0.9: provided IP is already allocated"),
        (
            "192.168.1.1",
            "failed to allocate IP 192.168.1.1: the provided IP (192.168.1.1) is not in the valid range. "
            "The range of valid IPs is 10.96.0.0/16",
        ),
    ],
)
def test_an_address_that_cannot_be_had_is_refused_as_upstream_does(asked: str, told: str) -> None:
    _, causes = allocated(others=[other(clusterIP="10.96.0.9")], clusterIP=asked)
    assert causes == [f'spec.clusterIPs: Invalid value: ["{asked}"]: {told}']


def test_node_ports_come_from_the_upper_part_and_one_serves_several_protocols() -> None:
    ports = [{"name": "a", "port": 53, "protocol": "TCP"}, {"name": "b", "port": 53, "protocol": "UDP"}]
    spec, causes = allocated(type="NodePort", ports=ports)
    numbers = {port["nodePort"] for port in spec["ports"]}
    assert not causes
    assert len(numbers) == 1
    assert min(numbers) >= given.NODE_PORTS.start + given.FIXED_PORTS


def test_a_node_port_that_is_taken_is_refused() -> None:
    ports = [{"port": 80, "nodePort": 30080}]
    _, causes = allocated(type="NodePort", ports=ports, others=[other(ports=[{"nodePort": 30080}])])
    assert causes == ["spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated"]


def test_balancers_may_do_without_node_ports_and_local_ones_are_checked_at_one() -> None:
    without, _ = allocated(type="LoadBalancer", allocateLoadBalancerNodePorts=False)
    assert "nodePort" not in without["ports"][0]
    local, _ = allocated(type="LoadBalancer", externalTrafficPolicy="Local")
    assert local["healthCheckNodePort"] in given.NODE_PORTS
    assert local["healthCheckNodePort"] != local["ports"][0]["nodePort"]


@pytest.mark.parametrize(
    ("spec", "families", "policy"),
    [
        ({}, ["IPv4"], "SingleStack"),
        ({"ipFamilyPolicy": "PreferDualStack"}, ["IPv4"], "PreferDualStack"),
        ({"clusterIP": "None", "selector": {"a": "b"}}, ["IPv4"], "SingleStack"),
        ({"clusterIP": "None"}, ["IPv4", "IPv6"], "RequireDualStack"),
    ],
)
def test_this_cluster_has_one_kind_of_address(spec: Document, families: list[str], policy: str) -> None:
    filled, causes = allocated(**{"selector": {"app": "web"}, **spec} if "clusterIP" not in spec else spec)
    assert (filled["ipFamilies"], filled["ipFamilyPolicy"], causes) == (families, policy, [])


def test_two_kinds_of_address_cannot_be_demanded() -> None:
    _, causes = allocated(ipFamilyPolicy="RequireDualStack", ipFamilies=["IPv4", "IPv6"], selector={"a": "b"})
    assert causes == [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
        "this cluster is not configured for dual-stack services",
        'spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this cluster',
    ]


def test_ports_keep_their_numbers_by_name() -> None:
    spec: Document = {"ports": [{"name": "b", "port": 81}, {"name": "c", "port": 82}]}
    before = {"ports": [{"name": "a", "nodePort": 30001}, {"name": "b", "nodePort": 30002}]}
    given.keep_ports(spec, before)
    assert spec["ports"] == [{"name": "b", "port": 81, "nodePort": 30002}, {"name": "c", "port": 82}]


def test_a_dry_run_asks_of_a_node_port_only_that_nobody_has_it() -> None:
    def ports(number: int) -> list[Document]:
        return [{"port": 80, "protocol": "TCP", "nodePort": number}]

    assert allocated(type="NodePort", ports=ports(40_000), dry_run=True)[1] == []
    (refused,) = allocated(type="NodePort", ports=ports(40_000))[1]
    assert "provided port is not in the valid range" in refused
    taken = [other(ports=ports(30_100))]
    (refused,) = allocated(others=taken, type="NodePort", ports=ports(30_100), dry_run=True)[1]
    assert "provided port is already allocated" in refused


def test_a_port_that_was_given_back_is_not_the_next_one_given() -> None:
    cluster = Cluster()
    spec = {"ports": [{"port": 80}], "type": "NodePort"}
    first = cluster.create("services", "web", {"spec": spec})["spec"]["ports"][0]["nodePort"]
    plain = cluster.patch("services", "web", {"spec": {"type": "ClusterIP", "ports": [{"port": 80}]}})
    assert "nodePort" not in plain["spec"]["ports"][0]
    again = cluster.patch("services", "web", {"spec": {"type": "NodePort"}})
    assert again["spec"]["ports"][0]["nodePort"] != first
