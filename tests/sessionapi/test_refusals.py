"""Who would refuse after the first: everybody in the session may ask, of nodes that are there, and not of too many."""

from __future__ import annotations

import pytest

from scheduler_core.scheduler.refusals import REFUSALS_TOLD_MAX
from tests.tools.server import Server, wait_for
from tests.tools.session import Session


@pytest.fixture
def session(live_server_up: Server) -> Session:
    return Session(live_server_up)


def test_every_filter_is_asked_about_a_node_and_says_its_amounts(session: Session) -> None:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "64"}}}
    pod = {"metadata": {"name": "large"}, "spec": {"containers": [container], "nodeSelector": {"disk": "ssd"}}}
    session.create("/api/v1/namespaces/default/pods", {"apiVersion": "v1", "kind": "Pod", **pod})
    path = f"/api/sessions/{session.code}/decisions"
    (decision, *_) = wait_for(lambda: session.call("GET", f"{path}?pod=default/large"), what="a decision")
    known = decision["explanation"]["refusals"]
    name, (first,) = next(iter(known.items()))
    assert (first["kind"], first["key"], first["value"]) == ("label", "disk", None)
    told = session.call("GET", f"{path}/{decision['id']}/refusals")["nodes"]
    assert set(told) == set(known)
    affinity, fit = told[name]
    assert (affinity["plugin"], affinity["details"]) == ("NodeAffinity", [first])
    assert (fit["plugin"], fit["reasons"]) == ("NodeResourcesFit", ["Insufficient cpu"])
    (cpu,) = fit["details"]
    assert (cpu["asked"], cpu["asked"] - cpu["free"]) == (64_000, cpu["missing"])
    assert session.call("GET", f"{path}/{decision['id']}/refusals?node={name}") == {"nodes": {name: told[name]}}
    status, mei = session.server.request("POST", f"/api/sessions/{session.code}/join", {"name": "Mei"})
    assert status in (200, 201), mei
    many = "&".join(f"node=n{number}" for number in range(REFUSALS_TOLD_MAX + 1))
    asked = {"refusals": 200, f"refusals?{many}": 422}
    for route, code in asked.items():
        assert session.server.request("GET", f"{path}/{decision['id']}/{route}", None, mei["token"])[0] == code
    assert session.server.request("GET", f"{path}/{decision['id']}/refusals", None)[0] == 401
    assert session.server.request("GET", f"{path}/nobody-1/refusals", None, mei["token"])[0] == 404
