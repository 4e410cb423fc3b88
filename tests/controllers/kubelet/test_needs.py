"""Init containers that wait for a Service."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kubelet.needs import Need, needs_of
from controllers.log.operations import Create
from tests.controllers.kubelet.test_shell import CONTAINER, shell_in
from tests.tools.lab import Document, Lab, node, pod, workload

NAMESPACE = "$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace)"


def loop(command: str) -> str:
    return f"until {command}; do echo waiting; sleep 2; done"


@pytest.mark.parametrize(
    ("script", "needs"),
    [
        (loop(f"nslookup mydb.{NAMESPACE}.svc.cluster.local"), [Need("shop", "mydb", answers=False)]),
        (loop("nslookup DB"), [Need("shop", "db", answers=False)]),
        (loop("getent hosts db.other"), [Need("other", "db", answers=False)]),
        (loop("nslookup web-0.web.other.svc"), [Need("other", "web", answers=False)]),
        (loop("nc -z -w 1 db 5432"), [Need("shop", "db", answers=True)]),
        (loop("nc -z $COLOR 80"), [Need("shop", "red", answers=True)]),
        (loop("wget -q --spider http://api:8080/healthz >/dev/null 2>&1"), [Need("shop", "api", answers=True)]),
        (loop("curl -sf -o /dev/null http://api"), [Need("shop", "api", answers=True)]),
        (loop("pg_isready -h db -p 5432"), [Need("shop", "db", answers=True)]),
        (loop("mysqladmin ping -hdb --silent"), [Need("shop", "db", answers=True)]),
        (
            "while ! nc -z a 1\ndo sleep 1\ndone; until nslookup b; do :; done",
            [Need("shop", "a", True), Need("shop", "b", False)],
        ),
        (loop("nc -z 10.96.0.9 80"), []),
        (loop("nslookup www.example.com."), []),
        (loop("test -f /ready"), []),
        (loop("curl 'http://a"), []),
        ("nslookup db", []),
        (loop("nslookup db") + " " * 4096, []),
        ("until " * 600, []),
        ("until" + " " * 4000, []),
        ("while true; do nslookup db; sleep 1; done", []),
    ],
)
def test_what_a_script_waits_for_is_read(script: str, needs: list[Need]) -> None:
    inside = shell_in({**CONTAINER, "command": ["sh", "-c", script], "env": [{"name": "COLOR", "value": "red"}]}).inside
    assert list(needs_of(inside)) == needs


def service(name: str, **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": name}, **spec},
    }


def waiting(*commands: str) -> Document:
    """Return a pod whose init containers wait, one after another."""
    made = pod("myapp")
    made["spec"]["initContainers"] = [
        {"name": f"init-{number}", "image": "busybox:1.28", "command": ["sh", "-c", loop(command)]}
        for number, command in enumerate(commands)
    ]
    return made


def state(lab: Lab) -> list[str]:
    """Return the states of the init containers, and the pod's phase."""
    status = lab.get("pods", "myapp")["status"]
    return [*(next(iter(one["state"])) for one in status["initContainerStatuses"]), status["phase"]]


def test_init_containers_wait_until_their_services_are_there() -> None:
    lab = Lab([node("n1"), waiting(f"nslookup myservice.{NAMESPACE}.svc.cluster.local", "nslookup mydb")])
    lab.run(120)
    assert state(lab) == ["running", "waiting", "Pending"]
    lab.do(Create("services", "default", service("mydb")))
    lab.run(30)
    assert state(lab) == ["running", "waiting", "Pending"], "one after the other"
    lab.do(Create("services", "default", service("myservice")))
    lab.run(30)
    assert state(lab) == ["terminated", "terminated", "Running"]
    ended = lab.get("pods", "myapp")["status"]["initContainerStatuses"][0]["state"]["terminated"]
    assert ended["reason"] == "Completed"
    assert ended["startedAt"] < ended["finishedAt"]


@pytest.mark.parametrize(("command", "headless"), [("nc -z db 80", False), ("nslookup db", True)])
def test_who_wants_an_answer_waits_for_a_pod_that_is_ready(command: str, headless: bool) -> None:
    lab = Lab([node("n1"), waiting(command), service("db", **({"clusterIP": "None"} if headless else {}))])
    lab.run(60)
    assert state(lab) == ["running", "Pending"]
    lab.create(workload("Deployment", "db", 1))
    lab.run(60)
    assert state(lab) == ["terminated", "Running"]


def test_what_is_there_already_is_not_waited_for() -> None:
    lab = Lab([node("n1"), service("db"), service("far", type="ExternalName", externalName="db.example.com"),
               waiting("nslookup db", "nc -z far 80")])  # fmt: skip
    lab.run(60)
    assert state(lab) == ["terminated", "terminated", "Running"]
