"""`proxy`: what is refused on the way, as upstream refuses it, and what would be found at its end."""

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
    spec = {"automountServiceAccountToken": False, "containers": [{"name": "main", "image": "web:1"}]}
    for name, status in (("bare", {}), ("there", {"podIP": "10.1.0.9", "podIPs": [{"ip": "10.1.0.9"}]})):
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


SIMULATED = (501, "NotImplemented")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pods/bare", (400, "address not allowed")),
        ("pods/http:bare:80", (400, "address not allowed")),
        ("pods/none:80", (404, 'pods "none" not found')),
        ("pods/ftp:bare:80", (400, 'invalid pod request "ftp:bare:80"')),
        ("pods/there", SIMULATED),
        ("services/none", (404, 'services "none" not found')),
        ("services/none:80", (404, 'services "none" not found')),
        ("services/bare", (404, 'services "bare" not found')),
        ("services/web:81", (503, 'no service port 81 found for service "web"')),
        ("services/empty:http", (503, 'no endpoints available for service "empty"')),
        ("services/web:stray", (503, 'no endpoints available for service "web:stray"')),
        ("services/web:80", SIMULATED),
        ("services/https:web:http", SIMULATED),
    ],
)
def test_where_a_way_leads(room: Room, path: str, expected: tuple[int, str]) -> None:
    for method in ("GET", "OPTIONS", "DELETE"):
        status, told = room.ask(method, f"{HOME}/{path}/proxy/x")
        assert status == expected[0], (method, told)
        assert expected[1] in (told["message"], told.get("reason"))
    assert room.answer("HEAD", f"{HOME}/{path}/proxy").status == expected[0]


def test_a_node_without_an_address_is_not_found_by_its_proxy(room: Room) -> None:
    status, told = room.ask("GET", "/api/v1/nodes/bare/proxy")
    assert (status, told["message"]) == (500, "no preferred addresses found; known addresses: []")
    addresses: list[dict[str, Any]] = [{"type": "Odd", "address": "a"}, {"type": "InternalIP", "address": "10.0.0.1"}]
    for known, expected in ((addresses[:1], (500, "[{Odd a}]")), (addresses, SIMULATED)):
        merge(room, "/api/v1/nodes/bare/status", {"status": {"addresses": known}})
        status, told = room.ask("GET", "/api/v1/nodes/bare/proxy/metrics")
        assert status == expected[0]
        assert expected[1] in (told["message"].rpartition(": ")[2], told.get("reason"))
    assert room.ask("OPTIONS", "/api/v1/nodes/none/proxy")[0] == 404


def test_other_ways_into_a_container_take_no_such_method(room: Room) -> None:
    for method in ("HEAD", "OPTIONS", "PUT"):
        assert room.answer(method, f"{HOME}/pods/there/exec").status == 405
    assert room.answer("TRACE", f"{HOME}/pods/there/proxy").status == 405
