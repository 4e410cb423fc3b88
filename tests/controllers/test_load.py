"""What requests make pods use, and what autoscalers make of it."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.clustersim.target import read_target
from controllers.kinds.metrics.load import Sender, loads_of, requests_of, senders_of
from controllers.kinds.metrics.usage import COST
from controllers.log.operations import Delete
from tests.tools.lab import Document, Lab, node, workload

WALK_THROUGH = "while sleep 0.01; do wget -q -O- http://php-apache; done"


def shell(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (shell(WALK_THROUGH), [("php-apache", 80, 33.33)]),
        (
            shell("while true; do curl -s -o /dev/null http://web.shop:8080/a; sleep 1; done"),
            [("web.shop", 8080, 0.98)],
        ),
        (shell("until false; do wget -T 2 -qO- web >/dev/null 2>&1; sleep 2m; done"), [("web", 80, 0.01)]),
        (shell("for i in 1 2 3; do curl 'http://a'; curl b; done"), [("a", 80, 25), ("b", 80, 25)]),
        (shell("while true; do\n  sleep .5\n  wget -qO- 10.96.0.9\ndone"), [("10.96.0.9", 80, 1.92)]),
        (shell("wget -qO- http://web"), []),
        (shell("while true; do date; sleep 1; done"), []),
        (shell("while true; do wget --help; done"), []),
        (("wget", "-qO-", "http://web"), []),
        (shell(WALK_THROUGH + " " * 4096), []),
        ((), []),
    ],
)
def test_of_a_command_that_sends_again_and_again_the_rate_is_read(
    words: tuple[str, ...], sent: list[tuple[str, int, float]]
) -> None:
    found = requests_of(words)
    assert [(target.host, target.port) for target, _ in found] == [one[:2] for one in sent]
    assert [round(rate, 2) for _, rate in found] == [one[2] for one in sent]


def service(name: str = "web", namespace: str = "default", **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}], "clusterIP": "10.96.0.9", **spec},
    }


def behind(uid: str, *, ready: str = "True", app: str = "web", **annotations: str) -> Document:
    metadata = {"name": uid, "namespace": "default", "uid": uid, "labels": {"app": app, "more": "x"}}
    return {
        "metadata": {**metadata, "annotations": annotations},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


@pytest.mark.parametrize(
    ("host", "namespace", "arrives"),
    [
        ("web", "default", True),
        ("web", "shop", False),
        ("web.default", "shop", True),
        ("web.default.svc", "shop", True),
        ("web.default.svc.cluster.local", "shop", True),
        ("web-0.web.default.svc", "shop", True),
        ("web.default.com", "shop", False),
        ("10.96.0.9", "shop", True),
        ("10.96.0.8", "shop", False),
        ("other", "default", False),
    ],
)
def test_requests_go_where_names_and_addresses_lead(host: str, namespace: str, arrives: bool) -> None:
    sender = Sender(namespace, read_target(f"http://{host}"), 10)
    pods = {"default": [behind("u")]}
    found = loads_of([sender], lambda: [service()], lambda name: pods.get(name, []))
    assert found == ({"u": 200} if arrives else {})


def test_requests_are_spread_over_who_is_ready_and_cost_what_the_pod_says() -> None:
    pods = [behind("a"), behind("b", **{COST: "100m"}), behind("c", ready="False"), behind("d", app="other")]
    senders = [Sender("default", read_target("http://web"), 10), Sender("default", read_target("http://web"), 2)]
    assert loads_of(senders, lambda: [service()], lambda _: pods) == {"a": 120, "b": 600}


def test_clients_send_while_they_do_as_far_as_they_are_answered() -> None:
    spec = {"namespace": "shop", "target": "http://web", "rate": 8.0}
    statuses: list[Document] = [
        {"state": "Sending", "success": 0.25},
        {"state": "Sending"},
        {"state": "Waiting"},
        {"state": "Done", "success": 1.0},
    ]
    found = senders_of([], [{"spec": spec, "status": status} for status in statuses])
    assert [(one.namespace, one.rate) for one in found] == [("shop", 2.0), ("shop", 8.0)]


def test_the_walk_through_of_autoscaling_goes_up_to_seven_and_back_to_one() -> None:
    """Source: kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale-walkthrough."""
    served = workload("Deployment", "php-apache", 1)
    resources = {"requests": {"cpu": "200m"}, "limits": {"cpu": "500m"}}
    served["spec"]["template"]["spec"]["containers"][0] |= {"ports": [{"containerPort": 80}], "resources": resources}
    metrics = [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    ]
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "php-apache"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "php-apache", "namespace": "default"},
        "spec": {"scaleTargetRef": reference, "minReplicas": 1, "maxReplicas": 10, "metrics": metrics},
    }
    lab = Lab([node("n1", cpu="16"), served, service("php-apache"), scaler])

    def replicas() -> int:
        return int(lab.get("deployments.apps", "php-apache")["spec"]["replicas"])

    def percent() -> int:
        told = lab.get("horizontalpodautoscalers.autoscaling", "php-apache")["status"]["currentMetrics"]
        return int(told[0]["resource"]["current"]["averageUtilization"])

    lab.run(60)
    assert (replicas(), percent() <= 5) == (1, True), "nobody asks"
    container = {"name": "load", "image": "busybox:1.28", "command": ["/bin/sh", "-c", WALK_THROUGH]}
    lab.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "load-generator", "namespace": "default"},
            "spec": {"restartPolicy": "Never", "containers": [container]},
        }
    )
    seen = set()
    for _ in range(24):
        lab.run(15)
        seen.add(percent())
    assert max(seen) == 250, "all that the limit leaves it"
    assert replicas() in (7, 8)
    assert 40 <= percent() <= 55
    lab.do(Delete("pods", "default", "load-generator"))
    lab.run(600)
    assert replicas() == 1
