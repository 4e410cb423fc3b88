"""Compare over HTTP: anybody in the session asks, nothing changes, and what cannot be says where."""

from __future__ import annotations

from typing import Any

import pytest

from clustersim.classroom.limits import COMPARISONS
from tests.tools.server import Server, wait_for
from tests.tools.session import Session

POLICY = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score: {disabled: [{name: "*"}]}
"""


@pytest.fixture
def session(live_server_up: Server) -> Session:
    return Session(live_server_up)


def test_two_schedulers_place_the_pods_of_a_session(session: Session) -> None:
    path = f"/api/sessions/{session.code}/compare"
    for number in range(3):
        session.create_pod(f"web-{number}", "500m")
    wait_for(lambda: {"web-0", "web-1", "web-2"} <= session.bound().keys(), what="three bound pods")
    session.create_pod("large", "64")
    session.clock(paused=True)
    before = session.clock()["revision"]
    told = session.call("POST", path, {"a": [], "b": [{"disable": "NodeResourcesFit"}], "optimum": True})
    row = next(row for row in told["rows"] if row["pod"] == "default/large")
    assert (row["a"]["node"], row["why"]["kind"]) == (None, "none")
    assert row["b"]["node"]
    # The template's own pods may wait as well, and they fit anywhere.
    assert told["elsewhere"] >= 1
    assert told["revision"] == before
    assert (told["optimum"]["placed"], told["optimum"]["proven"]) == (told["sums"][0]["placed"], True)
    anew = session.call("POST", path, {"b": [{"scheduler": POLICY}], "input": "anew", "seed": 9})
    assert {one["pod"] for one in anew["rows"]} >= {"default/large", "default/web-0", "default/web-2"}
    assert (anew["seed"], anew["optimum"]) == (9, None)
    last = session.call("POST", path, {"input": {"last": 1}})
    assert len(last["rows"]) == 1
    assert session.clock()["revision"] == before


def test_students_ask_as_well_and_a_stranger_does_not(session: Session) -> None:
    session.create_pod("large", "64")
    path = f"/api/sessions/{session.code}/compare"
    status, mei = session.server.request("POST", f"/api/sessions/{session.code}/join", {"name": "Mei"})
    assert status in (200, 201), mei
    status, told = session.server.request("POST", path, {}, mei["token"])
    assert (status, told["elsewhere"]) == (200, 0)
    assert session.server.request("POST", path, {})[0] == 401


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"a": {}}, "a"),
        ({"b": [{"weight": {"plugin": "ImageLocality"}}]}, "b[0].weight.weight"),
        ({"b": [{"disable": "Nothing"}]}, "b[0].disable"),
        ({"b": [{"add": {"kind": "Node"}}]}, "b[0]"),
        ({"input": "then"}, "input"),
        ({"input": {"last": 501}}, "last"),
        ({"seed": -1}, "seed"),
        ({"optimum": 1}, "optimum"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(session: Session, body: dict[str, Any], field: str) -> None:
    refused = session.call("POST", f"/api/sessions/{session.code}/compare", body, expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == [field]


def test_one_session_asks_only_so_often(session: Session) -> None:
    session.create_pod("large", "64")
    path = f"/api/sessions/{session.code}/compare"
    codes: list[int] = []
    # The allowance fills again meanwhile, on a slow machine by some.
    while 429 not in codes and len(codes) < 20 * COMPARISONS.burst:
        codes.append(session.server.request("POST", path, {}, session.token)[0])
    assert codes.count(200) >= COMPARISONS.burst
    assert codes[-1] == 429
