"""Answers of a real API server of v1.34 to what few ask, rule by rule: each was told otherwise once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.room import Room

MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
SERVICES = "/api/v1/namespaces/default/services"
STORAGE = "/apis/storage.k8s.io/v1"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
VERSIONED = "resourceVersion should not be set on objects to be created"
IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)


def patched(room: Room, path: str, patch: Any) -> tuple[int, Any]:
    answer = room.answer("PATCH", path, patch, **{"content-type": "application/merge-patch+json"})
    return answer.status, json.loads(answer.body)


def causes(answer: tuple[int, Any]) -> list[tuple[str, str]]:
    status, document = answer
    assert status == 422, document
    return [(one["field"], one["message"]) for one in document["details"]["causes"]]


def definition(schema: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "mugs", "kind": "Mug"}
    spec = {"group": "example.dev", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": metadata or {"name": "mugs.example.dev"}, "spec": spec}


def test_the_store_looks_at_a_new_objects_version_after_all_rules(room: Room) -> None:
    odd = {"metadata": {"name": "A", "resourceVersion": "1"}}
    assert [field for field, _ in causes(room.ask("POST", MAPS, odd))] == ["metadata.name"]
    keys = {"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}
    answer = room.answer("POST", SECRETS, {"metadata": {"name": "a", "resourceVersion": "1"}, **keys})
    assert answer.status == 500
    assert any("failed to find any PEM data" in text for key, text in answer.headers if key.lower() == "warning")
    room.made(MAPS, {"metadata": {"name": "there"}})
    status, told = room.ask("POST", MAPS, {"metadata": {"name": "there", "resourceVersion": "1"}})
    assert (status, told["message"]) == (500, VERSIONED)


def test_a_version_that_is_no_number_is_not_kept(room: Room) -> None:
    made = room.made(MAPS, {"metadata": {"name": "a", "resourceVersion": "x"}})
    assert made["metadata"]["resourceVersion"].isdigit()


@pytest.mark.parametrize(
    ("text", "why"),
    [("99999999999999999999999", "value out of range"), ("-1", "invalid syntax"), ("1e3", "invalid syntax")],
)
def test_versions_that_go_reads_no_number_of(room: Room, text: str, why: str) -> None:
    status, told = room.ask("GET", MAPS, resourceVersion=text)
    parsing = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {why}'
    assert (status, told["message"]) == (400, f"invalid resource version: {parsing}")


def test_an_unknown_field_is_quoted_as_go_does(room: Room) -> None:
    _, told = room.ask("GET", MAPS, fieldSelector="metadata.name\\=x")
    known = 'is not a known field selector: only "metadata.name", "metadata.namespace"'
    assert told["message"] == f'"metadata.name\\\\" {known}'


def test_alike_topologies_are_told_as_often_as_upstream_compares(room: Room) -> None:
    body = {"metadata": {"name": "a"}, "provisioner": "a.b", "allowedTopologies": [{}, {}]}
    where = "allowedTopologies[{}].matchLabelExpressions"
    assert [field for field, _ in causes(room.ask("POST", f"{STORAGE}/storageclasses", body))] == [
        *[where.format(0)] * 2,
        *[where.format(1)] * 3,
    ]


def test_a_long_error_of_a_volume_is_refused(room: Room) -> None:
    path = f"{STORAGE}/volumeattachments"
    spec = {"attacher": "a.b", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    room.made(path, {"metadata": {"name": "a"}, "spec": spec})
    for key in ("attachError", "detachError"):
        refused = patched(room, f"{path}/a/status", {"status": {key: {"message": "x" * 1025}}})
        assert causes(refused) == [(f"status.{key}.message", "Too long: may not be more than 262144 bytes")]
    kept = patched(room, f"{path}/a/status", {"status": {"attachError": {"message": "x" * 1024}}})
    assert kept[0] == 200


def test_names_of_what_devices_have(room: Room) -> None:
    pool = {"name": "n", "resourceSliceCount": 1}
    place = "spec.devices[0].{}[{}]"
    long = "x" * 97
    device = {"name": "d", "attributes": {"": {}}, "capacity": {"a b": {"value": "1"}, long: {"value": "1"}}}
    spec = {"driver": "a.b", "nodeName": "n", "pool": pool, "devices": [device]}
    assert causes(room.ask("POST", SLICES, {"metadata": {"name": "a"}, "spec": spec})) == [
        (place.format("attributes", ""), "Required value: name required"),
        (place.format("attributes", ""), "Required value: exactly one value must be specified"),
        (place.format("capacity", "a b"), f'Invalid value: "a b": {IDENTIFIER}'),
        (place.format("capacity", "x" * 47 + "..." + "x" * 46), "Too long: may not be more than 32 bytes"),
    ]


def test_an_empty_policy_of_families_is_one_too_many_for_an_external_name(room: Room) -> None:
    spec = {"type": "ExternalName", "externalName": "a.b", "ipFamilyPolicy": ""}
    refused = causes(room.ask("POST", SERVICES, {"metadata": {"name": "a"}, "spec": spec}))
    assert ("spec.ipFamilyPolicy", "Forbidden: may not be set for ExternalName services") in refused


def test_an_address_that_changes_with_the_type_to_an_external_name(room: Room) -> None:
    """The list of addresses follows `clusterIP`, and what was changed does not go with the type before (recorded)."""
    spec = {"ports": [{"port": 80}], "clusterIP": "10.96.7.7"}
    made = room.ask("POST", SERVICES, {"metadata": {"name": "moved"}, "spec": spec})[1]
    kept = {"type": "ExternalName", "externalName": "a.b", "clusterIP": "10.96.7.8"}
    listed = {**made, "spec": {**kept, "clusterIPs": made["spec"]["clusterIPs"]}}
    why = ("spec.clusterIPs", "Forbidden: may not be set for ExternalName services")
    assert causes(room.ask("PUT", f"{SERVICES}/moved", listed)) == [why]
    assert causes(room.ask("POST", SERVICES, {"metadata": {"name": "new"}, "spec": kept})) == [why]
    status, answer = room.ask("PUT", f"{SERVICES}/moved", {**made, "spec": kept})
    assert status == 200
    assert answer["spec"]["clusterIP"] == "10.96.7.8"
    assert "clusterIPs" not in answer["spec"]


def test_an_empty_reference_is_one_too(room: Room) -> None:
    refused = causes(room.ask("POST", DEFINITIONS, definition({"type": "object", "$ref": ""})))
    assert refused == [("spec.validation.openAPIV3Schema.$ref", "Forbidden: $ref is not supported")]


def test_an_empty_type_of_list_is_said_too_much_in_a_condition(room: Room) -> None:
    schema = {"type": "object", "allOf": [{"x-kubernetes-list-type": ""}]}
    where = "spec.validation.openAPIV3Schema.allOf[0].x-kubernetes-list-type"
    refused = causes(room.ask("POST", DEFINITIONS, definition(schema)))
    assert refused[0] == (where, "Forbidden: must be undefined to be structural")


def test_a_definitions_name_cannot_be_made(room: Room) -> None:
    refused = causes(room.ask("POST", DEFINITIONS, definition({"type": "object"}, generateName="mugs-")))
    assert [field for field, _ in refused] == ["metadata.generateName", "metadata.name"]


@pytest.mark.parametrize(("place", "named"), [("scope", "v1.ResourceScope"), ("schema", "v1.JSONSchemaURL")])
def test_go_names_the_types_of_a_definitions_fields(room: Room, place: str, named: str) -> None:
    body = definition({"type": "object", **({"$schema": 5} if place == "schema" else {})})
    if place == "scope":
        body["spec"]["scope"] = 5
    status, told = room.ask("POST", DEFINITIONS, body)
    assert (status, told["message"].endswith(f"of type {named}")) == (400, True), told


def test_a_custom_resource_that_says_no_kind_where_unknown_fields_are_no_matter(room: Room) -> None:
    room.made(DEFINITIONS, definition({"type": "object"}))
    room.run(2)
    path = "/apis/example.dev/v1/namespaces/default/mugs"
    missing = "Object 'Kind' is missing in '{\"metadata\": {}}'"
    for asked, words in (
        ("Ignore", f'Mug in version "v1" cannot be handled as a Mug: {missing}'),
        ("Warn", f'the object provided is unrecognized (must be of type Mug): {missing} ({{"metadata": {{}}}})'),
    ):
        status, told = room.ask("POST", path, {"metadata": {}}, fieldValidation=asked)
        assert (status, told["message"]) == (400, words)


def test_a_custom_scales_table_is_described_otherwise(room: Room) -> None:
    body = definition({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    body["spec"]["versions"][0]["subresources"] = {"scale": paths}
    room.made(DEFINITIONS, body)
    room.run(2)
    path = "/apis/example.dev/v1/namespaces/default/mugs"
    mug = {"apiVersion": "example.dev/v1", "kind": "Mug", "metadata": {"name": "a"}, "spec": {"replicas": 1}}
    room.made(path, mug)
    columns = room.table(f"{path}/a/scale")["columnDefinitions"]
    assert [(one["name"], one["type"], one["format"]) for one in columns] == [
        ("Name", "string", "name"),
        ("Desired", "integer", ""),
        ("Available", "integer", ""),
        ("Age", "date", ""),
    ]
    assert [one["description"] for one in columns[1:3]] == ["Number of desired replicas", "Number of actual replicas"]


@pytest.mark.parametrize(("version", "told"), [("v1.21", True), ("v1.22", False)])
def test_a_level_keeps_the_check_that_its_own_one_replaces_later(room: Room, version: str, told: bool) -> None:
    enforced = "pod-security.kubernetes.io/enforce"
    labels = {enforced: "restricted", f"{enforced}-version": version}
    room.made("/api/v1/namespaces", {"metadata": {"name": "strict", "labels": labels}})
    adding = {"name": "c", "image": "i", "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}
    room.made("/api/v1/namespaces/strict/serviceaccounts", {"metadata": {"name": "default"}})
    body = {"metadata": {"name": "p"}, "spec": {"containers": [adding]}}
    status, refused = room.ask("POST", "/api/v1/namespaces/strict/pods", body)
    wanted = 'non-default capabilities (container "c" must not include "NET_ADMIN" in securityContext.capabilities.add)'
    assert (status, wanted in refused["message"]) == (403, told), refused
