"""A look inside the components over HTTP: starts, what replicas know, the endpoints that each serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for


@pytest.fixture
def session(live_server_up: Server) -> Iterator[tuple[PatientClient, str]]:
    with PatientClient(live_server_up.url) as client:
        made = client.post("/api/sessions", json={"title": "Inside", "template": "two-masters"}).json()
        client.headers.update(bearer(made["token"]))
        client.cookies.clear()
        yield client, f"/api/sessions/{made['code']}"


def led(client: PatientClient, path: str, component: str) -> str:
    """Return the identity of a component's leader, when there is one."""

    def leader() -> str:
        return next(
            (
                one["identity"]
                for one in client.get(f"{path}/replicas").json()
                if one["leading"] and one["component"] == component
            ),
            "",
        )

    return str(wait_for(leader, what="a leader"))


def test_components_tell_how_they_started(session: tuple[PatientClient, str]) -> None:
    client, path = session
    led(client, path, "kube-scheduler")
    told = client.get(f"{path}/components").json()
    assert sorted({one["component"] for one in told}) == [
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
    ]
    for one in told:
        steps = [step["step"] for step in one["startup"]]
        assert steps == ["flags", "configuration", "plugins", "serve", "caches", "lead"]


def test_components_tell_what_they_watch(session: tuple[PatientClient, str]) -> None:
    client, path = session
    identity = led(client, path, "kube-scheduler")
    told = {one["name"]: one for one in client.get(f"{path}/watches").json()}
    assert {identity, "kubelet", "kube-apiserver"} <= set(told)
    assert told[identity]["running"] is True
    pods = next(one for one in told[identity]["resources"] if one["resource"] == "pods")
    assert pods["lists"] == 1
    nobody = client.get(f"{path}/watches", headers={"Authorization": ""})
    assert nobody.status_code == 401


def test_a_replica_tells_what_it_knows_and_how_it_serves(session: tuple[PatientClient, str]) -> None:
    client, path = session
    identity = led(client, path, "kube-scheduler")
    told = client.get(f"{path}/replicas/{identity}").json()
    assert told["server"]["then"]["Port"] == 10251
    assert told["server"]["now"]["securePort"] == 10259
    assert told["inside"]["election"]["lock"]["resources"] == ["leases.coordination.k8s.io"]
    nodes: Any = next(one for one in told["inside"]["listers"] if one["name"] == "nodeLister")
    assert nodes["rows"] == 5
    assert client.get(f"{path}/replicas/nobody").status_code == 404


@pytest.mark.parametrize("component", ["kube-scheduler", "kube-controller-manager"])
def test_a_replica_serves_what_its_process_would(session: tuple[PatientClient, str], component: str) -> None:
    client, path = session
    base = f"{path}/replicas/{led(client, path, component)}"
    for name in ("healthz", "livez", "readyz"):
        answer = client.get(f"{base}/{name}")
        assert (answer.status_code, answer.text) == (200, "ok")
    verbose = client.get(f"{base}/readyz?verbose=1").text.splitlines()
    assert verbose == ["[+]ping ok", "[+]leaderElection ok", "[+]informer-sync ok", "readyz check passed"]
    (configuration,) = client.get(f"{base}/configz").json().values()
    election = configuration.get("leaderElection") or configuration["generic"]["leaderElection"]
    assert election["resourceName"] == component
    assert "reflector of nodes: watch" in client.get(f"{base}/debug/pprof/goroutine").text
    assert "objects of nodes" in client.get(f"{base}/debug/pprof/heap").text
    assert "lists: " in client.get(f"{base}/debug/pprof/profile").text
    assert "goroutine" in client.get(f"{base}/debug/pprof/").text
    metrics = client.get(f"{base}/metrics").text
    assert (
        "scheduler_pending_pods" if component == "kube-scheduler" else 'workqueue_depth{name="endpoint"}'
    ) in metrics
    assert client.get(f"{base}/debug/pprof/nothing").status_code == 404


def test_a_replica_that_is_down_serves_nothing(session: tuple[PatientClient, str]) -> None:
    client, path = session
    base = f"{path}/replicas/{led(client, path, 'kube-scheduler')}"
    assert client.post(f"{base}/fault", json={"kind": "crash"}).status_code == 200
    assert client.get(f"{base}/healthz").status_code == 503
    assert client.get(base).json()["inside"] is None
