"""What Go says of a text that is no JSON (encoding/json/scanner.go)."""

from __future__ import annotations

import pytest

from controllers.registry.gojson import syntax_error


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"a":1}',
        "[]",
        '[1,2,{"a":[]}]',
        '"x"',
        " null ",
        "-1.5e+3",
        '{"a":[1,{"b":2}],"c":null}',
        "[" * 999 + "]" * 999,
    ],
)
def test_json_has_no_error(text: str) -> None:
    assert syntax_error(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "unexpected end of JSON input"),
        ('{"a": "v", ', "unexpected end of JSON input"),
        ("[" * 99_999, "unexpected end of JSON input"),
        ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ("01", "invalid character '1' after top-level value"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("-a", "invalid character 'a' in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("{} x", "invalid character 'x' after top-level value"),
        ('"a\nb"', "invalid character '\\n' in string literal"),
        ("'x'", "invalid character '\\'' looking for beginning of value"),
        ('"\\q"', "invalid character 'q' in string escape code"),
        ('"\\u12x"', "invalid character 'x' in \\u hexadecimal character escape"),
    ],
)
def test_the_first_character_that_does_not_fit_is_told(text: str, why: str) -> None:
    assert syntax_error(text) == why
