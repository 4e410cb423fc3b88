"""Fields that a body gives twice are told in upstream's words, among those that nobody knows."""

from __future__ import annotations

import msgspec
import pytest

from clustersim.apiserver.repeated import repeated_in_json, repeated_in_yaml


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a": 1, "b": {"c": 2}}', []),
        (b'{"a":1,"b":{"a":"\\":"}}', []),
        (b'{"a":1,"a":2}', ['duplicate field "a"']),
        (b'{"a" :1,"a"\n:2}', ['duplicate field "a"']),
        (b'{"l":[{"x":1},{"x":1,"x":2}],"l":0}', ['duplicate field "l[1].x"', 'duplicate field "l"']),
    ],
)
def test_json(body: bytes, said: list[str]) -> None:
    found = repeated_in_json(body, msgspec.json.decode(body))
    assert [text for _, text in (found.texts if found else ())] == said


def test_places_say_in_which_order_fields_stand() -> None:
    body = b'{"x":1,"a":1,"a":2,"y":3}'
    found = repeated_in_json(body, msgspec.json.decode(body))
    assert found is not None
    assert found.places["x"] < found.texts[0][0] < found.places["y"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: [1, {c: 2}]\n", []),
        ("d:\n  a: '1'\n  a: '2'\n", ['line 3: key "a" already set in map']),
        ("a: 1\na:\n  b: 1\n", ['line 3: key "a" already set in map']),
        ("l:\n- {a: 1, a: 2}\n- a: 1\n", ['line 2: key "a" already set in map']),
    ],
)
def test_yaml(text: str, lines: list[str]) -> None:
    found = repeated_in_yaml(text.encode())
    said = "yaml: unmarshal errors:\n  " + "\n  ".join(lines)
    assert [text for _, text in (found.texts if found else ())] == ([said] if lines else [])
