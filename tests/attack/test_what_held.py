"""What an attack found whole, kept whole: seats, origins, names that are markup, addresses the server would call."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern

from clustersim.sessionapi.urls import urlpatterns
from tests.tools.application import bearer, http, joined, opened

OPEN = {
    "sessions",
    "clusters",
    "lessons",
    "lessons/check",
    "sessions/<str:code>/join",
    "sessions/<str:code>/enter",
    "sessions/<str:code>/qr.svg",
}
"""Routes that need no seat."""

FOR_TEACHERS = {
    ("PATCH", "sessions/<str:code>/clock"),
    ("POST", "sessions/<str:code>/clock/step"),
    ("POST", "sessions/<str:code>/rotate"),
    ("POST", "sessions/<str:code>/people"),
    ("DELETE", "sessions/<str:code>/people/<str:person>"),
    ("POST", "sessions/<str:code>/replicas/<str:identity>/fault"),
    ("PUT", "sessions/<str:code>/scheduler"),
    ("POST", "sessions/<str:code>/waiting/<str:uid>"),
    ("POST", "sessions/<str:code>/replays"),
}
MARKUP = "<img src=x onerror=alert(1)>\"'</script>"


def routes() -> list[tuple[str, str]]:
    """Return (method, route) of the session API."""
    found = []
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        found += [(method, str(pattern.pattern)) for method in getattr(pattern.callback, "methods", ())]
    return found


def filled(route: str, code: str) -> str:
    parts = [code if part == "<str:code>" else "x" if part.startswith("<") else part for part in route.split("/")]
    return "/api/" + "/".join(parts)


def test_the_teachers_routes_are_routes() -> None:
    assert set(routes()) >= FOR_TEACHERS


async def test_without_a_seat_no_route_of_a_session_answers() -> None:
    async with http() as client:
        session = await opened(client)
        other = await opened(client)
        client.cookies.clear()
        for method, route in routes():
            if route in OPEN:
                continue
            for headers in ({}, bearer("x" * 32), bearer(other["token"])):
                answer = await client.request(method, filled(route, session["code"]), json={}, headers=headers)
                assert answer.status_code == 401, (method, route, answer.text)


async def test_students_and_viewers_do_nothing_that_is_the_teachers() -> None:
    async with http() as client:
        session = await opened(client)
        seat = {"role": "viewer", "name": "V"}
        path = f"/api/sessions/{session['code']}/people"
        viewer = (await client.post(path, json=seat, headers=bearer(session["token"]))).json()
        student = await joined(client, session, "Ann")
        for token in (viewer["token"], student["token"]):
            for method, route in sorted(FOR_TEACHERS):
                answer = await client.request(method, filled(route, session["code"]), json={}, headers=bearer(token))
                assert answer.status_code == 403, (method, route, answer.text)


async def test_a_cookie_from_another_origin_changes_nothing() -> None:
    async with http() as client:
        session = await opened(client)  # the client keeps the cookie, as a browser does
        for origin in ("http://evil.example", "null", "http://127.0.0.1:8001", ""):
            for method, route in routes():
                if method == "GET" or route in OPEN:
                    continue
                headers = {"Origin": origin} if origin else {}
                answer = await client.request(method, filled(route, session["code"]), json={}, headers=headers)
                assert answer.status_code == 403, (origin, method, route, answer.text)
            path = f"/clusters/{session['code']}/api/v1/namespaces"
            headers = {"Origin": origin} if origin else {}
            answer = await client.post(path, json={"metadata": {"name": "x"}}, headers=headers)
            assert answer.status_code == 403, (origin, answer.text)
        assert (await client.get(f"/api/sessions/{session['code']}")).status_code == 200


async def test_markup_in_titles_and_names_stays_text() -> None:
    async with http() as client:
        answer = await client.post("/api/sessions", json={"title": MARKUP, "template": "empty", "name": MARKUP[:30]})
        session: dict[str, Any] = answer.json()
        for path in (f"/s/{session['code']}", f"/join/{session['code']}"):
            # Whoever has a seat is led past the page that asks for a name.
            async with http() as newcomer:
                page = await newcomer.get(path)
            assert page.status_code == 200
            assert "<img" not in page.text
            assert '</script>"' not in page.text
            assert "default-src 'self'" in page.headers["content-security-policy"]
        answer = await client.get(f"/api/sessions/{session['code']}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:6379/", "http://169.254.169.254/latest", "http://[::1]:8000", "http://localhost:5432"]
)
async def test_no_session_sends_the_server_to_an_address_that_the_operator_has_not_named(address: str) -> None:
    async with http() as client:
        session = await opened(client)
        body = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [{"urlPrefix": address, "filterVerb": "filter"}],
        }
        path = f"/api/sessions/{session['code']}/scheduler"
        answer = await client.put(path, json=body, headers=bearer(session["token"]))
        assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "extenders[0].urlPrefix")
