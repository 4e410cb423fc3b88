"""Which endpoint a node may use, by upstream's rules; what names mean; what a pod does with a connection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from controllers.kinds.clustersim.target import BadTarget, Target, read_target
from controllers.log.operations import Patch
from controllers.proxy.endpoints import Endpoint, ServicePort, endpoints_of, is_allowed, ports_of, usable
from controllers.proxy.names import Answer, resolve
from controllers.proxy.policies import End
from controllers.proxy.rules import STICKY_MAX, Refusal, Route, Rules
from scheduler_core.api.document import Document
from tests.proxy.test_clients import HOOK, behind, client, deployment, newest, results, service, told
from tests.tools.lab import Lab, node, pod


def endpoint(number: int, node: str = "n1", state: str = "ready", *, zone: str = "", near: str = "") -> Endpoint:
    """Return an endpoint that is ready, ending (and serves), dead (ends and does not serve) or unready."""
    return Endpoint(
        address=f"10.128.0.{number}",
        port=80,
        node=node,
        ready=state == "ready",
        serving=state in ("ready", "ending"),
        terminating=state in ("ending", "dead"),
        zones=frozenset({zone} if zone else ()),
        nodes=frozenset({near} if near else ()),
        slice="s",
        pod=("default", f"p{number}"),
    )


def port(*endpoints: Endpoint, **fields: Any) -> ServicePort:
    plain = ServicePort("default/web", "", "10.96.1.1", 80, 0, (), (), (), 0, False, False, endpoints)
    return replace(plain, **fields)


def numbers(found: tuple[Endpoint, ...]) -> list[int]:
    return [int(one.address.rpartition(".")[2]) for one in found]


READY_AND_ENDING = (endpoint(1), endpoint(2, "n2"), endpoint(3, state="ending"), endpoint(4, state="unready"))
ENDING = (endpoint(1, state="ending"), endpoint(2, "n2", "ending"), endpoint(3, state="dead"))
ZONES = (endpoint(1, zone="a"), endpoint(2, "n2", zone="b"), endpoint(3, "n3", "unready"))
NODES = (
    endpoint(1, zone="a", near="n1"),
    endpoint(2, "n2", zone="a", near="n2"),
    endpoint(3, "n3", zone="b", near="n3"),
)
LOCAL = {"internal_local": True}
OUTSIDE = {"external_local": True, "node_port": 30000}


@pytest.mark.parametrize(
    ("given", "where", "cluster", "local", "exist"),
    [
        pytest.param(port(), ("n1", ""), [], [], False, id="no endpoints"),
        pytest.param(port(*READY_AND_ENDING), ("n1", ""), [1, 2], [], True, id="ready ones alone"),
        pytest.param(port(*ENDING), ("n1", ""), [1, 2], [], True, id="where none is ready, those that end and serve"),
        pytest.param(port(ENDING[2]), ("n1", ""), [], [], False, id="one that ends and does not serve"),
        pytest.param(port(*ZONES), ("n1", "a"), [1], [], True, id="a zone's own"),
        pytest.param(port(*ZONES), ("n1", "c"), [1, 2], [], True, id="a zone without any"),
        pytest.param(port(*ZONES, endpoint(5)), ("n1", "a"), [1, 2, 5], [], True, id="one has no hint"),
        pytest.param(port(*NODES), ("n2", "a"), [2], [], True, id="a node's own"),
        pytest.param(port(*NODES), ("n9", "a"), [1, 2], [], True, id="a node without any, by its zone"),
        pytest.param(port(*READY_AND_ENDING, **LOCAL), ("n2", ""), [], [2], True, id="internal policy Local"),
        pytest.param(port(*READY_AND_ENDING, **LOCAL), ("n3", ""), [], [], True, id="none here, some elsewhere"),
        pytest.param(port(*ENDING, **LOCAL), ("n2", ""), [], [2], True, id="the local one ends"),
        pytest.param(port(*READY_AND_ENDING, **OUTSIDE), ("n2", ""), [1, 2], [2], True, id="external policy Local"),
        pytest.param(port(*READY_AND_ENDING, external_local=True), ("n2", ""), [1, 2], [], True, id="nothing outside"),
    ],
)
def test_which_endpoints_a_node_may_use(
    given: ServicePort, where: tuple[str, str], cluster: list[int], local: list[int], exist: bool
) -> None:
    found = usable(given, *where)
    assert (numbers(found.cluster), numbers(found.local), found.exist) == (cluster, local, exist)


def document(**spec: Any) -> Document:
    made = service(**{"clusterIP": "10.96.1.1", **spec})
    for one in made["spec"]["ports"]:
        one.setdefault("protocol", "TCP")
    return made


def slice_of(*entries: Document, ports: list[Document] | None = None, name: str = "web-1") -> Document:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "addressType": "IPv4",
        "endpoints": list(entries),
        "ports": [{"name": "", "port": 8080, "protocol": "TCP"}] if ports is None else ports,
    }


def test_ports_are_those_of_the_protocol_and_endpoints_those_of_the_port() -> None:
    given = document(
        ports=[{"name": "a", "port": 80}, {"name": "b", "port": 81}, {"name": "c", "port": 82, "protocol": "UDP"}]
    )
    listed = [{"name": "a", "port": 8080}, {"name": "b", "port": 8081}, {"name": "c", "port": 8082, "protocol": "UDP"}]
    entry = {"addresses": ["10.128.0.1"], "conditions": {}}
    found = ports_of(given, [slice_of(entry, entry, ports=listed), slice_of(entry, ports=listed[:1], name="web-2")])
    assert [(one.port, [each.place for each in one.endpoints]) for one in found] == [
        (80, ["10.128.0.1:8080"]),
        (81, ["10.128.0.1:8081"]),
    ]
    # What a slice does not say of an address is taken for good, but for its end.
    (only,) = found[0].endpoints
    assert (only.ready, only.serving, only.terminating) == (True, True, False)


def test_who_is_no_proxys() -> None:
    assert ports_of(None, []) == ()
    assert ports_of(document(clusterIP="None"), []) == ()
    assert ports_of(document(type="ExternalName"), []) == ()
    other = document()
    other["metadata"]["labels"] = {"service.kubernetes.io/service-proxy-name": "mine"}
    assert ports_of(other, []) == ()
    six = {**slice_of({"addresses": ["fd00::1"]}), "addressType": "IPv6"}
    assert endpoints_of([six], "") == ()


def test_source_ranges() -> None:
    def sources(*ranges: str) -> tuple[Any, ...]:
        return ports_of(document(loadBalancerSourceRanges=list(ranges)), [])[0].sources

    assert is_allowed("203.0.113.10", sources())
    assert is_allowed("203.0.113.10", sources("10.0.0.0/8", "0.0.0.0/0"))
    assert is_allowed("203.0.113.10", sources(" 203.0.113.0/24 "))
    assert not is_allowed("203.0.113.10", sources("10.0.0.0/8"))


def test_rules_change_with_what_they_are_told_and_forget_the_oldest_client() -> None:
    rules = Rules("n1")
    given = port(endpoint(1), endpoint(2), sticky_seconds=60, node_port=30000)
    rules.apply({given.service: (given,)})
    chain = rules.knows_address("10.96.1.1", 80)
    assert chain is rules.knows_node_port(30000)
    assert chain is not None
    for number in range(STICKY_MAX + 1):
        route = Route(f"10.0.{number >> 8}.{number & 255}", "pod", 0, lambda below: 1, End(""))
        assert rules.pass_through(chain, "10.96.1.1", route) == endpoint(2)
    assert (len(rules.stuck), ("default/web", "10.0.0.0") in rules.stuck) == (STICKY_MAX, False)
    rules.apply({given.service: ()})
    assert rules.knows_address("10.96.1.1", 80) is None
    assert rules.knows_node_port(30000) is None
    none = port()
    rules.apply({none.service: (none,)})
    chain = rules.knows_address("10.96.1.1", 80)
    assert chain is not None
    route = Route("10.0.0.1", "pod", 0, lambda below: 0, End(""))
    assert rules.pass_through(chain, "10.96.1.1", route) == Refusal(
        "refused", "NoEndpoints", "default/web has no endpoints"
    )


# -- names --------------------------------------------------------------------------------------------------------


class Names:
    """What a small cluster knows."""

    services: dict[str, Document] = {
        "shop/web": {"spec": {"clusterIP": "10.96.0.7"}},
        "default/web": {"spec": {"clusterIP": "10.96.0.8"}},
        "default/db": {"spec": {"clusterIP": "None"}},
        "default/empty": {"spec": {"clusterIP": "None"}},
        "default/alias": {"spec": {"type": "ExternalName", "externalName": "web.shop.svc.cluster.local"}},
        "default/far": {"spec": {"type": "ExternalName", "externalName": "example.com"}},
        "default/round": {"spec": {"type": "ExternalName", "externalName": "round.default.svc.cluster.local."}},
    }

    def service(self, namespace: str, name: str) -> Document | None:
        return self.services.get(f"{namespace}/{name}")

    def behind(self, service: str) -> list[tuple[Endpoint, str]]:
        if service != "default/db":
            return []
        return [(endpoint(1), "db-0"), (endpoint(2, state="unready"), "db-1"), (endpoint(3), "")]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("web", Answer(("10.96.0.8",), "default/web")),
        ("web.shop", Answer(("10.96.0.7",), "shop/web")),
        ("web.shop.svc", Answer(("10.96.0.7",), "shop/web")),
        ("web.shop.svc.cluster.local", Answer(("10.96.0.7",), "shop/web")),
        ("web.shop.svc.cluster.local.", Answer(("10.96.0.7",), "shop/web")),
        ("web.", None),
        ("web.nowhere", None),
        ("example.com", None),
        ("db", Answer(("10.128.0.1", "10.128.0.3"), "default/db")),
        ("empty", None),
        ("db-0.db", Answer(("10.128.0.1",), "default/db")),
        ("db-1.db", None),
        ("10-128-0-3.db.default.svc.cluster.local", Answer(("10.128.0.3",), "default/db")),
        ("10-128-0-3.default.pod.cluster.local", Answer(("10.128.0.3",))),
        ("x-y.default.pod.cluster.local", None),
        ("alias", Answer(("10.96.0.7",), "shop/web")),
        ("far", Answer((), "default/far", "example.com")),
        ("round", None),
        ("a.b.c.d.e.f", None),
    ],
)
def test_what_names_mean(name: str, answer: Answer | None) -> None:
    assert resolve(Names(), name, "default") == answer
    assert resolve(Names(), name, None) is None


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("http://Web:8080/a?b", Target("web", 8080, "/a?b")),
        ("https://web", Target("web", 443, "/")),
        ("web.shop.", Target("web.shop.", 80, "/")),
        ("tcp://10.96.0.1:5432", Target("10.96.0.1", 5432, "/")),
    ],
)
def test_targets(text: str, target: Target) -> None:
    assert read_target(text) == target


@pytest.mark.parametrize("text", ["", "http://", "http://a b/", "http://[::1]/", "x://a", "tcp://a", "a:0", "a" * 500])
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(BadTarget):
        read_target(text)


# -- in a cluster -------------------------------------------------------------------------------------------------


def test_the_last_pods_of_a_service_are_asked_while_they_end() -> None:
    lab = Lab([node("n1"), service(), deployment(2, container=HOOK)])
    lab.run(20)
    lab.create(client())
    lab.run(10)
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": 0}}))
    lab.run(1)
    assert set(results(lab)) == {"ok"}
    lab.run(10)
    assert (newest(lab)["result"], newest(lab)["reason"]) == ("refused", "NoEndpoints")


def test_internal_traffic_stays_on_the_node_where_the_service_wants_it() -> None:
    lab = Lab([node("n1"), node("n2"), service(internalTrafficPolicy="Local"), behind("one", nodeName="n1")])
    lab.create(pod("here", nodeName="n1"), pod("there", nodeName="n2"))
    lab.run(20)
    lab.create(client("here", **{"from": "pod/here"}), client("there", **{"from": "pod/there"}))
    lab.run(10)
    assert set(results(lab, "here")) == {"ok"}
    assert (newest(lab, "there")["result"], newest(lab, "there")["reason"]) == ("timeout", "NoLocalEndpoints")


def test_traffic_stays_in_the_zone_as_long_as_there_is_somebody() -> None:
    zones = [node("n1"), node("n2")]
    for one, zone in zip(zones, "ab", strict=True):
        one["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone}
    near = service(trafficDistribution="PreferSameZone")
    lab = Lab([*zones, near, behind("one", nodeName="n1"), behind("two", nodeName="n2")])
    lab.run(20)
    lab.create(client())
    lab.run(10)
    assert [one["name"] for one in told(lab)["pods"]] == ["default/one"]
    failing = {"metadata": {"annotations": {"clustersim.io/run": "unready"}}}
    lab.do(Patch("pods", "default", "one", failing))
    lab.run(20)
    assert newest(lab)["pod"] == "default/two"


def test_pods_that_are_not_ready_are_asked_where_they_are_published() -> None:
    unready = behind("one")
    unready["metadata"]["annotations"] = {"clustersim.io/run": "unready"}
    lab = Lab([node("n1"), service(publishNotReadyAddresses=True), unready])
    lab.run(20)
    lab.create(client())
    lab.run(5)
    last = newest(lab)
    assert (last["result"], last["code"], last["reason"]) == ("error", 503, "Unhealthy")


def test_a_pod_that_crashes_or_hangs_or_never_starts_up() -> None:
    probes = {kind: {"tcpSocket": {"port": 80}, "failureThreshold": 50} for kind in ("livenessProbe", "startupProbe")}
    pods = {}
    for name, failing in (("hangs", "liveness"), ("stuck", "startup")):
        pods[name] = behind(name)
        pods[name]["metadata"]["annotations"] = {"clustersim.io/failing-probes": failing}
        pods[name]["spec"]["containers"][0].update(probes)
    crashing = behind("crashes", image="crash:1")
    lab = Lab([node("n1"), *pods.values(), crashing])
    lab.run(20)
    for name in (*pods, "crashes"):
        lab.create(client(name, f"http://{lab.get('pods', name)['status']['podIP']}/"))
    lab.run(5)
    found = {name: (newest(lab, name)["result"], newest(lab, name)["reason"]) for name in (*pods, "crashes")}
    assert found == {
        "hangs": ("timeout", "Hangs"),
        "stuck": ("refused", "NotStarted"),
        "crashes": ("refused", "NotRunning"),
    }


def test_a_port_of_the_machine_leads_to_the_pod_that_has_it() -> None:
    hosted = pod("hosted", nodeName="n1")
    hosted["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    sharing = pod("sharing", nodeName="n1", hostNetwork=True)
    sharing["spec"]["containers"][0]["ports"] = [{"containerPort": 9090}]
    lab = Lab([node("n1"), hosted, sharing])
    lab.run(20)
    lab.create(client("hosted", "http://n1:8080/", **{"from": "outside"}), client("sharing", "http://n1:9090/"))
    lab.create(client("nobody", "http://n1:22/", **{"from": "outside"}))
    lab.run(5)
    assert (newest(lab, "hosted")["result"], newest(lab, "hosted")["pod"]) == ("ok", "default/hosted")
    assert (newest(lab, "sharing")["result"], newest(lab, "sharing")["pod"]) == ("ok", "default/sharing")
    assert newest(lab, "nobody")["result"] == "refused"


def test_an_external_address_is_reached_from_inside_and_outside() -> None:
    lab = Lab([node("n1"), service(externalIPs=["198.51.100.1"]), behind("one")])
    lab.run(20)
    lab.create(client("in", "http://198.51.100.1/"), client("out", "http://198.51.100.1/", **{"from": "outside"}))
    lab.create(client("port", "http://198.51.100.1:81/", **{"from": "outside"}), client("none", "http://198.51.100.2/"))
    lab.run(5)
    assert set(results(lab, "in")) == set(results(lab, "out")) == {"ok"}
    assert newest(lab, "port")["reason"] == "NoRule"
    assert (newest(lab, "none")["result"], newest(lab, "none")["reason"]) == ("timeout", "NobodyThere")


def test_addresses_that_people_keep_lead_outside() -> None:
    by_hand = service("db")
    del by_hand["spec"]["selector"]
    kept = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "db", "namespace": "default"},
        "subsets": [{"addresses": [{"ip": "192.0.2.9"}], "ports": [{"port": 5432}]}],
    }
    lab = Lab([node("n1"), by_hand, kept])
    lab.run(10)
    lab.create(client(target="http://db/"))
    lab.run(5)
    last = newest(lab)
    assert (last["result"], last["reason"], last["endpoint"]) == ("outside", "LeftTheCluster", "192.0.2.9:5432")
