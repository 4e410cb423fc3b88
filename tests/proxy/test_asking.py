"""Requests that commands in containers send: through the cluster as it is, with what containers answer."""

from __future__ import annotations

import pytest

from controllers.flags.flag import InForce
from controllers.kinds.clustersim.target import read_target
from controllers.kubelet.shell.running import Came
from controllers.kubelet.stages.pods import STAGES
from controllers.log.operations import Delete
from controllers.proxy.asking import FORBIDDEN, Asking
from scheduler_core.api.document import Document
from tests.proxy.test_clients import service
from tests.proxy.test_policies import POLICIES, labelled, policy
from tests.tools.lab import Lab, node


def lab_of(*more: Document) -> Lab:
    shop = labelled("shop", "shop", "n2")
    web = labelled("web-1", "web")
    web["spec"]["containers"][0] |= {"image": "agnhost:2.53", "ports": [{"containerPort": 80}]}
    lab = Lab([node("n1"), node("n2"), service(), web, shop, *more])
    lab.run(20)
    return lab


def network(lab: Lab) -> Asking:
    return Asking(lab.store.list, InForce(), STAGES.answers, lab.store.epoch_ms + lab.cluster.now_ms)


def ask(lab: Lab, url: str, pod: str = "shop") -> Came:
    return network(lab).send(lab.get("pods", pod), read_target(url), lambda purpose, below: 0)


def test_a_pod_answers_with_what_the_stages_say() -> None:
    lab = lab_of()
    address = lab.get("services", "web")["spec"]["clusterIP"]
    assert ask(lab, "http://web/hostname?x=1") == Came("ok", 200, "", address, "web-1")
    told = ask(lab, "http://web.default.svc.cluster.local/a")
    own = lab.get("pods", "web-1")["status"]["podIP"]
    assert told.body == f"/a of web.default.svc.cluster.local, answered by web-1 ({own}) on n1\n"


@pytest.mark.parametrize(
    ("url", "result", "reason"),
    [("http://nope/", "unresolved", "NoSuchName"), ("http://web:81/", "timeout", "NoRule")],
)
def test_what_does_not_come_so_far(url: str, result: str, reason: str) -> None:
    came = ask(lab_of(), url)
    assert (came.result, came.reason, came.body) == (result, reason, "")


def test_policies_hold_for_commands_too() -> None:
    lab = lab_of(policy("deny-all"))
    assert ask(lab, "http://web/")[:3] == ("timeout", 0, "NetworkPolicy")
    lab.do(Delete(POLICIES, "default", "deny-all"))
    lab.run(1)
    assert ask(lab, "http://web/").result == "ok"


def test_an_image_says_of_what_type_its_page_is_and_who_serves_it() -> None:
    assert STAGES.answers.of_page("nginx:1.27", "/").type == "text/html"
    came = Came("ok", 200, body="ü", type="text/html", server="nginx/1.27.0")
    assert came.headers == [("Server", "nginx/1.27.0"), ("Content-Type", "text/html"), ("Content-Length", "2")]


def test_policies_hold_for_the_api_server_and_not_for_a_forwarded_port() -> None:
    lab = lab_of(policy("deny-all"))
    pod = lab.get("pods", "web-1")
    place = ("default", "web-1", pod["metadata"]["uid"])
    aim = read_target(f"http://{pod['status']['podIP']}/hostname")
    assert network(lab).send_for_client(aim)[:3] == ("timeout", 0, "NetworkPolicy")
    within = network(lab).send_within(*place, aim)
    assert within is not None
    assert (within.result, within.body) == ("ok", "web-1")
    lab.do(Delete(POLICIES, "default", "deny-all"))
    lab.run(1)
    assert network(lab).send_for_client(aim).body == "web-1"


def test_a_forwarded_port_leads_to_the_same_pod_or_to_none() -> None:
    lab = lab_of()
    uid = lab.get("pods", "web-1")["metadata"]["uid"]
    aim = read_target("http://localhost:80/hostname")
    assert network(lab).send_within("default", "web-1", "another", aim) is None
    assert network(lab).send_within("default", "none", uid, aim) is None
    refused = network(lab).send_within("default", "web-1", uid, aim._replace(port=81))
    assert refused is not None
    assert (refused.result, refused.message) == ("refused", "no container of web-1 listens on port 81")


def test_the_api_server_does_not_know_who_asks() -> None:
    lab = lab_of()
    endpoints = lab.get("services", "kubernetes")["spec"]["clusterIP"]
    assert ask(lab, f"https://{endpoints}/")[::4] == ("ok", FORBIDDEN)
