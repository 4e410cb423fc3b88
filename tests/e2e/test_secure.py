"""The page over TLS: its documents and files come by HTTP/2, its websocket on a connection of HTTP/1.1."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.conftest import Classroom, tells, wait_state

SPOKEN = """() => {
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const came = entries.filter((one) => one.name.startsWith(location.origin));
  return [came.length > 5, [...new Set(came.map((one) => one.nextHopProtocol))].join()];
}"""


def test_a_page_comes_by_http_2_and_lives(open_classroom: Callable[..., Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    page = classroom.watch(classroom.context(ignore_https_errors=True).new_page())
    server = classroom.server
    page.goto(classroom.created["url"].replace(server.url, server.tls_url))
    wait_state(page, lambda state: state["connection"] == "live" and state["revision"] > 0, "the session is live")
    assert page.url.startswith(server.tls_url)
    tells(page, SPOKEN, [True, "h2"], "all that the page is made of")
    before = wait_state(page, lambda state: state["revision"] > 0, "a revision")["revision"]
    classroom.cluster("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "made"}})
    wait_state(page, lambda state: state["revision"] > before, "what changes comes by the websocket")
