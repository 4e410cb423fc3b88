"""Owners and what they own: three ways to delete, circles, owners that are not there; namespaces that go."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from scheduler_core.api.document import Document
from tests.tools.lab import Lab, node, pod

ABSENT = "11111111-2222-3333-4444-555555555555"


def config(name: str, *owners: Document, namespace: str = "default", block: bool = True) -> Document:
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": block,
        }
        for owner in owners
    ]
    metadata = {"name": name, "namespace": namespace, "ownerReferences": references}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def made(lab: Lab, document: Document) -> Document:
    lab.create(document)
    return lab.get("configmaps", document["metadata"]["name"], document["metadata"]["namespace"])


def names(lab: Lab, namespace: str = "default") -> list[str]:
    return [
        one["metadata"]["name"] for one in lab.list("configmaps", namespace) if "crt" not in one["metadata"]["name"]
    ]


@pytest.mark.parametrize("propagation", ["Foreground", "Background", "Orphan"])
def test_three_ways_to_delete_an_owner(propagation: Any) -> None:
    lab = Lab([])
    lab.run(3)
    owner = made(lab, config("owner"))
    made(lab, config("child", owner))
    made(lab, config("loose", owner, block=False))
    lab.run(1)
    lab.do(Delete("configmaps", "default", "owner", propagation=propagation))
    lab.run(3)
    if propagation == "Orphan":
        assert names(lab) == ["child", "loose"]
        assert all(not one["metadata"].get("ownerReferences") for one in lab.list("configmaps", "default"))
        return
    assert names(lab) == []
    gone = [row.name for row in lab.rows() if row.resource == "configmaps" and row.verb == "DELETED"]
    assert (gone.index("owner") < gone.index("child")) is (propagation == "Background")


def test_an_object_with_another_owner_loses_the_one_that_waits() -> None:
    lab = Lab([])
    lab.run(3)
    one, two = made(lab, config("one")), made(lab, config("two"))
    made(lab, config("both", one, two))
    lab.do(Delete("configmaps", "default", "one", propagation="Foreground"))
    lab.run(3)
    assert names(lab) == ["both", "two"]
    assert [ref["name"] for ref in lab.get("configmaps", "both")["metadata"]["ownerReferences"]] == ["two"]


@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
def test_a_circle_of_owners_goes(propagation: Any) -> None:
    lab = Lab([])
    lab.run(3)
    ring = [made(lab, config(name)) for name in ("a", "b", "c")]
    for index, one in enumerate(ring):
        reference = config("x", ring[index - 1])["metadata"]["ownerReferences"]
        patch = {"metadata": {"ownerReferences": reference}}
        lab.do(Patch("configmaps", "default", one["metadata"]["name"], patch))
    lab.run(1)
    lab.do(Delete("configmaps", "default", "a", propagation=propagation))
    lab.run(10)
    assert names(lab) == []


def test_the_last_of_a_circle_of_two_goes_at_once() -> None:
    """Freed of what held its owner up it is another version, and is judged once more: by then its owner has gone."""
    lab = Lab([])
    lab.run(3)
    one = made(lab, config("a"))
    other = made(lab, config("b", one))
    patch = {"metadata": {"ownerReferences": config("x", other)["metadata"]["ownerReferences"]}}
    lab.do(Patch("configmaps", "default", "a", patch))
    lab.run(1)
    lab.do(Delete("configmaps", "default", "a", propagation="Foreground"))
    lab.run(5)
    assert names(lab) == []
    rows = [row for row in lab.rows() if row.resource == "configmaps" and row.name == "b"]
    assert [row.verb for row in rows] == ["ADDED", "MODIFIED", "DELETED"]
    assert not any("deletionTimestamp" in row.object["metadata"] for row in rows)


def test_an_owner_that_is_not_there_takes_its_object_along_unless_another_is() -> None:
    lab = Lab([])
    lab.run(3)
    real = made(lab, config("real"))
    ghost: Document = {"metadata": {"name": "gone", "uid": ABSENT}}
    lab.create(config("lost", ghost), config("both", ghost, real))
    lab.run(2)
    assert names(lab) == ["both", "real"]
    assert [ref["name"] for ref in lab.get("configmaps", "both")["metadata"]["ownerReferences"]] == ["real"]


def test_an_owner_in_another_namespace_is_none_and_that_is_told() -> None:
    lab = Lab([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}])
    lab.run(3)
    owner = made(lab, config("owner", namespace="other"))
    lab.create(config("child", owner))
    lab.run(2)
    assert names(lab) == []
    (told,) = [one for one in lab.list("events") if one["reason"] == "OwnerRefInvalidNamespace"]
    uid = owner["metadata"]["uid"]
    assert told["message"] == (
        f'ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {uid}] does not exist in namespace "default"'
    )
    assert (told["type"], told["source"]["component"]) == ("Warning", "garbage-collector-controller")
    assert sorted(told["involvedObject"]) == ["apiVersion", "kind", "name", "namespace", "uid"]


def test_a_node_that_names_a_namespaced_owner_stays() -> None:
    lab = Lab([])
    lab.run(3)
    stray = node("n1")
    stray["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": ABSENT}]
    lab.create(stray)
    lab.run(5)
    assert lab.get("nodes", "n1", "")["metadata"]["name"] == "n1"


# -- namespaces -------------------------------------------------------------------------------------------------------


def team(lab: Lab) -> dict[str, tuple[str, str, str]]:
    conditions = lab.get("namespaces", "team", "")["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in conditions}


def test_a_namespace_loses_its_pods_first() -> None:
    held = pod("web", namespace="team")
    held["metadata"]["finalizers"] = ["example.dev/hold"]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    lab = Lab([node("n1"), space, held, config("data", namespace="team")])
    lab.run(10)
    lab.do(Delete("namespaces", "", "team"))
    lab.run(4)
    assert "deletionTimestamp" not in lab.get("pods", "web", "team")["metadata"], "what is on its way may still come"
    lab.run(40)
    assert names(lab, "team") == ["data"]
    assert set(team(lab).values()) >= {("False", "ContentRemoved", "All content successfully removed")}
    lab.do(Patch("pods", "team", "web", {"metadata": {"finalizers": None}}))
    lab.run(40)
    assert lab.store.get("namespaces", "", "team") is None
    assert names(lab, "team") == []


def test_what_stays_in_a_namespace_is_told_with_who_holds_it() -> None:
    held = config("data", namespace="team")
    held["metadata"]["finalizers"] = ["example.dev/hold"]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    lab = Lab([space, held])
    lab.run(5)
    lab.do(Delete("namespaces", "", "team"))
    lab.run(20)
    assert team(lab) == {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered", "All resources successfully discovered"),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": (
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.dev/hold in 1 resource instances",
        ),
    }
    lab.do(Patch("configmaps", "team", "data", {"metadata": {"finalizers": None}}))
    lab.run(20)
    assert lab.store.get("namespaces", "", "team") is None
