"""What-ifs over HTTP: anybody in the session asks, nothing changes, and what cannot be says why."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from clustersim.classroom.limits import FITS
from tests.tools.server import Server, wait_for
from tests.tools.session import Session


@pytest.fixture
def session(live_server_up: Server) -> Session:
    return Session(live_server_up)


def pending(session: Session) -> Any:
    """Return the decision about a pod that no node takes."""
    session.create_pod("large", "64")
    path = f"/api/sessions/{session.code}/decisions?pod=default/large"
    (decision, *_) = wait_for(lambda: session.call("GET", path), what="a decision")
    return decision


def test_a_decision_is_taken_again_and_told_what_would_let_its_pod_in(session: Session) -> None:
    decision = pending(session)
    path = f"/api/sessions/{session.code}/decisions/{decision['id']}"
    session.clock(paused=True)
    before = session.clock()["revision"]
    told = session.call("POST", f"{path}/whatif", {"changes": [{"request": {"cpu": "1"}}]})
    assert told["before"]["result"]["fitError"] == decision["result"]["fitError"]
    assert told["after"]["result"]["result"] == "scheduled"
    assert told["difference"]["chosen"] == [None, told["after"]["result"]["chosen"]]
    assert {one["before"]["plugin"] for one in told["difference"]["verdicts"]} == {"NodeResourcesFit"}
    found = session.call("GET", f"{path}/fits")
    assert [list(one["changes"][0]) for one in found][:2] == [["request"], ["patch"]]
    for one in found:
        assert one["checked"] is True
        assert one["text"]["en"]
        assert one["text"]["zh"]
        again = session.call("POST", f"{path}/whatif", {"changes": one["changes"]})
        assert again["after"]["result"]["chosen"] == one["node"]
    assert session.clock()["revision"] == before


def test_students_ask_as_well_and_a_stranger_does_not(session: Session) -> None:
    decision = pending(session)
    path = f"/api/sessions/{session.code}/decisions/{decision['id']}"
    status, mei = session.server.request("POST", f"/api/sessions/{session.code}/join", {"name": "Mei"})
    assert status in (200, 201), mei
    status, told = session.server.request(
        "POST", f"{path}/whatif", {"changes": [{"disable": "NodeResourcesFit"}]}, mei["token"]
    )
    assert status == 200, told
    assert told["after"]["result"]["result"] == "scheduled"
    for route, body in ((f"{path}/whatif", {"changes": [{"disable": "NodeName"}]}), (f"{path}/fits", None)):
        status, _ = session.server.request("POST" if body else "GET", route, body)
        assert status == 401


def test_what_is_wrong_is_told_where_it_stands(session: Session) -> None:
    decision = pending(session)
    path = f"/api/sessions/{session.code}/decisions"
    wrong = {"changes": [{"request": {"cpu": "1"}}, {"remove": {"kind": "Node", "name": "n9"}}]}
    refused = session.call("POST", f"{path}/{decision['id']}/whatif", wrong, expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["changes[1].remove.name"]
    assert session.call("POST", f"{path}/{decision['id']}/whatif", {}, expect=422)["reason"] == "Invalid"
    for unknown in ("nothing-1", decision["uid"], f"{decision['uid']}-x"):
        assert session.call("GET", f"{path}/{unknown}/fits", expect=404)["reason"] == "NotFound"


def test_the_newest_decisions_are_asked_about_together(session: Session) -> None:
    decision = pending(session)
    path = f"/api/sessions/{session.code}/whatif"
    told = session.call("POST", path, {"changes": [{"disable": "NodeResourcesFit"}], "last": 1})
    (row,) = told["decisions"]
    assert (told["asked"], told["decided"], told["elsewhere"], told["left"]) == (1, 1, 1, [])
    assert (row["id"], row["pod"], row["before"]) == (decision["id"], "default/large", None)
    assert row["after"]
    wrong = {"changes": [{"remove": {"kind": "Node", "name": "n9"}}], "last": 1}
    told = session.call("POST", path, wrong)
    assert [one["why"] for one in told["left"]] == ["the attempt saw no Node n9"]
    refused = session.call("POST", path, {**wrong, "last": 101}, expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["last"]


def test_each_weight_changed_alone_is_told_of_the_newest_decisions(session: Session) -> None:
    for name in ("a", "b", "c"):
        session.create_pod(name, "250m")
    path = f"/api/sessions/{session.code}/decisions"
    wait_for(
        lambda: all(session.call("GET", f"{path}?pod=default/{name}") for name in ("a", "b", "c")),
        what="three decisions",
    )
    weights = f"/api/sessions/{session.code}/whatif/weights"
    told = session.call("GET", f"{weights}?last=3")
    assert (told["asked"], told["decided"], told["weights"], told["left"]) == (3, 3, [0, 1, 2, 3, 4, 5], [])
    rows = {row["plugin"]: row["elsewhere"] for row in told["plugins"]}
    changes = [{"weight": {"plugin": "NodeResourcesFit", "weight": 0}}]
    asked = session.call("POST", f"/api/sessions/{session.code}/whatif", {"changes": changes, "last": 3})
    assert asked["elsewhere"] == rows["NodeResourcesFit"][0]


def test_a_count_in_a_query_is_a_whole_number_in_its_bounds(session: Session) -> None:
    pending(session)
    for route, name in (("whatif/weights", "last"), ("decisions", "limit"), ("requests", "limit"), ("store", "limit")):
        for count in ("0", "x", "-1", "1.5", "9" * 5000, "\u0663"):
            path = f"/api/sessions/{session.code}/{route}?pod=default/large&{name}={quote(count)}"
            refused = session.call("GET", path, expect=422)
            assert [cause["field"] for cause in refused["details"]["causes"]] == [name]


def test_one_person_asks_only_so_often(session: Session) -> None:
    path = f"/api/sessions/{session.code}/decisions/nothing-1/fits"
    codes: list[int] = []
    # The allowance fills again meanwhile, on a slow machine by some.
    while 429 not in codes and len(codes) < 20 * FITS.burst:
        codes.append(session.server.request("GET", path, None, session.token)[0])
    assert codes.count(404) >= FITS.burst
    assert codes[-1] == 429


def test_what_would_let_a_waiting_pod_in_is_asked_of_the_cluster_now(session: Session) -> None:
    decision = pending(session)
    path = f"/api/sessions/{session.code}/decisions/{decision['id']}/fits"
    session.clock(paused=True)
    first = session.call("GET", path)[0]
    assert "request" in first["changes"][0]
    node = session.api("/api/v1/nodes")["items"][0]
    node["status"]["allocatable"]["cpu"] = node["status"]["capacity"]["cpu"] = "96"
    huge = node["metadata"]["name"]
    session.call("PUT", f"/clusters/{session.code}/api/v1/nodes/{huge}/status", node)
    (only,) = session.call("GET", path)
    assert (only["changes"], only["node"], only["checked"]) == ([], huge, True)
    assert huge in only["text"]["en"]
    assert huge in only["text"]["zh"]
    assert session.call("GET", f"{path}?input=attempt")[0] == first
    refused = session.call("GET", f"{path}?input=then", expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["input"]


def test_a_claim_that_is_missing_is_made_as_told_and_its_pod_gets_the_node(session: Session) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    mount = {"name": "data", "mountPath": "/data"}
    container = {"name": "c", "image": "nginx", "volumeMounts": [mount]}
    spec = {"containers": [container], "volumes": [volume]}
    pods = "/api/v1/namespaces/default/pods"
    session.create(pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reader"}, "spec": spec})
    asked = f"/api/sessions/{session.code}/decisions?pod=default/reader"
    (decision, *_) = wait_for(lambda: session.call("GET", asked), what="a decision")
    assert 'persistentvolumeclaim "data" not found' in decision["result"]["fitError"]
    (fit,) = session.call("GET", f"/api/sessions/{session.code}/decisions/{decision['id']}/fits")
    places = {"PersistentVolume": "/api/v1/persistentvolumes",
              "PersistentVolumeClaim": "/api/v1/namespaces/default/persistentvolumeclaims"}  # fmt: skip
    for change in fit["changes"]:
        session.create(places[change["add"]["kind"]], change["add"])
    wait_for(lambda: "reader" in session.bound(), what="the pod's node")
    claim = f"{places['PersistentVolumeClaim']}/data"
    wait_for(lambda: session.api(claim)["status"].get("phase") == "Bound", what="a claim that is bound")
