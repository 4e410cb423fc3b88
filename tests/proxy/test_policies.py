"""NetworkPolicies: who is isolated, what is let through, and what becomes of requests."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete
from controllers.proxy.policies import Block, End, closed_by, read_policy
from scheduler_core.api.document import Document
from tests.proxy.test_clients import client, newest, results, service
from tests.tools.lab import Lab, node, pod

POLICIES = "networkpolicies.networking.k8s.io"

WEB = End("10.128.0.5", "n1", "default", "web-1", {"app": "web"}, {"team": "a"}, {"http": 8080})
SHOP = End("10.128.1.5", "n2", "default", "shop-1", {"app": "shop"}, {"team": "a"})
OTHER = End("10.128.1.6", "n2", "other", "shop-1", {"app": "shop"}, {"team": "b"})
MACHINE = End("192.168.0.1", "n1")
OUTSIDE = End("203.0.113.10")


def policy(name: str = "p", namespace: str = "default", **spec: Any) -> Document:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"], **spec},
    }


def from_(*peers: Document, ports: tuple[Document, ...] = ()) -> list[Document]:
    return [{"from": list(peers), "ports": [{"protocol": "TCP", **one} for one in ports]}]


LABELLED = {"podSelector": {"matchLabels": {"app": "shop"}}}
TEAM_B = {"namespaceSelector": {"matchLabels": {"team": "b"}}}
INSIDE = {"ipBlock": {"cidr": "10.128.0.0/9", "except": ["10.128.1.0/24"]}}


@pytest.mark.parametrize(
    ("rules", "sender", "port", "is_open"),
    [
        ({}, SHOP, 80, False),
        ({"ingress": [{}]}, SHOP, 80, True),
        ({"ingress": from_(LABELLED)}, SHOP, 80, True),
        ({"ingress": from_(LABELLED)}, OTHER, 80, False),
        ({"ingress": from_({"podSelector": {}})}, SHOP, 80, True),
        ({"ingress": from_({"podSelector": {}})}, OTHER, 80, False),
        ({"ingress": from_(TEAM_B)}, OTHER, 80, True),
        ({"ingress": from_({**TEAM_B, "podSelector": {"matchLabels": {"app": "x"}}})}, OTHER, 80, False),
        ({"ingress": from_({**TEAM_B, **LABELLED})}, OTHER, 80, True),
        ({"ingress": from_({"namespaceSelector": {}})}, OUTSIDE, 80, False),
        ({"ingress": from_({"ipBlock": {"cidr": "203.0.113.0/24"}})}, OUTSIDE, 80, True),
        ({"ingress": from_(INSIDE)}, SHOP, 80, False),
        ({"ingress": from_({"ipBlock": {"cidr": "::/0"}})}, OUTSIDE, 80, False),
        ({"ingress": from_(LABELLED, ports=({"port": 8080},))}, SHOP, 80, False),
        ({"ingress": from_(LABELLED, ports=({"port": 8080},))}, SHOP, 8080, True),
        ({"ingress": from_(LABELLED, ports=({"port": "http"},))}, SHOP, 8080, True),
        ({"ingress": from_(LABELLED, ports=({"port": "https"},))}, SHOP, 8080, False),
        ({"ingress": from_(LABELLED, ports=({"port": 8000, "endPort": 8100},))}, SHOP, 8080, True),
        ({"ingress": from_(LABELLED, ports=({"protocol": "UDP"},))}, SHOP, 8080, False),
        ({"podSelector": {"matchLabels": {"app": "db"}}}, SHOP, 80, True),
        ({"policyTypes": ["Egress"]}, SHOP, 80, True),
        ({}, MACHINE, 80, True),
        ({}, MACHINE._replace(node="n2"), 80, False),
        ({}, WEB, 80, True),
    ],
)
def test_who_gets_in(rules: Document, sender: End, port: int, is_open: bool) -> None:
    written = read_policy(policy(**rules))
    assert (closed_by([written], "ingress", WEB, sender, "TCP", port) == ()) is is_open


def test_policies_add_up_and_those_that_isolate_are_named() -> None:
    deny, allow = read_policy(policy("deny")), read_policy(policy("allow", ingress=from_(LABELLED)))
    assert closed_by([allow, deny], "ingress", WEB, SHOP, "TCP", 80) == ()
    assert closed_by([allow, deny], "ingress", WEB, OTHER, "TCP", 80) == (allow, deny)


def test_a_named_port_is_the_receivers_also_where_the_sender_is_isolated() -> None:
    out = read_policy(policy(policyTypes=["Egress"], egress=[{"ports": [{"protocol": "TCP", "port": "http"}]}]))
    assert closed_by([out], "egress", SHOP, WEB, "TCP", 8080) == ()
    assert closed_by([out], "egress", SHOP, WEB, "TCP", 80) == (out,)
    assert closed_by([out], "egress", SHOP, OUTSIDE, "TCP", 8080) == (out,)


def test_an_address_that_nobody_knows_lies_in_the_range_of_all() -> None:
    everywhere = read_policy(policy(ingress=from_({"ipBlock": {"cidr": "0.0.0.0/0"}})))
    assert everywhere.ingress is not None
    block = everywhere.ingress[0].peers[0].block
    assert isinstance(block, Block)
    assert block.holds("")
    assert not Block(block.whole, (block.whole,)).holds("")


def labelled(name: str, app: str, node_name: str = "n1", **spec: Any) -> Document:
    made = pod(name, node_name=node_name, **spec)
    made["metadata"]["labels"] = {"app": app}
    return made


def cluster(*more: Document) -> Lab:
    lab = Lab([node("n1"), node("n2"), service(), labelled("web-1", "web"), labelled("shop", "shop", "n2"), *more])
    lab.run(20)
    return lab


def test_what_nobody_lets_in_waits_for_an_answer_until_the_policy_goes() -> None:
    lab = cluster(policy("deny-all"))
    lab.create(client())
    lab.run(10)
    last = newest(lab)
    assert {key: last[key] for key in ("result", "reason", "pod", "message")} == {
        "result": "timeout",
        "reason": "NetworkPolicy",
        "pod": "default/web-1",
        "message": "default/web-1 is isolated by default/deny-all: nothing lets a pod of default in on port 80",
    }
    lab.do(Delete(POLICIES, "default", "deny-all"))
    lab.run(10)
    assert newest(lab)["result"] == "ok"


def test_pods_that_a_policy_names_get_in_and_no_others() -> None:
    lab = cluster(policy("shops", ingress=from_(LABELLED)))
    lab.create(client("shop", **{"from": "pod/shop"}))
    lab.create(client("stranger"))
    lab.create(client("machine", "http://web/", **{"from": "node/n1"}))
    lab.run(10)
    assert set(results(lab, "shop")) == {"ok"}
    assert set(results(lab, "stranger")) == {"timeout"}


def test_who_may_send_nothing_cannot_even_ask_for_a_name() -> None:
    lab = cluster(policy("silent", podSelector={"matchLabels": {"app": "shop"}}, policyTypes=["Egress"]))
    address = lab.get("services", "web")["spec"]["clusterIP"]
    lab.create(client("named", **{"from": "pod/shop"}))
    lab.create(client("direct", f"http://{address}/", **{"from": "pod/shop"}))
    lab.run(10)
    assert (newest(lab, "named")["result"], newest(lab, "named")["reason"]) == ("unresolved", "NetworkPolicy")
    last = newest(lab, "direct")
    assert (last["result"], last["reason"], last["service"]) == ("timeout", "NetworkPolicy", "default/web")
    assert last["message"] == (
        "default/shop is isolated by default/silent: nothing lets it out to default/web-1 on port 80"
    )


def test_who_may_ask_for_names_and_reach_one_port_does() -> None:
    rules = [
        {"ports": [{"protocol": "UDP", "port": 53}]},
        {"to": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"protocol": "TCP", "port": 80}]},
    ]
    lab = cluster(policy("narrow", policyTypes=["Egress"], egress=rules))
    lab.create(client("shop", **{"from": "pod/shop"}))
    lab.run(10)
    assert set(results(lab, "shop")) == {"ok"}


def test_what_comes_by_a_node_port_has_the_machines_address() -> None:
    """A range of addresses outside lets nobody in where the machine that was asked sends it on."""
    far = {"ipBlock": {"cidr": "203.0.113.0/24"}}
    lab = cluster(policy("outside", ingress=from_(far)), service("door", type="NodePort", selector={"app": "web"}))
    port = lab.get("services", "door")["spec"]["ports"][0]["nodePort"]
    lab.create(client("near", f"http://n1:{port}/", **{"from": "outside"}))
    lab.create(client("round", f"http://n2:{port}/", **{"from": "outside"}))
    lab.run(10)
    assert set(results(lab, "near")) == {"ok"}, "its own machine is always let in"
    assert newest(lab, "round")["message"].startswith(
        "default/web-1 is isolated by default/outside: nothing lets node n2 in"
    )


def test_a_machine_and_its_own_pods_are_never_kept_apart() -> None:
    lab = cluster(policy("deny-all", policyTypes=["Ingress", "Egress"]))
    lab.create(client("own", f"http://{lab.get('pods', 'web-1')['status']['podIP']}/", **{"from": "node/n1"}))
    lab.create(client("far", f"http://{lab.get('pods', 'web-1')['status']['podIP']}/", **{"from": "node/n2"}))
    lab.run(10)
    assert set(results(lab, "own")) == {"ok"}
    assert set(results(lab, "far")) == {"timeout"}
