"""What upstream's end-to-end tests of watches do: from where they begin, what they tell, in which order (v1.34)."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from tests.tools.apiserver import Api
from tests.tools.upstreamapi import does

WATCHERS = "[sig-api-machinery] Watchers should"
NEGOTIATE = "[sig-api-machinery] client-go should negotiate watch and report errors with accept"
LABEL = "watch-this-configmap"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class Maps:
    """The ConfigMaps of a namespace, and what watches tell of them."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.path = f"/api/v1/namespaces/{namespace}/configmaps"
        self.start = self.api.request("GET", self.path)[1]["metadata"]["resourceVersion"]

    def make(self, name: str, label: str) -> str:
        return self._done("POST", self.path, {"metadata": {"name": name, "labels": {LABEL: label}}}, 201)

    def change(self, name: str, mutation: int, label: str | None = None) -> str:
        found = self.api.request("GET", f"{self.path}/{name}")[1]
        found["data"] = {"mutation": str(mutation)}
        if label is not None:
            found["metadata"]["labels"][LABEL] = label
        return self._done("PUT", f"{self.path}/{name}", found, 200)

    def delete(self, name: str) -> None:
        assert self.api.request("DELETE", f"{self.path}/{name}")[0] == 200

    def _done(self, method: str, path: str, body: Any, expected: int) -> str:
        status, document, _ = self.api.request(method, path, body)
        assert status == expected, document
        return str(document["metadata"]["resourceVersion"])

    def told(self, count: int, labels: str, since: str = "", **options: str) -> list[tuple[str, str, str]]:
        """Return the first events of a watch: (type, name, mutation)."""
        query = f"watch=1&resourceVersion={since or self.start}&labelSelector={LABEL}%20in%20({labels})"
        events = islice(self.api.watch(f"{self.path}?{query}", **options), count)
        return [
            (
                event["type"],
                event["object"]["metadata"]["name"],
                (event["object"].get("data") or {}).get("mutation", ""),
            )
            for event in events
        ]


@pytest.fixture
def maps(sqlite_api: Api) -> Maps:
    made = sqlite_api.request("POST", "/api/v1/namespaces", {"metadata": {"generateName": "watch-"}})[1]
    return Maps(sqlite_api, made["metadata"]["name"])


@does(f"{WATCHERS} observe add, update, and delete watch notifications on configmaps [Conformance]")
def test_each_watch_is_told_what_it_selects(maps: Maps) -> None:
    maps.make("a", "A")
    maps.change("a", 1)
    maps.change("a", 2)
    maps.delete("a")
    maps.make("b", "B")
    maps.delete("b")
    a = [("ADDED", "a", ""), ("MODIFIED", "a", "1"), ("MODIFIED", "a", "2"), ("DELETED", "a", "2")]
    b = [("ADDED", "b", ""), ("DELETED", "b", "")]
    assert maps.told(4, "A") == a
    assert maps.told(2, "B") == b
    assert maps.told(6, "A,B") == a + b


@does(
    f"{WATCHERS} be able to start watching from a specific resource version [Conformance]",
    f"{WATCHERS} be able to restart watching from the last resource version observed by the previous watch "
    "[Conformance]",
)
def test_a_watch_begins_after_the_version_that_it_names(maps: Maps) -> None:
    maps.make("a", "A")
    first = maps.change("a", 1)
    assert maps.told(2, "A") == [("ADDED", "a", ""), ("MODIFIED", "a", "1")]
    maps.change("a", 2)
    maps.delete("a")
    assert maps.told(2, "A", first) == [("MODIFIED", "a", "2"), ("DELETED", "a", "2")]


@does(f"{WATCHERS} observe an object deletion if it stops meeting the requirements of the selector [Conformance]")
def test_what_is_selected_no_more_is_told_as_deleted(maps: Maps) -> None:
    maps.make("a", "A")
    maps.change("a", 1)
    maps.change("a", 1, "other")
    maps.change("a", 2)
    maps.change("a", 2, "A")
    maps.change("a", 3)
    maps.delete("a")
    assert maps.told(6, "A") == [
        ("ADDED", "a", ""),
        ("MODIFIED", "a", "1"),
        ("DELETED", "a", "1"),
        ("ADDED", "a", "2"),
        ("MODIFIED", "a", "3"),
        ("DELETED", "a", "3"),
    ]


@does(f"{WATCHERS} receive events on concurrent watches in same order [Conformance]")
def test_watches_from_every_version_tell_the_same_order(maps: Maps) -> None:
    versions = [maps.make(f"cm-{number}", "A") for number in range(5)]
    for number in range(5):
        versions.append(maps.change(f"cm-{4 - number}", number))
    whole = maps.told(10, "A")
    assert len(whole) == 10
    for passed, since in enumerate(versions[:-1], start=1):
        assert maps.told(10 - passed, "A", since) == whole[passed:]


@pytest.mark.parametrize(
    "accept", ["application/json", PROTOBUF, f"{PROTOBUF},application/json", f"application/json,{PROTOBUF}"]
)
@does(
    f'{NEGOTIATE} "application/json"',
    f'{NEGOTIATE} "{PROTOBUF}"',
    f'{NEGOTIATE} "{PROTOBUF},application/json"',
    f'{NEGOTIATE} "application/json,{PROTOBUF}"',
)
def test_a_watch_is_understood_by_who_asks(maps: Maps, accept: str) -> None:
    maps.make("a", "A")
    assert maps.told(1, "A", accept=accept) == [("ADDED", "a", "")]


@does("[sig-api-machinery] CustomResourceDefinition Watch [Privileged:ClusterAdmin] CustomResourceDefinition Watch "
      "watch on custom resource definition objects [Conformance]")  # fmt: skip
def test_a_watch_of_instances_tells_what_becomes_of_them(sqlite_api: Api) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"plural": "noxus", "kind": "WishIHadChosenNoxu"}
    versions = [{"name": "v1beta1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "watched.example.com", "scope": "Cluster", "names": names, "versions": versions}
    definitions, path = (
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/watched.example.com/v1beta1/noxus",
    )
    document = {"metadata": {"name": "noxus.watched.example.com"}, "spec": spec}
    assert sqlite_api.request("POST", definitions, document)[0] == 201
    start = sqlite_api.request("GET", path)[1]["metadata"]["resourceVersion"]
    base = {"apiVersion": "watched.example.com/v1beta1", "kind": "WishIHadChosenNoxu"}
    made = [sqlite_api.request("POST", path, {**base, "metadata": {"name": name}, "num": 1})[1] for name in ("a", "b")]
    for one in made:
        place = f"{path}/{one['metadata']['name']}"
        assert sqlite_api.request("PUT", place, {**one, "num": 2})[0] == 200
    for one in made:
        assert sqlite_api.request("DELETE", f"{path}/{one['metadata']['name']}")[0] == 200
    for selector, followed in (("", ["a", "b"]), ("&fieldSelector=metadata.name%3Db", ["b"])):
        events = islice(sqlite_api.watch(f"{path}?watch=1&resourceVersion={start}{selector}"), 3 * len(followed))
        told = [(event["type"], event["object"]["metadata"]["name"], event["object"]["num"]) for event in events]
        steps = (("ADDED", 1), ("MODIFIED", 2), ("DELETED", 2))
        assert told == [(step, name, num) for step, num in steps for name in followed]
    assert sqlite_api.request("DELETE", f"{definitions}/noxus.watched.example.com")[0] == 200
