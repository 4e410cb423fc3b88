"""Clients of Services in a whole cluster: what a rolling update, a failing probe or a dead node does to requests."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from controllers.proxy.exchange import OUTSIDE_ADDRESS
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Lab, node, pod, workload

CLIENTS = "clients.clustersim.io"


def service(name: str = "web", **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": name}, **spec},
    }


def client(name: str = "shop", target: str = "http://web:80/", **spec: Any) -> Document:
    return {
        "apiVersion": "clustersim.io/v1",
        "kind": "Client",
        "metadata": {"name": name},
        "spec": {"target": target, "rate": 10, **spec},
    }


def behind(name: str, **spec: Any) -> Document:
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": "web"}
    return made


def deployment(replicas: int = 3, **template: Any) -> Document:
    made = workload("Deployment", "web", replicas)
    made["spec"]["template"]["metadata"].update(template.get("metadata") or {})
    made["spec"]["template"]["spec"]["containers"][0].update(template.get("container") or {})
    return made


def told(lab: Lab, name: str = "shop") -> Document:
    """Return a client's status, with nothing left to tell."""
    lab.run(2)
    status: Document = lab.get(CLIENTS, name, "")["status"]
    return status


def results(lab: Lab, name: str = "shop") -> dict[str, int]:
    return {key: number for key, number in told(lab, name)["results"].items() if number}


def newest(lab: Lab, name: str = "shop") -> Document:
    found: Document = told(lab, name)["newest"][-1]
    return found


def roll(lab: Lab) -> None:
    patch = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
    lab.do(Patch("deployments.apps", "default", "web", patch))
    lab.run(60)
    assert lab.get("deployments.apps", "web")["status"]["updatedReplicas"] == 3
    assert len(list(lab.list("pods", "default"))) == 3


SLOW = {"annotations": {"clustersim.io/listen-after": "3"}}
PROBE = {"readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1}}
HOOK = {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}


def test_requests_find_every_pod_of_a_service_and_are_told_whole() -> None:
    lab = Lab([node("n1"), node("n2"), service(), deployment()])
    lab.run(20)
    lab.create(client())
    lab.run(60)
    status = told(lab)
    assert status["results"] == {"error": 0, "ok": 620, "outside": 0, "refused": 0, "timeout": 0, "unresolved": 0}
    assert (status["sent"], status["success"], status["state"]) == (620, 1.0, "Sending")
    pods = {f"default/{one['metadata']['name']}" for one in lab.list("pods", "default")}
    assert {one["name"] for one in status["pods"]} == pods
    assert all(one["ok"] > 100 and one["failed"] == 0 for one in status["pods"])
    last = status["newest"][-1]
    address = lab.get("services", "web")["spec"]["clusterIP"]
    assert {key: last[key] for key in ("result", "code", "address", "service", "via")} == {
        "result": "ok",
        "code": 200,
        "address": address,
        "service": "default/web",
        "via": "n1",
    }
    answered = lab.get("pods", last["pod"].removeprefix("default/"))
    assert last["endpoint"] == f"{answered['status']['podIP']}:80"
    assert last["node"] == answered["spec"]["nodeName"]
    assert last["slice"].startswith("web-")
    assert len(status["newest"]) == 20


def test_a_rolling_update_loses_nothing_where_readiness_and_a_hook_keep_pods_until_they_are_not_asked() -> None:
    lab = Lab([node("n1"), node("n2"), service(), deployment(metadata=SLOW, container={**PROBE, **HOOK})])
    lab.run(30)
    lab.create(client())
    roll(lab)
    assert set(results(lab)) == {"ok"}


def test_a_rolling_update_without_a_readiness_probe_sends_requests_to_pods_that_do_not_listen_yet() -> None:
    lab = Lab([node("n1"), node("n2"), service(), deployment(metadata=SLOW, container=HOOK)])
    lab.run(30)
    lab.create(client())
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}))
    reasons: dict[str, int] = {}
    seen = 0
    for _ in range(40):
        lab.run(1)
        for one in lab.get(CLIENTS, "shop", "").get("status", {}).get("newest", []):
            if one["number"] > seen:
                seen = one["number"]
                reasons[one.get("reason", "")] = reasons.get(one.get("reason", ""), 0) + 1
    assert set(reasons) == {"", "NotStarted"}


def test_a_rolling_update_without_a_hook_loses_what_is_sent_before_proxies_have_heard() -> None:
    lab = Lab([node("n1"), node("n2"), service(), deployment(metadata=SLOW, container=PROBE)])
    lab.run(30)
    lab.create(client(rate=50))
    roll(lab)
    found = results(lab)
    lost = sum(number for result, number in found.items() if result != "ok")
    assert set(found) <= {"ok", "refused", "timeout"}
    assert found["refused"] > 0
    assert lost < 0.05 * found["ok"]


def test_a_pod_whose_probe_fails_is_asked_no_more() -> None:
    lab = Lab([node("n1"), service(), deployment(container=PROBE)])
    lab.run(30)
    lab.create(client())
    lab.run(10)
    name = lab.list("pods", "default")[0]["metadata"]["name"]
    failing = {"metadata": {"annotations": {"clustersim.io/failing-probes": "readiness"}}}
    lab.do(Patch("pods", "default", name, failing))
    lab.run(60)
    before = results(lab)
    lab.run(30)
    after = results(lab)
    assert after["ok"] - before["ok"] == 320
    assert before.get("error", 0) == after.get("error", 0)
    assert next(one for one in told(lab)["pods"] if one["name"] == f"default/{name}")["ok"] < 60


def test_a_dead_node_gives_timeouts_until_its_addresses_go() -> None:
    lab = Lab([node("n1"), service(), behind("one", nodeName="n1"), node("n2"), behind("two", nodeName="n2")])
    lab.run(20)
    lab.create(client(timeout=1.5))
    lab.run(10)
    assert set(results(lab)) == {"ok"}
    lab.do(Patch("nodes", "", "n2", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))
    lab.run(20)
    status = told(lab)
    assert 0.2 < status["success"] < 0.8
    lost = next(one for one in status["newest"] if one["result"] == "timeout")
    assert (lost["pod"], lost["node"], lost["reason"]) == ("default/two", "n2", "NodeSilent")
    assert lost["afterMs"] == 1500
    lab.run(60)
    before = results(lab)["timeout"]
    lab.run(30)
    status = told(lab)
    assert (status["results"]["timeout"], status["success"]) == (before, 1.0)


def test_a_service_without_endpoints_refuses_and_a_name_without_a_service_is_none() -> None:
    lab = Lab([node("n1"), service()])
    lab.run(5)
    lab.create(client(), client("typo", "http://wbe/"), client("port", "http://web:81/"))
    lab.run(5)
    assert (newest(lab)["result"], newest(lab)["message"]) == ("refused", "default/web has no endpoints")
    assert newest(lab, "typo")["reason"] == "NoSuchName"
    assert (newest(lab, "port")["result"], newest(lab, "port")["reason"]) == ("timeout", "NoRule")


def test_what_a_container_does_not_listen_on_is_refused() -> None:
    one = behind("one")
    one["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8080}]
    named = service("named", selector={"app": "web"}, ports=[{"port": 80, "targetPort": "http"}])
    lab = Lab([node("n1"), service(), named, one])
    lab.run(20)
    place = lab.get("pods", "one")["status"]["podIP"]
    lab.create(client(), client("named", "http://named/"), client("direct", f"tcp://{place}:8080"))
    lab.run(5)
    assert (newest(lab)["result"], newest(lab)["reason"]) == ("refused", "NotListening")
    assert newest(lab, "named")["endpoint"].endswith(":8080")
    assert newest(lab, "named")["result"] == "ok"
    assert (newest(lab, "direct")["result"], newest(lab, "direct")["pod"]) == ("ok", "default/one")


def test_session_affinity_keeps_a_client_at_a_pod_until_that_goes() -> None:
    lab = Lab([node("n1"), service(sessionAffinity="ClientIP"), deployment(container=HOOK)])
    lab.run(20)
    lab.create(client())
    lab.run(20)
    (one,) = told(lab)["pods"]
    lab.do(Delete("pods", "default", one["name"].removeprefix("default/")))
    lab.run(30)
    found = told(lab)
    assert next(entry["name"] for entry in found["pods"]) == one["name"]
    assert len(found["pods"]) == 2
    assert set(results(lab)) == {"ok"}


def test_a_client_that_waits_longer_than_the_affinity_is_sent_anew() -> None:
    config = {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}}
    lab = Lab([node("n1"), service(**config), deployment()])
    lab.run(20)
    lab.create(client("often", rate=1), client("seldom", rate=0.1))
    lab.run(120)
    assert len(told(lab, "often")["pods"]) == 1
    assert len(told(lab, "seldom")["pods"]) == 3


def test_a_headless_service_leads_to_pods_and_a_stateful_pod_has_its_name() -> None:
    stateful = workload("StatefulSet", "web", 2)
    stateful["spec"]["serviceName"] = "web"
    lab = Lab([node("n1"), service(clusterIP="None"), stateful])
    lab.run(30)
    lab.create(client(), client("zero", "http://web-0.web.default.svc.cluster.local/"))
    lab.run(20)
    status = told(lab)
    assert {one["name"] for one in status["pods"]} == {"default/web-0", "default/web-1"}
    assert "via" not in status["newest"][-1]
    assert [one["name"] for one in told(lab, "zero")["pods"]] == ["default/web-0"]


def test_a_node_port_is_reached_from_outside_through_any_node_and_locally_through_its_own() -> None:
    lab = Lab([node("n1"), node("n2"), service(type="NodePort"), behind("one", nodeName="n1")])
    lab.run(20)
    port = lab.get("services", "web")["spec"]["ports"][0]["nodePort"]
    lab.create(client("first", f"http://n1:{port}/", **{"from": "outside"}))
    lab.create(client("other", f"http://n2:{port}/", **{"from": "outside"}))
    lab.create(client("inner", f"http://n2:{port}/"), client("wrong", "http://n2:30001/", **{"from": "outside"}))
    lab.create(client("name", "http://web/", **{"from": "outside"}))
    lab.create(client("address", f"http://{lab.get('services', 'web')['spec']['clusterIP']}/", **{"from": "outside"}))
    lab.run(10)
    assert set(results(lab, "first")) == set(results(lab, "other")) == set(results(lab, "inner")) == {"ok"}
    assert newest(lab, "other")["via"] == "n2"
    assert newest(lab, "other")["node"] == "n1"
    machine = {name: lab.get("nodes", name, "")["status"]["addresses"][0]["address"] for name in ("n1", "n2")}
    seen = {name: newest(lab, name)["client"] for name in ("first", "other")}
    assert seen == {"first": machine["n1"], "other": machine["n2"]}, "the machine's, that the answer finds back"
    assert newest(lab, "wrong")["result"] == "refused"
    assert newest(lab, "name")["result"] == "unresolved"
    assert (newest(lab, "address")["result"], newest(lab, "address")["reason"]) == ("timeout", "NoWayIn")
    lab.do(Patch("services", "default", "web", {"spec": {"externalTrafficPolicy": "Local"}}))
    lab.run(10)
    assert (newest(lab, "first")["result"], newest(lab, "first")["client"]) == ("ok", OUTSIDE_ADDRESS)
    assert (newest(lab, "other")["result"], newest(lab, "other")["reason"]) == ("timeout", "NoLocalEndpoints")


def test_a_load_balancer_sends_to_nodes_that_answer() -> None:
    lab = Lab([node("n1"), node("n2"), service(type="LoadBalancer"), behind("one", nodeName="n1")])
    lab.run(20)
    ingress = {"status": {"loadBalancer": {"ingress": [{"ip": "198.51.100.7"}]}}}
    lab.do(Patch("services", "default", "web", ingress, "merge", "status"))
    lab.create(client("out", "http://198.51.100.7/", **{"from": "outside"}))
    lab.run(20)
    assert set(results(lab, "out")) == {"ok"}
    assert {one["via"] for one in told(lab, "out")["newest"]} == {"n1", "n2"}
    local = {"spec": {"externalTrafficPolicy": "Local", "loadBalancerSourceRanges": ["10.0.0.0/8"]}}
    lab.do(Patch("services", "default", "web", local))
    lab.run(20)
    assert {one["reason"] for one in told(lab, "out")["newest"]} == {"SourceRanges"}
    lab.do(Patch("services", "default", "web", {"spec": {"loadBalancerSourceRanges": ["203.0.113.0/24"]}}))
    lab.run(20)
    assert {one["via"] for one in told(lab, "out")["newest"]} == {"n1"}
    assert newest(lab, "out")["result"] == "ok"


def test_other_names_and_pods_that_send() -> None:
    lab = Lab(
        [
            node("n1"),
            service(),
            behind("one"),
            service("alias", type="ExternalName", externalName="web.default.svc.cluster.local", selector=None),
            service("far", type="ExternalName", externalName="db.example.com", selector=None),
            pod("curl"),
            pod("plain", dnsPolicy="Default"),
        ]
    )
    lab.run(20)
    lab.create(client("alias", "http://alias/"), client("far", "http://far/"))
    lab.create(client("curl", **{"from": "pod/curl"}), client("plain", **{"from": "pod/plain"}))
    lab.create(client("host", **{"from": "node/n1"}), client("api", "https://kubernetes/"))
    lab.create(client("none", **{"from": "pod/nobody"}))
    lab.run(10)
    assert newest(lab, "alias")["pod"] == "default/one"
    assert set(results(lab, "far")) == {"outside"}
    assert told(lab, "far").get("success") is None
    assert set(results(lab, "curl")) == set(results(lab, "api")) == {"ok"}
    assert set(results(lab, "plain")) == set(results(lab, "host")) == {"unresolved"}
    status = told(lab, "none")
    assert (status["sent"], status["state"], status["message"]) == (0, "Waiting", "there is no pod default/nobody")
    lab.do(Delete("pods", "default", "curl"))
    lab.run(20)
    assert told(lab, "curl")["state"] == "Waiting"


def test_a_proxy_that_was_stopped_goes_on_by_what_it_knew() -> None:
    lab = Lab([node("n1"), service(), behind("one")])
    lab.run(20)
    lab.create(client())
    lab.run(5)
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kube-proxy": "off"}}}))
    lab.do(Delete("pods", "default", "one"))
    lab.run(30)
    lab.create(behind("two"))
    lab.run(30)
    assert (newest(lab)["result"], newest(lab)["reason"]) == ("timeout", "NobodyThere")
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kube-proxy": None}}}))
    lab.run(5)
    assert newest(lab)["pod"] == "default/two"


def test_a_proxy_tells_its_rules_and_what_it_has_not_taken_yet() -> None:
    lab = Lab([node("n1"), service(type="NodePort"), behind("one")])
    lab.run(20)
    assert lab.cluster.insides()[""]["proxies"] == []
    lab.create(client())
    lab.run(5)
    (proxy,) = lab.cluster.insides()[""]["proxies"]
    assert (proxy["node"], proxy["behind"]) == ("n1", [])
    found = lab.get("services", "web")["spec"]
    assert next(rule for rule in proxy["rules"] if rule["service"] == "default/web") == {
        "service": "default/web",
        "port": "",
        "address": f"{found['clusterIP']}:80",
        "nodePort": found["ports"][0]["nodePort"],
        "cluster": [f"{lab.get('pods', 'one')['status']['podIP']}:80"],
        "local": [],
    }
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kube-proxy": "off"}}}))
    lab.do(Delete("pods", "default", "one"))
    lab.run(10)
    (stopped,) = lab.cluster.insides()[""]["proxies"]
    assert (stopped["behind"], stopped["rules"]) == (["default/web"], proxy["rules"])


def test_a_client_stops_after_its_count_and_a_changed_one_begins_anew() -> None:
    lab = Lab([node("n1"), service(), behind("one")])
    lab.run(20)
    lab.create(client(count=7))
    lab.run(20)
    status = told(lab)
    assert (status["sent"], status["state"], status["results"]["ok"]) == (7, "Done", 7)
    revision = lab.store.revision
    lab.run(5)
    assert not [row for row in lab.rows(revision) if row.resource == CLIENTS]
    lab.do(Patch(CLIENTS, "", "shop", {"spec": {"count": 3, "target": "http://wbe/"}}))
    lab.run(10)
    assert {key: number for key, number in told(lab)["results"].items() if number} == {"unresolved": 3}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"target": "ftp://web/"}, "spec.target"),
        ({"target": ""}, "spec.target"),
        ({"target": "http://web:70000/"}, "spec.target"),
        ({"target": "tcp://web"}, "spec.target"),
        ({"rate": 51}, "spec.rate"),
        ({"rate": 0}, "spec.rate"),
        ({"timeout": 100}, "spec.timeout"),
        ({"from": "moon"}, "spec.from"),
        ({"from": "pod/"}, "spec.from"),
        ({"namespace": "Not A Name"}, "spec.namespace"),
        ({"count": -1}, "spec.count"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_field(spec: dict[str, Any], field: str) -> None:
    lab = Lab()
    with pytest.raises(ApiError) as refused:
        lab.create(client(**spec))
    assert refused.value.code == 422
    assert [cause.field for cause in refused.value.causes] == [field]


def test_a_session_has_so_many_clients_and_no_more() -> None:
    lab = Lab()
    lab.create(*(client(f"c{number}") for number in range(20)))
    with pytest.raises(ApiError, match="at most 20 clients"):
        lab.create(client("c20"))


def test_a_proxy_that_looks_seldom_sends_requests_to_pods_that_are_gone() -> None:
    lab = Lab([node("n1"), service(), deployment(container=PROBE)])
    lab.run(20)
    flags = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}}
    lab.create({**flags, "spec": {"kube-proxy": {"iptables-min-sync-period": "30s"}}})
    lab.obey()
    lab.create(client())
    lab.run(2)
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": 4}}))
    lab.run(10)
    asked = told(lab)["pods"][0]["name"]
    lab.do(Delete("pods", "default", asked.removeprefix("default/")))
    lab.run(10)
    assert told(lab)["success"] < 0.9
    assert "timeout" in results(lab)
    lab.run(30)
    assert told(lab)["success"] == 1.0
