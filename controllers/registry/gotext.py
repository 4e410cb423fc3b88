"""JSON values as Go's fmt package prints them, which is how upstream's messages show what it did not take."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final


def quoted(text: str) -> str:
    """Return a text as `%q` prints it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    **dict(zip("\a\b\f\n\r\t\v", ("\\a", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v"), strict=True)),
}


def _escaped(letter: str) -> str:
    if letter in _ESCAPES or letter.isprintable():
        return _ESCAPES.get(letter, letter)
    code = ord(letter)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printed(value: Any) -> str:
    """Return a value as `%v` prints it: `map[a:b]`, `[1 2]`."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{printed(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(printed, value)) + "]"
    if value is None:
        return "<nil>"
    return _scalar(value)


def syntax(value: Any) -> str:
    """Return a value as `%#v` prints it: `map[string]interface {}{"a":"b"}`."""
    if isinstance(value, dict):
        inner = ", ".join(f"{quoted(key)}:{syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return quoted(value) if isinstance(value, str) else _scalar(value)


def type_name(value: Any) -> str:
    """Return a value's type as `%T` prints it, of JSON that was decoded without a schema."""
    names = {dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool"}
    return "<nil>" if value is None else names.get(type(value), "float64")


def json_name(value: Any) -> str:
    """Return what a JSON value is called where it cannot be decoded: `object`, `array`, `number`."""
    names = {dict: "object", list: "array", str: "string", bool: "bool"}
    return "null" if value is None else names.get(type(value), "number")


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (isinstance(value, int) and not -_WHOLE_BELOW <= value < _WHOLE_BELOW):
        return _float(float(value))
    return str(value)


_WHOLE_BELOW: Final = 2**63
"""Larger numbers are no whole ones once JSON was decoded without a schema."""

_PLAIN_BELOW: Final = 6
"""Powers of ten: from there on, and below the fourth after the point, floats are printed with an exponent."""


def _float(value: float) -> str:
    """Return a number as `%v` prints a float64: its shortest digits, `1e+06` from a million on."""
    number = Decimal(repr(value)).normalize()
    power = number.adjusted()
    if not number or -4 <= power < _PLAIN_BELOW:
        return f"{number:f}"
    sign, digits, _ = number.as_tuple()
    text = "".join(map(str, digits))
    return f"{'-' * sign}{text[0]}{'.' if text[1:] else ''}{text[1:]}e{power:+03d}"


def json_number(value: float) -> str:
    """Return a float as Go writes it into JSON: without an exponent below 1e21."""
    number = Decimal(repr(value)).normalize()
    return f"{number:f}" if not number or -6 <= number.adjusted() < 21 else _float(value)
