"""A live session whose worker calls a real extender: it decides, binds, breaks; and the log runs again without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from controllers.rerun import first_difference, rerun
from tests.extender.server import Extender, Odd, extender, keep, names_in
from tests.faults.test_rerun import read_log
from tests.tools.server import Server, running, wait_for
from tests.tools.session import Session


@pytest.fixture(scope="module")
def outside() -> Iterator[Extender]:
    with extender() as one:
        yield one


@pytest.fixture(scope="module")
def server(outside: Extender) -> Iterator[Server]:
    with running({"WORKERS": "1", "CLUSTERSIM_EXTENDERS": outside.url}) as server:
        yield server


def configure(session: Session, *extenders: Any, expect: int = 200) -> Any:
    return session.call("PUT", f"/api/sessions/{session.code}/scheduler", {"extenders": list(extenders)}, expect=expect)


def decision_of(session: Session, name: str) -> Any:
    return session.call("GET", f"/api/sessions/{session.code}/decisions?pod=default/{name}")[0]


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
    wait_for(lambda: session.bound().get("web") == nodes[-1], 30, "the pod on the extender's node")
    told = decision_of(session, "web")
    assert [(one["verb"], one["nodesIn"], one["nodesOut"]) for one in told["explanation"]["extenders"]] == [
        ("filter", len(nodes), len(nodes) - 1),
        ("prioritize", len(nodes) - 1, 1),
    ]
    assert all(0 < one["durationMs"] < 5_000 for one in told["explanation"]["extenders"])
    assert told["result"]["firstFail"][nodes[0]]["reasons"] == ["not this one"]
    assert told["result"]["scores"]["plugins"][outside.url]["weighted"][-1] == 10_000
    session.clock(paused=True)
    calls = len(outside.calls)
    session.create_pod("stepped")
    while not (held := session.clock().get("held")) or held["point"] != "Filter":
        session.step("point")
        wait_for(lambda: session.clock().get("held"), 10, "a cycle at a point")
    assert len(outside.calls) == calls + 1
    session.clock(paused=False)
    wait_for(lambda: "stepped" in session.bound(), 30, "the stepped pod bound")
    session.clock(paused=True)
    log, seed, epoch_ms, fence = read_log(server.data / "clustersim.sqlite3", session.code)
    calls = len(outside.calls)
    again = rerun(log, seed=seed, epoch_ms=epoch_ms, fence=fence)
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
    wait_for(lambda: "web" in session.bound(), 30, "the pod bound")
    wait_for(lambda: "explanation" in decision_of(session, "web"), 10, "the extender's account")
    wait_for(lambda: decision_of(session, "web")["explanation"]["extenders"][0].get("nodesOut") == 1, 10, "its answer")
    events = session.api("/api/v1/namespaces/default/events")["items"]
    assert "Scheduled" in {event["reason"] for event in events}


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

    wait_for(lambda: messages(), 30, "FailedScheduling")
    assert messages()[0] == f"failed filter with extender at URL {outside.url}/filter, code 500"
    outside.answers = {"filter": lambda body: keep(*names_in(body))(body)}
    wait_for(lambda: "web" in session.bound(), 30, "the pod bound after all")


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
    refused = session.call("PUT", path, whole, expect=422)
    assert refused["details"]["causes"][0]["field"] == "spec.configuration.extenders[0].urlPrefix"
    assert "extenders" not in (session.call("GET", path)["spec"].get("configuration") or {})
    assert outside.url not in str(refused)
