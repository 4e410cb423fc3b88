"""What a client has already is not sent again: tags of OpenAPI and of aggregated discovery."""

from __future__ import annotations

import pytest

from tests.tools.room import Room

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/openapi/v2", "application/json"),
        ("/openapi/v2", PROTOBUF),
        ("/openapi/v3", "application/json"),
        ("/openapi/v3/apis/apps/v1", "application/json"),
        ("/apis", AGGREGATED),
        ("/api", AGGREGATED),
    ],
)
def test_who_names_the_tag_is_told_that_nothing_has_changed(room: Room, path: str, accept: str) -> None:
    first = room.answer("GET", path, accept=accept)
    tag = dict(first.headers)["etag"]
    assert (first.status, len(tag)) == (200, 130), "a SHA-512 in quotes"
    again = room.answer("GET", path, accept=accept, **{"if-none-match": tag})
    assert (again.status, again.body, dict(again.headers)["etag"]) == (304, b"", tag)
    other = room.answer("GET", path, accept=accept, **{"if-none-match": '"ABC"'})
    assert (other.status, other.body) == (200, first.body)


def test_both_forms_of_a_document_have_one_tag_and_vary_by_what_is_accepted(room: Room) -> None:
    told = [dict(room.answer("GET", "/openapi/v2", accept=one).headers) for one in ("application/json", PROTOBUF)]
    assert told[0]["etag"] == told[1]["etag"]
    assert {one["vary"] for one in told} == {"Accept"}


def test_a_document_stays_for_ever_under_the_hash_that_it_has(room: Room) -> None:
    place = room.ask("GET", "/openapi/v3")[1]["paths"]["apis/apps/v1"]["serverRelativeURL"]
    tag = place.partition("?hash=")[2]
    path = "/openapi/v3/apis/apps/v1"
    assert dict(room.answer("GET", path, query={"hash": tag}).headers)["cache-control"] == "public, immutable"
    assert "cache-control" not in dict(room.answer("GET", path).headers)
    moved = room.answer("GET", path, query={"hash": "0"})
    assert (moved.status, dict(moved.headers)["location"]) == (301, place)


def test_a_definition_changes_the_tag(room: Room) -> None:
    paths = ("/openapi/v2", "/openapi/v3")
    before = [dict(room.answer("GET", path).headers)["etag"] for path in paths]
    names = {"plural": "widgets", "kind": "Widget"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    document = {"metadata": {"name": "widgets.example.com"}, "spec": {**spec, "versions": [version]}}
    room.made("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", document)
    after = [
        dict(room.answer("GET", path, **{"if-none-match": tag}).headers)["etag"]
        for path, tag in zip(paths, before, strict=True)
    ]
    assert all(old != new for old, new in zip(before, after, strict=True))
