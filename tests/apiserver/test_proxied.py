"""`proxy`: what is refused on the way, as upstream refuses it, and what is found at its end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.room import Room

HOME = "/api/v1/namespaces/default"


def merge(room: Room, path: str, patch: Any) -> None:
    assert room.answer("PATCH", path, patch, **{"content-type": "application/merge-patch+json"}).status == 200


@pytest.fixture
def room(own_database: None) -> Room:
    made = Room("empty")
    made.made("/api/v1/nodes", {"metadata": {"name": "n1"}})
    ports = [{"containerPort": 8080}]
    main = {"name": "main", "image": "nginx", "ports": ports}
    spec = {"automountServiceAccountToken": False, "nodeName": "n1", "containers": [main]}
    runs = {"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
    address = {"podIP": "10.1.0.9", "podIPs": [{"ip": "10.1.0.9"}], "containerStatuses": [runs]}
    for name, status in (("bare", {}), ("there", address)):
        made.made(f"{HOME}/pods", {"metadata": {"name": name}, "spec": spec})
        merge(made, f"{HOME}/pods/{name}/status", {"status": status})
    for name in ("bare", "empty", "web"):
        made.made(f"{HOME}/services", {"metadata": {"name": name}, "spec": {"ports": [{"name": "http", "port": 80}]}})
    made.made(f"{HOME}/endpoints", {"metadata": {"name": "empty"}})
    pod = {"ip": "10.1.0.9", "targetRef": {"kind": "Pod", "namespace": "default", "name": "there"}}
    stray = {"ip": "10.1.0.8", "targetRef": {"kind": "Pod", "namespace": "default", "name": "there"}}
    subsets = [
        {"addresses": [pod], "ports": [{"name": "http", "port": 8080}]},
        {"addresses": [stray], "ports": [{"name": "stray", "port": 8081}]},
    ]
    made.made(f"{HOME}/endpoints", {"metadata": {"name": "web"}, "subsets": subsets})
    made.made("/api/v1/nodes", {"metadata": {"name": "bare"}})
    return made


OPEN = "<h1>Welcome to nginx!</h1>\n<p>there on n1</p>\n"
UNREACHABLE = "error trying to reach service: dial tcp"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pods/bare", (400, "address not allowed")),
        ("pods/http:bare:80", (400, "address not allowed")),
        ("pods/none:80", (404, 'pods "none" not found')),
        ("pods/ftp:bare:80", (400, 'invalid pod request "ftp:bare:80"')),
        ("pods/there:81", (503, f"{UNREACHABLE} 10.1.0.9:81: connect: connection refused")),
        ("pods/there:web", (503, f"{UNREACHABLE}: lookup tcp/web: unknown port")),
        ("pods/there:65536", (503, f"{UNREACHABLE}: address 65536: invalid port")),
        ("pods/there:http", (503, f"{UNREACHABLE} 10.1.0.9:80: connect: connection refused")),
        ("services/none", (404, 'services "none" not found')),
        ("services/none:80", (404, 'services "none" not found')),
        ("services/bare", (404, 'services "bare" not found')),
        ("services/web:81", (503, 'no service port 81 found for service "web"')),
        ("services/empty:http", (503, 'no endpoints available for service "empty"')),
        ("services/web:stray", (503, 'no endpoints available for service "web:stray"')),
    ],
)
def test_where_a_way_leads_nowhere(room: Room, path: str, expected: tuple[int, str]) -> None:
    for method in ("GET", "OPTIONS", "DELETE"):
        status, told = room.ask(method, f"{HOME}/{path}/proxy/x")
        assert status == expected[0], (method, told)
        assert expected[1] in (told["message"], told.get("reason"))
    assert room.answer("HEAD", f"{HOME}/{path}/proxy/").status == expected[0]


@pytest.mark.parametrize(
    "path", ["pods/there", "pods/http:there:8080", "services/web:80", "services/web:http", "services/https:web:http"]
)
def test_what_is_at_its_end_answers(room: Room, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        answer = room.answer(method, f"{HOME}/{path}/proxy/", accept="text/html")
        assert (answer.status, answer.body.decode(), answer.content_type) == (200, OPEN, "text/html"), method
    told = room.answer("GET", f"{HOME}/{path}/proxy/a/b/", query={"x": ["1", "2"], "y": ""})
    assert (told.status, told.content_type) == (200, "text/plain")
    assert told.body == b"/a/b/?x=1&x=2&y= of 10.1.0.9, answered by there (10.1.0.9) on n1\n"


def test_nothing_that_a_pod_answers_runs_in_the_page(room: Room) -> None:
    """It comes from where the session's own pages come from, and names in it are chosen by those who wrote the pod."""
    for path in ("", "<script>alert(1)</script>"):
        headers = dict(room.answer("GET", f"{HOME}/pods/there/proxy/{path}").headers)
        assert headers["content-security-policy"].startswith("sandbox; default-src 'none'")


def test_without_a_slash_it_leads_to_the_root_of_what_answers(room: Room) -> None:
    for method in ("GET", "HEAD"):
        answer = room.answer(method, f"{HOME}/pods/there/proxy", query={"x": "1 2"})
        assert (answer.status, answer.body) == (301, b"")
        # Told without the path before it: that is another one for whoever comes through `kubectl proxy`.
        assert dict(answer.headers)["location"] == "proxy/?x=1+2"
    assert room.answer("POST", f"{HOME}/pods/there/proxy").body.decode() == OPEN


def test_network_policies_keep_the_api_server_out(room: Room) -> None:
    policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
    room.made(policies, {"metadata": {"name": "deny"}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}})
    status, told = room.ask("GET", f"{HOME}/pods/there/proxy/")
    assert (status, told["message"]) == (503, f"{UNREACHABLE} 10.1.0.9:8080: i/o timeout")


def test_who_hangs_is_not_waited_for(room: Room) -> None:
    probe = {"livenessProbe": {"exec": {"command": ["true"]}}}
    spec = {"nodeName": "n1", "containers": [{"name": "main", "image": "nginx", **probe}]}
    hangs = {"name": "hangs", "annotations": {"clustersim.io/failing-probes": "main/liveness"}}
    room.made(f"{HOME}/pods", {"metadata": hangs, "spec": spec})
    there = room.ask("GET", f"{HOME}/pods/there")[1]["status"]
    address = {"podIP": "10.1.0.7", "podIPs": [{"ip": "10.1.0.7"}]}
    merge(room, f"{HOME}/pods/hangs/status", {"status": {**address, "containerStatuses": there["containerStatuses"]}})
    status, told = room.ask("GET", f"{HOME}/pods/hangs/proxy/")
    assert (status, told["reason"], told["message"]) == (
        504,
        "Timeout",
        "10.1.0.7 takes the request and does not answer",
    )


def test_a_node_without_an_address_is_not_found_by_its_proxy(room: Room) -> None:
    status, told = room.ask("GET", "/api/v1/nodes/bare/proxy")
    assert (status, told["message"]) == (500, "no preferred addresses found; known addresses: []")
    addresses: list[dict[str, Any]] = [{"type": "Odd", "address": "a"}, {"type": "InternalIP", "address": "10.0.0.1"}]
    for known, expected in ((addresses[:1], (500, "[{Odd a}]")), (addresses, (501, "NotImplemented"))):
        merge(room, "/api/v1/nodes/bare/status", {"status": {"addresses": known}})
        status, told = room.ask("GET", "/api/v1/nodes/bare/proxy/metrics")
        assert status == expected[0]
        assert expected[1] in (told["message"].rpartition(": ")[2], told.get("reason"))
    assert room.ask("OPTIONS", "/api/v1/nodes/none/proxy")[0] == 404


def test_other_ways_into_a_container_take_no_such_method(room: Room) -> None:
    for method in ("HEAD", "OPTIONS", "PUT"):
        assert room.answer(method, f"{HOME}/pods/there/exec").status == 405
    assert room.answer("TRACE", f"{HOME}/pods/there/proxy").status == 405
