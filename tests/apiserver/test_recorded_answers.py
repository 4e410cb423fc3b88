"""What a real API server of v1.34.9 answered, asked again: verbs, subresources, forms, options, refusals, defaults."""

from __future__ import annotations

from tests.tools.answers import cases, differences
from tests.tools.room import Room


def test_what_was_recorded_is_answered(own_database: None) -> None:
    """One session for all: each case has names of its own."""
    room = Room("empty")
    wrong = [text for case in cases().values() for text in differences(room, case)]
    assert wrong == []


def test_rules_are_told_as_they_were_recorded(own_database: None) -> None:
    """Wrong values in the fields of many kinds: what is refused, in which words and order, and how often it is told."""
    room = Room("empty")
    wrong = [text for case in cases("rules").values() for text in differences(room, case)]
    assert wrong == []


def test_the_wire_is_spoken_as_it_was_recorded(own_database: None) -> None:
    """What is accepted, how bodies and parameters are read, in which words it is refused, what is warned of."""
    room = Room("empty")
    wrong = [text for case in cases("wire").values() for text in differences(room, case)]
    assert wrong == []


def test_what_was_found_beside_a_real_server_is_answered(own_database: None) -> None:
    """Requests that two servers were sent and once answered in two ways: definitions and their instances, directives of
    patches, metadata of many kinds."""
    room = Room("empty")
    wrong = [text for case in cases("beside").values() for text in differences(room, case)]
    assert wrong == []


def test_there_are_cases_of_each_rule() -> None:
    topics = {case["topic"] for case in cases().values()}
    assert topics >= {"verbs", "subresources", "fieldvalidation", "patch", "immutability", "tables", "validation"}
    assert len(cases()) > 250


def test_the_version_tells_what_is_emulated(own_database: None) -> None:
    told = Room("empty").ask("GET", "/version")[1]
    assert (told["emulationMajor"], told["emulationMinor"]) == ("1", "34")
    assert (told["minCompatibilityMajor"], told["minCompatibilityMinor"]) == ("1", "33")


def test_what_a_session_begins_with_belongs_to_the_server(own_database: None) -> None:
    room = Room("empty")
    (entry,) = room.ask("GET", "/api/v1/namespaces/default")[1]["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kube-apiserver", "Update")
    assert entry["fieldsV1"] == {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}}
    made = room.ask("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")[1]
    (entry,) = made["metadata"]["managedFields"]
    assert entry["fieldsV1"].keys() == {"f:description", "f:preemptionPolicy", "f:value"}


def test_the_root_tells_of_groups_versions_and_checks(own_database: None) -> None:
    paths = Room("empty").ask("GET", "/")[1]["paths"]
    assert paths == sorted(paths)
    assert {"/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz/ping", "/readyz/shutdown", "/version"} <= set(paths)
