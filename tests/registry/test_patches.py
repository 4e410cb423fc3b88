"""The three patch types against the documents that their specifications give, and strategic merge by its table."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.log.operations import Patch
from controllers.registry.patch import json_patch, merge
from controllers.registry.strategic import strategic_merge
from scheduler_core.api.errors import ApiError
from tests.registry.registry_tool import CONTAINER, Cluster, refusal

# RFC 7396, appendix A.
MERGES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "patch", "result"), MERGES)
def test_merge_patches_of_the_rfc(target: Any, patch: Any, result: Any) -> None:
    assert merge(target, patch) == result


def test_a_merge_patch_leaves_nulls_out_of_objects_in_lists() -> None:
    patch = {"spec": {"limits": [{"max": {"cpu": None}, "type": "Pod"}, None], "args": [None, [{"a": None}]]}}
    assert merge({"spec": {"limits": [{"type": "Container"}]}}, patch) == {
        "spec": {"limits": [{"max": {}, "type": "Pod"}, None], "args": [None, [{}]]}
    }


# RFC 6902, appendix A.
PATCHES: list[tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]] = [
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
    ({"foo": [1, 2]}, [{"op": "add", "path": "/foo/1", "value": 9}], {"foo": [1, 9, 2]}),
    ({"baz": 1, "foo": 2}, [{"op": "remove", "path": "/baz"}], {"foo": 2}),
    ({"foo": [1, 2, 3]}, [{"op": "remove", "path": "/foo/1"}], {"foo": [1, 3]}),
    ({"baz": 1}, [{"op": "replace", "path": "/baz", "value": 2}], {"baz": 2}),
    (
        {"foo": {"bar": 1, "waldo": 2}, "qux": {}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": 1}, "qux": {"thud": 2}},
    ),
    ({"foo": [1, 2, 3]}, [{"op": "move", "from": "/foo/0", "path": "/foo/2"}], {"foo": [2, 3, 1]}),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": 1}], {"a": 1}),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": 2}], None),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": True}], None),
    ({"foo": [1]}, [{"op": "add", "path": "/foo/-", "value": [2]}], {"foo": [1, [2]]}),
    ({"foo": 1}, [{"op": "add", "path": "/baz/bat", "value": 1}], None),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    ({"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": "/a/b"}], None),
    ({"a": [1]}, [{"op": "remove", "path": "/a/01"}], None),
    ({"a": [1]}, [{"op": "add", "path": "/a/5", "value": 1}], None),
    ({"a": 1}, [{"op": "fly", "path": "/a"}], None),
]


@pytest.mark.parametrize(("document", "patch", "result"), PATCHES)
def test_json_patches_of_the_rfc(document: dict[str, Any], patch: list[Any], result: dict[str, Any] | None) -> None:
    before = repr(document)
    if result is None:
        with pytest.raises(ApiError) as refusal:
            json_patch(document, patch)
        assert refusal.value.code == 422
    else:
        assert json_patch(document, patch) == result
    assert repr(document) == before


def test_copies_cannot_grow_without_bound() -> None:
    doubling = [{"op": "copy", "from": "/a", "path": f"/a/{index}"} for index in range(40)]
    with pytest.raises(ApiError, match="copies too much"):
        json_patch({"a": {"x": 1}}, doubling)


POD = {"spec": {"containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}, {"name": "b"}]}}


def _containers(patch: dict[str, Any], document: dict[str, Any] = POD) -> list[dict[str, Any]]:
    merged = strategic_merge(document, {"spec": patch}, "core_v1.Pod")
    containers: list[dict[str, Any]] = merged["spec"]["containers"]
    return containers


def test_items_merge_by_their_key() -> None:
    merged = _containers({"containers": [{"name": "a", "image": "2"}, {"name": "c"}]})
    assert merged == [{"name": "a", "image": "2", "env": [{"name": "X", "value": "1"}]}, {"name": "c"}, {"name": "b"}]


def test_items_are_deleted_replaced_and_ordered_by_directives() -> None:
    assert _containers({"containers": [{"name": "a", "$patch": "delete"}]}) == [{"name": "b"}]
    assert _containers({"containers": [{"$patch": "replace"}, {"name": "z"}]}) == [{"name": "z"}]
    ordered = {
        "containers": [{"name": "c"}],
        "$setElementOrder/containers": [{"name": "c"}, {"name": "b"}, {"name": "a"}],
    }
    assert [item["name"] for item in _containers(ordered)] == ["c", "b", "a"]
    nested = {"containers": [{"name": "a", "env": [{"name": "X", "$patch": "delete"}, {"name": "Y", "value": "2"}]}]}
    assert _containers(nested)[0]["env"] == [{"name": "Y", "value": "2"}]


def test_retained_keys_drop_the_others() -> None:
    document = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic_merge(document, patch, "apps_v1.Deployment") == {"spec": {"strategy": {"type": "Recreate"}}}


def test_finalizers_merge_as_a_set_and_are_deleted_by_a_list() -> None:
    document = {"metadata": {"finalizers": ["a/b", "c/d"]}}
    added = strategic_merge(document, {"metadata": {"finalizers": ["e/f", "a/b"]}}, "core_v1.Pod")
    assert added["metadata"]["finalizers"] == ["e/f", "a/b", "c/d"]
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/b"]}}
    assert strategic_merge(document, patch, "core_v1.Pod")["metadata"]["finalizers"] == ["c/d"]


def test_lists_without_a_key_and_nulls_are_as_in_a_merge_patch() -> None:
    document = {"spec": {"tolerations": [{"key": "a"}], "nodeName": "n"}}
    patch = {"spec": {"tolerations": [{"key": "b"}], "nodeName": None}}
    assert strategic_merge(document, patch, "core_v1.Pod") == {"spec": {"tolerations": [{"key": "b"}]}}


@pytest.mark.parametrize(
    ("patch", "code", "says"),
    [
        ({"containers": [{"image": "x"}]}, 500, "map: map[image:x] does not contain declared merge key: name"),
        ({"$patch": "explode"}, 500, "unknown patch type: explode in map: map[$patch:explode]"),
        ({"$retainKeys": "type"}, 400, ""),
        ({"containers": ["a"]}, 500, "list element types are not identical: "),
    ],
)
def test_malformed_patches_are_refused(patch: dict[str, Any], code: int, says: str) -> None:
    """Upstream's library tells most of them without a class, and so its server answers 500."""
    with pytest.raises(ApiError) as refusal:
        _containers(patch)
    assert (refusal.value.code, refusal.value.reason == "") == (code, code == 500)
    assert refusal.value.message.startswith(says)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from("abcd"), JSON), st.dictionaries(st.sampled_from("abcd"), JSON))
def test_merging_twice_is_merging_once(target: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge(target, patch)
    assert merge(once, patch) == once


def test_what_a_patch_makes_of_an_object_is_shown_as_upstream_shows_it() -> None:
    """What the patch goes through is written by its keys, the rest in the order of Go's structs."""
    cluster = Cluster()
    cluster.create("configmaps", "a", {"metadata": {"labels": {"b": "1", "a": "2"}}, "data": {"k": "v"}})

    def shown(patch: Any, kind: Any) -> str:
        operation = Patch("configmaps", "default", "a", patch, kind)
        error = refusal(cluster.apply, operation, field_validation="Strict")
        assert (error.code, error.causes[0].field) == (422, "patch")
        text = error.causes[0].message
        assert text.endswith(': strict decoding error: unknown field "spec"'), text
        return text

    metadata = (
        '{"name":"a","namespace":"default","uid":"uid-2","resourceVersion":"2",'
        '"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"a":"2","b":"1"}}'
    )
    whole = f'{{"apiVersion":"v1","data":{{"k":"v"}},"kind":"ConfigMap","metadata":{metadata},"spec":{{"x":1}}}}'
    quoted = json.dumps(whole)
    assert shown({"spec": {"x": 1}}, "merge").startswith(f"Invalid value: {quoted}: ")
    assert shown([{"op": "add", "path": "/spec", "value": {"x": 1}}], "json").startswith(f"Invalid value: {quoted}: ")
    assert shown({"spec": {"x": 1}}, "strategic").startswith('Invalid value: "map[spec:map[x:1]]": ')


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ({"spec": {"replicas": 1e30}}, "merge"),
        ([{"op": "add", "path": "/spec/replicas", "value": 1e30}], "json"),
    ],
)
@pytest.mark.parametrize("subresource", ["", "scale"])
def test_a_large_number_that_is_refused_is_shown_as_it_was_sent(patch: Any, kind: Any, subresource: str) -> None:
    cluster = Cluster()
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
    cluster.create(
        "deployments.apps", "web", {"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template}}
    )
    [cause] = refusal(cluster.patch, "deployments.apps", "web", patch, kind, subresource).causes
    assert r"\"replicas\":1e+30" in cause.message


def test_a_list_that_was_not_there_is_taken_as_it_stands() -> None:
    cluster = Cluster()
    cluster.create("nodes", "n")
    twice = {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}] * 2}}
    error = refusal(cluster.patch, "nodes", "n", twice, "strategic", "status")
    assert [cause.field for cause in error.causes] == ["status.addresses[1]"]
