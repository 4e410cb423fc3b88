"""Files that people bring: what is read, how it is read, and what is refused before it can do harm."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustersim.classroom import manifests
from scheduler_core.api.errors import ApiError


def read(text: str) -> list[dict[str, object]]:
    return manifests.read(text.encode())


def test_documents_lists_and_items_come_in_order() -> None:
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
# nothing here
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- {apiVersion: v1, kind: Secret, metadata: {name: c}}
---
apiVersion: v1
kind: PodList
items:
- metadata: {name: d}
"""
    found = [(thing["kind"], thing["metadata"]["name"]) for thing in read(text)]  # type: ignore[index]
    assert found == [("ConfigMap", "a"), ("ConfigMap", "b"), ("Secret", "c"), ("Pod", "d")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: b: c", "line 1, column 5"),
        ("!!python/object/apply:os.system ['true']", "not an object"),
        ("just words", "not an object"),
        ("[1, 2]", "not an object"),
        ("kind: List\nitems: [3]", "items\\[0\\] is not an object"),
        ("", "holds no object"),
        ("# only a comment", "holds no object"),
    ],
)
def test_refused_with_the_place_and_the_reason(text: str, says: str) -> None:
    with pytest.raises(ApiError, match=says) as refusal:
        read(text)
    assert refusal.value.code == 400


def test_what_is_no_text_or_too_large_is_refused() -> None:
    with pytest.raises(ApiError, match="not UTF-8"):
        manifests.read(b"kind: \xff\xfe")
    with pytest.raises(ApiError, match="at most") as refusal:
        manifests.read(b"#" * (manifests.MANIFEST_BYTES_MAX + 1))
    assert refusal.value.code == 413
    many = json.dumps({"kind": "List", "items": [{"kind": "X"}] * (manifests.OBJECTS_MAX + 1)})
    with pytest.raises(ApiError, match="more than") as refusal:
        read(many)
    assert refusal.value.code == 413


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(min_size=1), JSON, max_size=5))
def test_json_is_read_as_it_is(document: dict[str, object]) -> None:
    document = {**document, "kind": "X"}
    assert read(json.dumps(document)) == [document]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = manifests.read(text.encode("utf-8", "surrogatepass"))
    except ApiError as error:
        refused = error.code
        found = []
    else:
        refused = 400
    assert refused == 400
    assert all(isinstance(thing, dict) for thing in found)
