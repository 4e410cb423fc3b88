"""Members whose spelling counts: another one is a change, and the one that was sent stays."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Patch, Update
from controllers.registry import spelling
from tests.registry.registry_tool import Cluster, kind_of, refusal

REVISIONS = "controllerrevisions.apps"
KIND = kind_of(REVISIONS)
SPACED = b'{"b": 1, "a": [2]}'


def made(cluster: Cluster, spelled: bytes | None) -> dict[str, Any]:
    body = {"revision": 1, "data": {"b": 1, "a": [2]}}
    return cluster.create(REVISIONS, "r", body, spelled=None if spelled is None else {"data": spelled})


def test_what_was_sent_with_spaces_is_stored_with_them_and_read_without() -> None:
    cluster = Cluster()
    assert made(cluster, SPACED)["data"] == {"b": 1, "a": [2]}
    stored = cluster.store.get(REVISIONS, "default", "r")
    assert stored is not None
    assert b'"data":' + SPACED in stored.data
    assert stored.object["data"] == {"b": 1, "a": [2]}


@pytest.mark.parametrize(
    ("spelled", "patch_type", "refused"),
    [
        (SPACED, "merge", True),
        (SPACED, "strategic", True),
        (b'{"b":1,"a":[2]}', "merge", False),
        (b'{"b":1,"a":[2]}', "strategic", True),
        (b'{"a":[2],"b":1}', "strategic", False),
        (None, "merge", False),
    ],
)
def test_a_patch_respells_what_it_leaves_alone(spelled: bytes | None, patch_type: str, refused: bool) -> None:
    cluster = Cluster()
    made(cluster, spelled)
    if spelled is not None and spelled.startswith(b'{"a"'):
        cluster.delete(REVISIONS, "r")
        cluster.create(REVISIONS, "r", {"revision": 1, "data": {"a": [2], "b": 1}}, spelled={"data": spelled})
    patch = {"metadata": {"labels": {"a": "b"}}}
    if refused:
        error = refusal(cluster.patch, REVISIONS, "r", patch, patch_type)
        assert (error.code, [cause.field for cause in error.causes]) == (422, ["data"])
    else:
        assert cluster.patch(REVISIONS, "r", patch, patch_type)["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        ({"metadata": {"labels": {"a": "b"}}}, '{"b":1,"a":[2]}'),
        ({"metadata": {"labels": {"a": "b"}}, "data": {"b": 1}}, '{"a":[2],"b":1}'),
    ],
)
def test_what_a_merge_patch_goes_through_is_shown_by_its_keys(patch: dict[str, Any], shown: str) -> None:
    cluster = Cluster()
    made(cluster, SPACED)
    error = refusal(cluster.patch, REVISIONS, "r", patch, "merge")
    assert [cause.message for cause in error.causes] == [f"Invalid value: {shown}: field is immutable"]


def test_who_sends_it_as_it_was_may_change_the_rest_and_a_delete_leaves_it() -> None:
    cluster = Cluster()
    document = made(cluster, SPACED)
    document = {**document, "revision": 2, "metadata": {**document["metadata"], "finalizers": ["a.b/c"]}}
    cluster.apply(Update(REVISIONS, "default", "r", document), spelled={"data": SPACED})
    cluster.delete(REVISIONS, "r")
    stored = cluster.store.get(REVISIONS, "default", "r")
    assert stored is not None
    assert SPACED in stored.data
    assert "deletionTimestamp" in stored.object["metadata"]


def test_yaml_is_spelled_as_the_json_that_upstream_makes_of_it() -> None:
    assert spelling.rewritten(KIND, {"data": {"b": 1, "a": [2]}}) == {"data": b'{"a":[2],"b":1}'}
    assert spelling.sent(KIND, b'{"revision": 1, "data": ' + SPACED + b"}") == {"data": SPACED}


@pytest.mark.parametrize("labels", [{}, {"a": "b"}], ids=["nothing", "a label"])
def test_what_is_applied_leaves_the_spelling_where_it_changes_nothing(labels: dict[str, str]) -> None:
    cluster = Cluster()
    made(cluster, SPACED)
    config = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": {"b": 1, "a": [2]}, "revision": 1}
    config["metadata"] = {"name": "r", **({"labels": labels} if labels else {})}
    applied = Patch(REVISIONS, "default", "r", config, "apply", "", force=True)
    if labels:
        assert [one.field for one in refusal(cluster.apply, applied, field_manager="m").causes] == ["data"]
        return
    cluster.apply(applied, field_manager="m")
    stored = cluster.store.get(REVISIONS, "default", "r")
    assert stored is not None
    assert SPACED in stored.data
    assert [one["manager"] for one in stored.object["metadata"]["managedFields"]][:1] == ["m"]
