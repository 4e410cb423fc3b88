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
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", 1000),
        ("0x10", 16),
        ("010", 8),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.0.0", "1.0.0"),
        ("yes", True),
        ("~", None),
        ("=", "="),
        ("500m", "500m"),
        ("'5'", "5"),
        ("-3", -3),
    ],
)
def test_scalars_are_read_as_kubectl_reads_them(text: str, value: object) -> None:
    found = read(f"kind: X\nvalue: {text}\n")[0]["value"]
    assert found == value
    assert type(found) is type(value)


def test_keys_become_texts() -> None:
    assert read("kind: X\ndata: {1: a, false: b}\n")[0]["data"] == {"1": "a", "false": "b"}


def test_aliases_are_followed() -> None:
    found = read("kind: X\nlabels: &l {app: web}\nselector: *l\n")[0]
    assert found["selector"] == {"app": "web"}


LAUGHS = "kind: X\na: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LAUGHS, "too large when its aliases are expanded"),
        ("a: " + "[" * 200 + "]" * 200, "nested deeper"),
        ("{" * 100_000, "nested deeper"),
        ("a: &a [*a]", "too large when its aliases are expanded"),
        ("a: *nowhere", "line 1, column 4"),
        ("a: b: c", "line 1, column 5"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("a: !!binary aGk=", "type bytes"),
        ("a: !!set {b, c}", "type set"),
        ("? [a, b]\n: c", "unhashable|not text"),
        ("just words", "not an object"),
        ("[1, 2]", "not an object"),
        ("kind: List\nitems: [3]", "items\\[0\\] is not an object"),
        ("", "holds no object"),
        ("# only a comment", "holds no object"),
        ("a: \x00", "cannot be read"),
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
