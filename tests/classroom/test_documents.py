"""The one reader of YAML: scalars as kubectl reads them, aliases at their price, no nesting too deep."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustersim import documents
from scheduler_core.api.errors import ApiError


def read(text: str) -> Any:
    return documents.one_yaml(text.encode())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("1_000", 1000),
        ("0x10", 16),
        ("0b11", 3),
        ("-0b11", -3),
        ("010", 8),
        ("0o10", 8),
        ("08", 8),
        ("1e3", 1000),
        ("1e-3", 0.001),
        ("1.0", 1),
        ("1.5", 1.5),
        (".5", 0.5),
        ("+.5", 0.5),
        ("1.", 1),
        ("1e400", "1e400"),
        ("1.0.0", "1.0.0"),
        ("18446744073709551615", 18446744073709551615),
        ("1" + "0" * 22, 1e22),
        ("yes", True),
        ("Off", False),
        ("y", True),
        ("yES", "yES"),
        ("~", None),
        ("NULL", None),
        ("=", "="),
        ("<<", "<<"),
        ("500m", "500m"),
        ("1Ki", "1Ki"),
        ("0x", "0x"),
        ("+", "+"),
        ("'5'", "5"),
        ('"yes"', "yes"),
        ("! 5", 5),
        ("-3", -3),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3),
        ("!!binary aGk=", "hi"),
        ("!own 5", "5"),
        ("!own [5]", [5]),
        ("!!set {b, c}", {"b": None, "c": None}),
        ("[1, [2, {a: 3}]]", [1, [2, {"a": 3}]]),
        ("|\n  a\n  b", "a\nb\n"),
    ],
)
def test_values_are_read_as_kubectl_reads_them(text: str, value: object) -> None:
    found = read(f"value: {text}\n")["value"]
    assert found == value
    assert type(found) is type(value)


def test_keys_become_texts() -> None:
    assert read("{1: a, false: b, 1.5: c, '~': d}") == {"1": "a", "false": "b", "1.5": "c", "~": "d"}


def test_aliases_are_followed_and_share_nothing() -> None:
    found = read("labels: &l {app: web}\nselector: *l\nagain: [*l, &t text, *t]\n")
    assert found == {"labels": {"app": "web"}, "selector": {"app": "web"}, "again": [{"app": "web"}, "text", "text"]}
    found["selector"]["app"] = "other"
    assert found["labels"] == {"app": "web"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{base: &b {x: 1, y1: 2}, value: {<<: *b, x: 3}}", {"x": 3, "y1": 2}),
        ("{base: &b {x: 1}, more: &m {x: 5, z: 6}, value: {<<: [*b, *m]}}", {"x": 1, "z": 6}),
        ("{value: {'<<': {x: 1}}}", {"<<": {"x": 1}}),
    ],
)
def test_mappings_are_merged(text: str, value: object) -> None:
    assert read(text)["value"] == value


def test_documents_come_one_by_one_and_anchors_end_with_them() -> None:
    assert list(documents.yaml_values("a: 1\n---\n# nothing\n---\n[2]\n---\nthree\n")) == [{"a": 1}, [2], "three"]
    assert documents.one_yaml(b"") is None
    with pytest.raises(ApiError, match="several documents"):
        read("a: 1\n---\nb: 2\n")
    with pytest.raises(ApiError, match="unknown anchor"):
        list(documents.yaml_values("a: &a 1\n---\nb: *a\n"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: *nowhere", "line 1, column 4: unknown anchor 'nowhere'"),
        ("a: &a [*a]", "line 1, column 8: unknown anchor 'a', or it holds itself"),
        ("a: b: c", "line 1, column 5"),
        ("a: .inf", "line 1, column 4: JSON has no such number"),
        ("a: .nan", "JSON has no such number"),
        ("a: !!int x", "cannot decode `x` as a !!int"),
        ("a: !!binary '?'", "invalid base64"),
        ("a: {<<: 3}", "map merge requires"),
        ("? [a, b]\n: c", "a key is not text"),
        ("~: c", "a key is not text"),
        ("a: \x00", "cannot be read"),
    ],
)
def test_refused_with_the_place_and_the_reason(text: str, says: str) -> None:
    with pytest.raises(ApiError, match=says.replace("[", "\\[")) as refusal:
        read(text)
    assert refusal.value.code == 400


def test_what_is_no_utf8_is_refused() -> None:
    with pytest.raises(ApiError, match="not UTF-8"):
        documents.one_yaml(b"kind: \xff\xfe")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    refused = 400
    try:
        list(documents.yaml_values(text))
    except ApiError as error:
        refused = error.code
    assert refused == 400


@pytest.mark.parametrize(
    "text",
    [
        "y",
        "No",
        "on",
        "~",
        "",
        "null",
        "1e3",
        "12:30",
        "0o17",
        "0x1F",
        ".5",
        "-.inf",
        "2024-01-01",
        "=",
        "<<",
        " a ",
        "a: b",
        "# no",
        "a\n  b\n\n",
        "\n",
        "a\r\nb",
        "\u2028",
        "\x7f\x01",
        "\U0001f600",
        "'\"",
        "- a",
        "{a}",
        "&a *b",
        "%a",
        "@",
        "`",
    ],
)
def test_what_is_written_as_yaml_is_read_back_as_the_same(text: str) -> None:
    document = {"a": text, "list": [text, {"b": text}], "numbers": [1, -1, 1.5, True, None, 1e21], "none": {}}
    written = documents.yaml_text(document)
    assert documents.one_yaml(written.encode()) == document
    again = documents.yaml_text({text or "empty": [document, document]})
    assert documents.one_yaml(again.encode()) == {text or "empty": [document, document]}
