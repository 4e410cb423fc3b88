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
    web["spec"]["containers"][0]["image"] = "agnhost:2.53"
    lab = Lab([node("n1"), node("n2"), service(), web, shop, *more])
    lab.run(20)
    return lab


def ask(lab: Lab, url: str, pod: str = "shop") -> Came:
    asking = Asking(lab.store.list, InForce(), STAGES.answers, lab.store.epoch_ms + lab.cluster.now_ms)
    return asking.send(lab.get("pods", pod), read_target(url), lambda purpose, below: 0)


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


def test_the_api_server_does_not_know_who_asks() -> None:
    lab = lab_of()
    endpoints = lab.get("services", "kubernetes")["spec"]["clusterIP"]
    assert ask(lab, f"https://{endpoints}/")[::4] == ("ok", FORBIDDEN)
