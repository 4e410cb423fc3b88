"""A live session whose worker calls a real extender: it decides, binds, breaks; and the log runs again without it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from clustersim.plugins import installed
from controllers.rerun import first_difference, rerun
from tests.bench.extender import EXAMPLE
from tests.extender.server import Extender, Odd, extender, keep, names_in
from tests.faults.test_rerun import read_log
from tests.tools.lab import node
from tests.tools.server import Server, free_port, running, wait_for
from tests.tools.session import Session


@pytest.fixture(scope="module")
def outside() -> Iterator[Extender]:
    with extender() as one:
        yield one


@pytest.fixture(scope="module")
def example_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(outside: Extender, example_port: int) -> Iterator[Server]:
    origins = f"{outside.url},http://127.0.0.1:{example_port}"
    with running({"WORKERS": "1", "CLUSTERSIM_EXTENDERS": origins}) as server:
        yield server


def configure(session: Session, *extenders: Any, expect: int = 200) -> Any:
    # The longest there is: on a busy machine an answer may take longer than upstream's 5 s.
    patient = [{"httpTimeout": "30s", **one} for one in extenders]
    return session.call("PUT", f"/api/sessions/{session.code}/scheduler", {"extenders": patient}, expect=expect)


def decision_of(session: Session, name: str) -> Any:
    """Return the newest decision on a pod, once there is one."""
    path = f"/api/sessions/{session.code}/decisions?pod=default/{name}"
    return wait_for(lambda: session.call("GET", path), what="a decision")[0]


def test_an_extender_decides_and_the_decision_shows_it(server: Server, outside: Extender) -> None:
    session = Session(server, seed=21)
    session.wait_for_leader()
    session.clock(rate=5, pace=0)
    nodes = sorted(item["metadata"]["name"] for item in session.api("/api/v1/nodes")["items"])
    outside.answers = {
        "filter": keep(*nodes[1:], FailedNodes={nodes[0]: "not this one"}),
        "rank": lambda body: [{"Host": nodes[-1], "Score": 10}],
    }
    document = {"urlPrefix": outside.url, "filterVerb": "filter", "prioritizeVerb": "rank", "weight": 100}
    configure(session, document)
    session.create_pod("web")
    wait_for(lambda: session.bound().get("web") == nodes[-1], what="the pod on the extender's node")
    told = decision_of(session, "web")
    assert [(one["verb"], one["nodesIn"], one["nodesOut"]) for one in told["explanation"]["extenders"]] == [
        ("filter", len(nodes), len(nodes) - 1),
        ("prioritize", len(nodes) - 1, 1),
    ]
    assert all(one["durationMs"] > 0 for one in told["explanation"]["extenders"])
    assert told["result"]["firstFail"][nodes[0]]["reasons"] == ["not this one"]
    assert told["result"]["scores"]["plugins"][outside.url]["weighted"][-1] == 10_000
    session.clock(paused=True)
    calls = len(outside.calls)
    session.create_pod("stepped")
    # Each step is answered at its point, those over calls to the extender too.
    told = [session.step("point") for _ in range(4)]
    assert [(one["stepped"], (one["held"] or {}).get("point")) for one in told] == [
        (1, "PreEnqueue"), (1, "QueueSort"), (1, "PreFilter"), (1, "Filter"),
    ]  # fmt: skip
    assert len(outside.calls) == calls + 1
    whole = session.step("cycle")
    assert (whole["stepped"], whole["held"]) == (1, None)
    session.create_pod("at-once")
    assert session.step("cycle")["stepped"] == 1
    session.clock(paused=False)
    wait_for(lambda: "stepped" in session.bound(), what="the stepped pod bound")
    session.clock(paused=True)
    log, seed, epoch_ms, fence = read_log(server.data / "clustersim.sqlite3", session.code)
    calls = len(outside.calls)
    again = rerun(log, seed=seed, epoch_ms=epoch_ms, fence=fence, plugins=installed().registry)
    assert first_difference(log, again.events(0, len(log) + 100)) == ""
    assert len(outside.calls) == calls


def test_an_extender_binds_through_the_session_s_api(server: Server, outside: Extender) -> None:
    session = Session(server, seed=22)
    session.wait_for_leader()
    session.clock(rate=5, pace=0)

    def bind(body: Any) -> Any:
        metadata = {"name": body["PodName"], "namespace": body["PodNamespace"], "uid": body["PodUID"]}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata}
        binding["target"] = {"kind": "Node", "name": body["Node"]}
        path = f"/api/v1/namespaces/{body['PodNamespace']}/pods/{body['PodName']}/binding"
        session.create(path, binding)
        return {}

    outside.answers = {"bind": bind}
    configure(session, {"urlPrefix": outside.url, "bindVerb": "bind"})
    session.create_pod("web")
    wait_for(lambda: "web" in session.bound(), what="the pod bound")

    def accounts() -> list[Any]:
        found: list[Any] = decision_of(session, "web").get("explanation", {}).get("extenders", [])
        return found

    wait_for(accounts, what="the extender's account")
    assert [(one["verb"], one["nodesOut"]) for one in accounts()] == [("bind", 1)]
    events = session.api("/api/v1/namespaces/default/events")["items"]
    assert "Scheduled" in {event["reason"] for event in events}


@contextlib.contextmanager
def example(session: Session, port: int) -> Iterator[str]:
    """Run the example extender for a session; yield its address."""
    api = f"{session.server.url}/clusters/{session.code}"
    command = [sys.executable, str(EXAMPLE), "--port", str(port), "--api", api]
    environment = {**os.environ, "TOKEN": session.token}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def test_the_example_extender_places_vetoes_and_binds(server: Server, example_port: int) -> None:
    session = Session(server, "empty", seed=25)
    session.wait_for_leader()
    session.clock(rate=5, pace=0)
    for name, tier in (("n1", "front"), ("n2", "back")):
        document = node(name)
        document["metadata"]["labels"] = {"tier": tier}
        session.create("/api/v1/nodes", document)
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    session.create("/apis/scheduling.k8s.io/v1/priorityclasses", high)

    def create(name: str, labels: dict[str, str], **spec: Any) -> None:
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}}
        session.create("/api/v1/namespaces/default/pods", {**pod, "spec": {"containers": [container], **spec}})

    with example(session, example_port) as url:
        verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt", "bindVerb": "bind"}
        configure(session, {"urlPrefix": url, "weight": 3, **verbs})
        create("seated", {"tier": "front", "protected": "true"})
        wait_for(lambda: session.bound().get("seated") == "n1", what="the pod on the node of its tier")
        create("boss", {"tier": "front"}, priorityClassName="high")
        told = decision_of(session, "boss")
    assert told["result"]["firstFail"]["n2"]["reasons"] == ["node is of tier back"]
    assert told["explanation"]["extenders"][-1]["verb"] == "preempt"
    assert told["result"]["preemption"]["nominatedNode"] == ""
    fates = {one["node"]: one["eliminatedBy"] for one in told["explanation"]["preemption"]["candidates"]}
    assert fates == {"n1": url}
    assert "seated" in session.bound()


def test_a_pod_says_why_its_extender_failed_and_is_tried_again(server: Server, outside: Extender) -> None:
    session = Session(server, seed=23)
    session.wait_for_leader()
    session.clock(rate=20, pace=0)
    outside.answers = {"filter": lambda body: Odd(status=500)}
    configure(session, {"urlPrefix": outside.url, "filterVerb": "filter"})
    session.create_pod("web")

    def messages() -> list[str]:
        events = session.api("/api/v1/namespaces/default/events")["items"]
        return [event["message"] for event in events if event["reason"] == "FailedScheduling"]

    wait_for(lambda: messages(), what="FailedScheduling")
    assert messages()[0] == f"failed filter with extender at URL {outside.url}/filter, code 500"
    outside.answers = {"filter": lambda body: keep(*names_in(body))(body)}
    wait_for(lambda: "web" in session.bound(), what="the pod bound after all")


def test_an_origin_that_is_not_allowed_is_refused_by_every_way_in(server: Server, outside: Extender) -> None:
    session = Session(server, seed=24)
    session.wait_for_leader()
    document = {"urlPrefix": "http://169.254.169.254", "filterVerb": "filter"}
    refused = configure(session, document, expect=422)
    (cause,) = refused["details"]["causes"]
    assert cause["field"] == "extenders[0].urlPrefix"
    assert "CLUSTERSIM_EXTENDERS" in cause["message"]
    path = f"/clusters/{session.code}/apis/clustersim.io/v1/schedulerconfigs/default"
    whole = session.call("GET", path)
    whole["spec"] = {"era": "v1.34", "configuration": {"extenders": [document]}}
    session.call("PUT", path, whole, expect=403)
    assert "extenders" not in (session.call("GET", path)["spec"].get("configuration") or {})
    assert outside.url not in str(refused)
