"""Watches: nothing missed, nothing twice, selectors, bookmarks, the end."""

from __future__ import annotations

import re
import socket
import threading
from typing import Any

import msgspec
import pytest

from clustersim.apiserver.negotiation import Wanted
from clustersim.apiserver.watching import Encoder
from controllers.kinds.table import TABLE as KINDS
from controllers.registry.kind import Kind
from tests.tools.apiserver import Api

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def _put(api: Api, namespace: str, name: str, **labels: str) -> dict[str, Any]:
    body = {"metadata": {"name": name, "labels": labels}}
    status, document, _ = api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)
    assert status == 201
    return document  # type: ignore[no-any-return]


def _label(api: Api, namespace: str, name: str, **labels: str | None) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    status, _, _ = api.request(
        "PATCH", path, {"metadata": {"labels": labels}}, content_type="application/merge-patch+json"
    )
    assert status == 200


def _events(api: Api, path: str, **options: str) -> list[tuple[str, str]]:
    return [
        (event["type"], event["object"]["metadata"].get("name", "")) for event in api.watch(path, **options)
    ]  # fmt: skip


def test_a_watch_from_a_revision_tells_everything_after_it_once(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    first = _put(api, namespace, "a1")
    _put(api, namespace, "b1")
    _label(api, namespace, "a1", x="y")
    api.request("DELETE", f"{path}/b1")
    start = first["metadata"]["resourceVersion"]
    events = list(api.watch(f"{path}?watch=true&timeoutSeconds=1&resourceVersion={start}"))
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "b1"),
        ("MODIFIED", "a1"),
        ("DELETED", "b1"),
    ]
    revisions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert revisions == sorted(set(revisions))
    assert revisions[0] > int(start)


def test_a_watch_without_a_revision_begins_with_what_is_there(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    _put(api, namespace, "b1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=true&timeoutSeconds=1"
    assert _events(api, path) == [("ADDED", "a1"), ("ADDED", "b1")]


def test_a_watch_whose_time_is_over_before_it_begins_says_nothing(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    assert _events(api, f"/api/v1/namespaces/{namespace}/configmaps?watch=true&timeoutSeconds=-1") == []


def test_who_watches_what_is_deprecated_is_warned_as_who_lists_it(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}"
    for resource, warned in (("endpoints", True), ("pods", False)):
        listed = api.request("GET", f"{path}/{resource}")[2]
        watched = api.request("GET", f"{path}/{resource}?watch=true&timeoutSeconds=-1")[2]
        assert ("Warning" in watched) is warned
        for name in ("Warning", "X-Kubernetes-PF-FlowSchema-UID"):
            assert watched.get(name) == listed.get(name)


def test_an_object_that_leaves_a_selector_is_deleted_for_it(api: Api, namespace: str) -> None:
    first = _put(api, namespace, "a1", app="web")
    _label(api, namespace, "a1", app="db")
    _label(api, namespace, "a1", note="x")
    _label(api, namespace, "a1", app="web")
    start = int(first["metadata"]["resourceVersion"]) - 1
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1&labelSelector=app%3Dweb"
    events = list(api.watch(f"{path}&resourceVersion={start}"))
    assert [event["type"] for event in events] == ["ADDED", "DELETED", "ADDED"]
    assert events[1]["object"]["metadata"]["labels"] == {"app": "web"}


def test_initial_events_end_with_an_annotated_bookmark(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true"
    events = list(api.watch(f"{path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"))
    assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]
    assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    status, document, _ = api.request("GET", f"{path}&sendInitialEvents=true")
    assert (status, document["reason"]) == (422, "Invalid")


def test_initial_events_need_no_bookmarks(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1"
    (event,) = api.watch(f"{path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
    assert event["type"] == "ADDED"


def test_a_bookmark_comes_two_seconds_before_the_time_out(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    _, document, _ = api.request("GET", f"/api/v1/namespaces/{namespace}/pods")
    start = document["metadata"]["resourceVersion"]
    path = f"/api/v1/namespaces/{namespace}/pods?watch=1&timeoutSeconds=3&allowWatchBookmarks=1&resourceVersion={start}"
    (event,) = list(api.watch(path))
    assert event["type"] == "BOOKMARK"
    assert int(event["object"]["metadata"]["resourceVersion"]) >= int(start)


def test_table_events_carry_their_columns_once(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    _put(api, namespace, "b1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1"
    first, second = list(api.watch(path, accept=TABLE))
    assert len(first["object"]["columnDefinitions"]) == 3
    assert second["object"]["columnDefinitions"] is None
    assert second["object"]["rows"][0]["cells"][0] == "b1"


WRITES = 28
"""Twelve objects made and labelled, four of them deleted."""


def test_watch_plus_list_is_what_a_later_list_says(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    _put(api, namespace, "a1")
    _, before, _ = api.request("GET", path)
    view = {item["metadata"]["name"]: item for item in before["items"]}
    start = before["metadata"]["resourceVersion"]

    def write() -> None:
        for index in range(12):
            _put(api, namespace, f"n{index}")
            _label(api, namespace, f"n{index}", round=str(index))
            if index % 3 == 0:
                api.request("DELETE", f"{path}/n{index}")

    writer = threading.Thread(target=write)
    writer.start()
    seen = 0
    for event in api.watch(f"{path}?watch=1&timeoutSeconds=120&resourceVersion={start}"):
        seen += 1
        name = event["object"]["metadata"]["name"]
        if event["type"] == "DELETED":
            del view[name]
        else:
            view[name] = event["object"]
        if seen == WRITES:
            break
    writer.join()
    _, after, _ = api.request("GET", path)
    assert seen == WRITES
    # An event says what its object is, an item of a list does not.
    told = {"apiVersion": "v1", "kind": "ConfigMap"}
    assert {name: {**told, **seen_last} for name, seen_last in view.items()} == {
        item["metadata"]["name"]: {**told, **item} for item in after["items"]
    }
    assert len(view) == 9


def test_a_future_revision_is_waited_for_and_a_watch_needs_the_right_to_read(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods?watch=1"
    start = _put(api, namespace, "a1")["metadata"]["resourceVersion"]
    configmaps = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1"
    assert list(api.watch(f"{configmaps}&resourceVersion={int(start) + 99999999}")) == []
    initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999999"
    assert api.request("GET", f"{path}{initial}")[0] == 504
    assert api.request("GET", path, role="")[0] == 403


def test_a_client_that_stops_reading_holds_its_place_and_misses_nothing(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    start = api.request("GET", path)[1]["metadata"]["resourceVersion"]
    request = (
        f"GET /clusters/{api.made['code']}{path}?watch=1&timeoutSeconds=5&resourceVersion={start} HTTP/1.1\r\n"
        f"Host: 127.0.0.1\r\nAuthorization: Bearer {api.made['teacher']}\r\nConnection: close\r\n\r\n"
    )
    # 30 MB wait for this client: far more than the sockets between hold.
    text = "x" * 1_000_000
    with socket.create_connection(("127.0.0.1", api.port)) as client:
        client.sendall(request.encode())
        for index in range(30):
            body = {"metadata": {"name": f"big-{index:02}"}, "data": {"text": text}}
            assert api.request("POST", path, body)[0] == 201
        received = b""
        while chunk := client.recv(1 << 20):
            received += chunk
    names = re.findall(rb'"name":"(big-\d\d)"', received)
    assert names == [f"big-{index:02}".encode() for index in range(30)]
    api.request("DELETE", path)


def test_what_goes_with_its_last_finalizer_is_told_as_it_was_stored_last(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    body = {"metadata": {"name": "held", "labels": {"x": "1"}, "finalizers": ["a.example/b"]}}
    _, made, _ = api.request("POST", path, body)
    api.request("DELETE", f"{path}/held")
    change = {"metadata": {"labels": {"x": "2"}, "finalizers": None}}
    kind = "application/merge-patch+json"
    _, last, _ = api.request("PATCH", f"{path}/held", change, content_type=kind)
    assert last["metadata"]["labels"] == {"x": "2"}
    since = made["metadata"]["resourceVersion"]
    events = list(api.watch(f"{path}?watch=1&timeoutSeconds=1&resourceVersion={since}"))
    assert [event["type"] for event in events] == ["MODIFIED", "DELETED"]
    gone = events[-1]["object"]["metadata"]
    assert (gone["labels"], gone["finalizers"]) == ({"x": "1"}, ["a.example/b"])


def test_who_wants_bookmarks_is_told_where_the_state_ends_in_the_old_way_too(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true"
    events = list(api.watch(f"{path}&resourceVersion=0"))
    assert [event["type"] for event in events[:2]] == ["ADDED", "BOOKMARK"]
    assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_options_of_a_watch_that_make_no_sense_are_refused(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=1"
    only = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
    needs = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    unknown = 'Unsupported value: "Exact": supported values: "NotOlderThan"'
    continued = "Forbidden: resourceVersionMatch is forbidden when continue is provided"
    for query, causes in (
        ("resourceVersionMatch=NotOlderThan", [only]),
        ("resourceVersionMatch=Exact&resourceVersion=1", [only, unknown]),
        ("sendInitialEvents=true&resourceVersionMatch=Exact", [needs, unknown]),
        ("sendInitialEvents=false", [needs]),
        ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=a", [continued]),
        ("continue=a", [continued]),
    ):
        status, refused, _ = api.request("GET", f"{path}&{query}")
        assert status == 422, query
        assert [cause["message"] for cause in refused["details"]["causes"]] == causes
    status, refused, _ = api.request("GET", f"{path}&limit=x")
    assert (status, refused["message"]) == (400, 'strconv.ParseInt: parsing "x": invalid syntax')
    status, refused, _ = api.request("GET", f"{path}&resourceVersion=x")
    why = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'
    assert (status, refused["message"]) == (500, why)


def test_one_object_is_read_and_never_watched(api: Api, namespace: str) -> None:
    status, found, _ = api.request("GET", f"/api/v1/namespaces/{namespace}?watch=1")
    assert (status, found["kind"]) == (200, "Namespace")


@pytest.mark.parametrize("kind", KINDS.served, ids=lambda kind: kind.resource)
def test_a_bookmark_of_a_table_has_the_row_of_an_object_in_which_nothing_is_set(kind: Kind) -> None:
    told = msgspec.json.decode(Encoder(kind, Wanted("table"), 0).bookmark(7, initial_end=True))
    (row,) = told["object"]["rows"]
    assert row["object"]["metadata"] == {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
    assert len(row["cells"]) == len(kind.columns)


@pytest.mark.parametrize(
    ("resource", "cells"),
    [
        ("pods", ["", "0/0", "", "0", "<unknown>", "<none>", "<none>", "<none>", "<none>"]),
        ("services", ["", "", "<none>", "<unknown>", "<none>", "<unknown>", "<none>"]),
        ("persistentvolumes", ["", "0", "", "", "", "", "", "<unset>", "", "<unknown>", "<unset>"]),
        ("cronjobs.batch", ["", "", "<none>", "<unset>", 0, "<none>", "<unknown>", "", "", "<none>"]),
        ("csidrivers.storage.k8s.io", ["", True, False, False, "<unset>", False, "<none>", "<unknown>"]),
        ("storageclasses.storage.k8s.io", ["", "", "Delete", "Immediate", False, "<unknown>"]),
        ("clusterroles.rbac.authorization.k8s.io", ["", "0001-01-01T00:00:00Z"]),
        ("ipaddresses.networking.k8s.io", ["", "<none>", "<unknown>"]),
    ],
)
def test_that_row_is_printed_as_upstream_prints_it(resource: str, cells: list[Any]) -> None:
    kind = KINDS.find_resource(resource)
    assert kind is not None
    (row,) = msgspec.json.decode(Encoder(kind, Wanted("table"), 0).bookmark(7))["object"]["rows"]
    assert row["cells"] == cells


def test_a_watch_that_asks_for_the_metadata_of_a_list_ends_at_its_first_event(api: Api, namespace: str) -> None:
    _put(api, namespace, "a1")
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=true&timeoutSeconds=30"
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    assert list(api.watch(path, accept=accept)) == []
