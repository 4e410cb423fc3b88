"""The same Events in two groups: written in one, read, watched, changed and deleted in the other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import Cluster, refusal

CORE = "/api/v1/namespaces/default/events"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
RESOURCE = "events.events.k8s.io"
NEW: dict[str, Any] = {
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "action": "Do",
    "reason": "Because",
    "type": "Normal",
    "note": "hello",
    "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    "reportingController": "example.dev/c",
    "reportingInstance": "c-1",
}


def test_one_event_in_two_groups(sqlite_api: Any) -> None:
    api = sqlite_api
    status, made, _ = api.request("POST", EVENTS, {"metadata": {"name": "told"}, **NEW})
    assert (status, made["apiVersion"], made["note"]) == (201, "events.k8s.io/v1", "hello")
    assert made["deprecatedSource"] == {}
    assert made["deprecatedFirstTimestamp"] is None
    _, core, _ = api.request("GET", f"{CORE}/told")
    assert (core["apiVersion"], core["message"], core["involvedObject"]["name"]) == ("v1", "hello", "p")
    assert (core["reportingComponent"], core["metadata"]["uid"]) == ("example.dev/c", made["metadata"]["uid"])
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:05.000000Z"}}
    kind = "application/merge-patch+json"
    status, changed, _ = api.request("PATCH", f"{EVENTS}/told", series, content_type=kind)
    assert (status, changed["series"]["count"], changed["regarding"]["name"]) == (200, 2, "p")
    _, listed, _ = api.request("GET", f"{EVENTS}?fieldSelector=regarding.name%3Dp,reportingController%3Dexample.dev/c")
    assert [item["metadata"]["name"] for item in listed["items"]] == ["told"]
    _, table, _ = api.request("GET", EVENTS, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    assert any("hello" in row["cells"] for row in table["rows"])
    status, gone, _ = api.request("DELETE", f"{EVENTS}/told")
    assert (status, gone["status"], gone["details"]["group"]) == (200, "Success", "events.k8s.io")
    assert api.request("GET", f"{CORE}/told")[0] == 404


def test_it_is_discovered(sqlite_api: Any) -> None:
    _, found, _ = sqlite_api.request("GET", "/apis/events.k8s.io/v1")
    assert [entry["name"] for entry in found["resources"]] == ["events"]


REFUSED: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"eventTime": None}, [("eventTime", "Required value")]),
    ({"action": ""}, [("action", "Required value")]),
    ({"type": "Odd"}, [("type", 'Invalid value: "": has invalid value: Odd')]),
    ({"note": "x" * 1025}, [("message", 'Invalid value: "": can have at most 1024 characters')]),
    ({"reportingInstance": ""}, [("reportingInstance", "Required value")]),
    ({"deprecatedCount": 5}, [("count", 'Invalid value: "": needs to be unset')]),
    ({"series": {"count": 1}}, [
        ("series.count", 'Invalid value: "": should be at least 2'),
        ("series.lastObservedTime", "Required value"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "causes"), REFUSED)
def test_a_new_event_is_held_to_more(change: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    error = refusal(Cluster().create, RESOURCE, "told", {**NEW, **change})
    assert (error.code, error.kind, error.group) == (422, "Event", "")
    assert [(cause.field, cause.message) for cause in error.causes] == causes


def test_an_event_of_the_core_group_has_no_empty_names_in_the_other() -> None:
    cluster = Cluster()
    about = {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "R", "type": "Normal"}
    made = cluster.create("events", "told", about)
    assert (made["reportingComponent"], made["reportingInstance"]) == ("", "")
    told = cluster.patch(RESOURCE, "told", {"metadata": {"labels": {"a": "b"}}})
    assert (told["regarding"]["name"], told["deprecatedSource"]) == ("p", {})
    assert told.keys().isdisjoint(("reportingController", "reportingInstance"))


def test_only_the_series_of_an_event_goes_on() -> None:
    cluster = Cluster()
    made = cluster.create(RESOURCE, "told", NEW)
    assert cluster.update(RESOURCE, made) == made
    error = refusal(cluster.patch, RESOURCE, "told", {"note": "other"})
    assert [(cause.field, cause.message) for cause in error.causes] == [
        ("message", 'Invalid value: "other": field is immutable')
    ]
    assert cluster.patch("events", "told", {"message": "other"})["message"] == "other"


def test_unknown_fields_are_those_of_the_version() -> None:
    cluster = Cluster()
    cluster.create(RESOURCE, "told", {**NEW, "message": "core's name"})
    assert cluster.warnings == ['unknown field "message"']
