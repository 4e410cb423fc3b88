"""What upstream says of a body that it cannot read: Go's sentences about JSON, times, bytes and quantities.

Source: encoding/json and time of Go as sigs.k8s.io/json and k8s.io/apimachinery v0.34 use them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

_TYPES: Final = Path(__file__).with_name("go_types.txt")

_GIVEN: Final = {bool: "bool", int: "number", float: "number", str: "string", dict: "object", list: "array"}

_RANGES: Final = {"int32": 2**31, "int64": 2**63}
"""Go's whole numbers and the first that is too large for them."""

BYTE: Final = 2**8
NUMBER_OF_BYTE: Final = "uint8"

_ELEMENT: Final = re.compile(r"^(\[\]|map\[[^]]*\])\*?")
_NAMED_ELEMENTS: Final = {
    "v1.ResourceList": "resource.Quantity",
    "v1.ExtraValue": "string",
    "v1.ValidationRules": "v1.ValidationRule",
}
_PLACES: Final = re.compile(r"\[[^]]*\]")


@cache
def go_types() -> dict[str, dict[str, str]]:
    """Return by struct (`core_v1.PodSpec`) and field what Go calls the field's type, where the schema does not say."""
    table: dict[str, dict[str, str]] = {}
    for line in _TYPES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            struct, _, fields = line.partition(": ")
            table[struct] = dict(pair.split(" ") for pair in fields.split(", "))
    return table


@cache
def named_texts() -> frozenset[str]:
    """Return the types of texts and other plain values that have a name of their own: `v1.RestartPolicy`."""
    return frozenset(of.lstrip("*!") for fields in go_types().values() for of in fields.values() if "." in of)


@cache
def _modules() -> frozenset[str]:
    return frozenset(struct.partition(".")[0] for struct in go_types())


def is_told(module: str) -> bool:
    """Return whether the table tells of a module's structs (`core_v1`)."""
    return module in _modules()


def element(type_name: str) -> str:
    """Return what Go calls an item of a list or a value of a map: `v1.Container` of `[]v1.Container`."""
    if type_name in _NAMED_ELEMENTS:
        return _NAMED_ELEMENTS[type_name]
    return _ELEMENT.sub("", type_name, count=1)


def fits(value: Any, type_name: str) -> bool:
    """Return whether a JSON value is a whole number that Go's type holds."""
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    limit = _RANGES.get(type_name, _RANGES["int64"])
    return -limit <= value < limit


def cut(value: int, type_name: str) -> int:
    """Return a whole number as Go converts it to a type that may not hold it: what is beyond is cut off."""
    limit = _RANGES.get(type_name)
    return value if limit is None or limit == _RANGES["int64"] else (value + limit) % (2 * limit) - limit


def whole(value: float, type_name: str) -> int:
    """Return a float without a fraction as Go converts it to a whole type: by way of the
    longest one, the lowest number of which stands for all that it cannot hold.
    """
    limit = _RANGES["int64"]
    return cut(int(value) if -limit <= value < limit else -limit, type_name)


def mismatch(value: Any, owner: str, path: str, type_name: str) -> str:
    """Return the sentence about a value of a wrong type.

    Args:
        value: what was sent.
        owner: the struct that holds the field, as Go calls it: `PodSpec`.
        path: where the field lies in the document, with indices.
        type_name: what Go calls the type that the field has: `v1.RestartPolicy`.
    """
    given = _GIVEN.get(type(value), "null")
    if given == "number" and type_name in (*_RANGES, NUMBER_OF_BYTE):
        given = f"number {value}"
    place = _PLACES.sub("", path)
    if owner == _SCHEMA:
        place = _INNER_SCHEMA.sub(r"\1", place)
    return f"json: cannot unmarshal {given} into Go struct field {owner}.{place} of type {type_name}"


_SCHEMA: Final = "JSONSchemaProps"
_INNER_SCHEMA: Final = re.compile(r"(\.(?:items|additionalProperties))\..*")
"""Schemas that may be something else are read by themselves, and their places are told as that of the outermost."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]")


def base64_error(text: str) -> str:
    """Return what is wrong with bytes written as base64, empty where nothing is."""
    place = _corrupt(text)
    return "" if place is None else f"illegal base64 data at input byte {place}"


def from_unstructured(why: str) -> str:
    """Return how upstream says what is wrong with a value that it reads out of a map, not out of JSON."""
    return f"error decoding from json: {why}" if why.startswith("illegal base64") else why


def _corrupt(text: str) -> int | None:
    """Return where Go stops reading base64; line breaks are passed over."""
    data = [(index, letter) for index, letter in enumerate(text) if letter not in "\r\n"]
    for number, (index, letter) in enumerate(data):
        if _BASE64.match(letter):
            continue
        if letter != "=" or number % 4 < 2:
            return index
        rest = data[number + 1 :]
        if number % 4 == 2:
            if not rest:
                return len(text)
            if rest[0][1] != "=":
                return rest[0][0] - 1
            rest = rest[1:]
        return rest[0][0] if rest else None
    missing = len(data) % 4
    return len(text) - missing if missing else None


def json_error(text: str) -> str:
    """Return what is wrong with a text that should be JSON, empty where nothing is."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        start = text.lstrip()[:1]
        if start and start not in '{["-0123456789tfn':
            return f"invalid character '{start}' looking for beginning of value"
        return "unexpected end of JSON input"
    return ""


QUANTITY_FORM: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
QUANTITY_SUFFIX: Final = "unable to parse quantity's suffix"
_QUANTITY: Final = re.compile(r"[+-]?\d*(?:\.\d*)?[eEinumkKMGTP]*[-+]?\d*", re.ASCII)


def quantity_error(text: str) -> str:
    """Return what is wrong with a text that is no quantity."""
    return QUANTITY_SUFFIX if text and _QUANTITY.fullmatch(text) else QUANTITY_FORM


TIME: Final = "2006-01-02T15:04:05Z07:00"
MICRO_TIME: Final = "2006-01-02T15:04:05.000000Z07:00"

_TIME_PARTS: Final = (
    ("2006", re.compile(r"\d{4}", re.ASCII), "", 0, 9999),
    ("-", re.compile("-"), "", 0, 0),
    ("01", re.compile(r"\d\d", re.ASCII), "month", 1, 12),
    ("-", re.compile("-"), "", 0, 0),
    ("02", re.compile(r"\d\d", re.ASCII), "", 0, 99),
    ("T", re.compile("T"), "", 0, 0),
    ("15", re.compile(r"\d\d?", re.ASCII), "hour", 0, 23),
    (":", re.compile(":"), "", 0, 0),
    ("04", re.compile(r"\d\d", re.ASCII), "minute", 0, 59),
    (":", re.compile(":"), "", 0, 0),
    ("05", re.compile(r"\d\d", re.ASCII), "second", 0, 59),
)
"""(part of the layout, what stands for it, what is out of range, from, to)."""

_FRACTION: Final = re.compile(r"[.,]\d+", re.ASCII)
_MICROS: Final = re.compile(r"[.,]\d{6}", re.ASCII)
_ZONE: Final = re.compile(r"Z|[+-](\d\d):(\d\d)", re.ASCII)
_MONTH_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def time_error(text: str, *, micro: bool) -> str:
    """Return what is wrong with a time, empty where nothing is (`time.Parse`)."""
    layout = MICRO_TIME if micro else TIME
    title = f'parsing time "{text}"'
    rest = text
    numbers: list[int] = []
    for part, pattern, name, low, high in _TIME_PARTS:
        match = pattern.match(rest)
        if match is None:
            return f'{title} as "{layout}": cannot parse "{rest}" as "{part}"'
        rest = rest[match.end() :]
        if part.isdigit():
            numbers.append(int(match[0]))
            if name and not low <= numbers[-1] <= high:
                return f"{title}: {name} out of range"
    fraction = (_MICROS if micro else _FRACTION).match(rest)
    if fraction is None and micro:
        return f'{title} as "{layout}": cannot parse "{rest}" as ".000000"'
    rest = rest[fraction.end() :] if fraction else rest
    zone = _ZONE.match(rest)
    if zone is None:
        return f'{title} as "{layout}": cannot parse "{rest}" as "Z07:00"'
    if int(zone[1] or 0) > 24 or int(zone[2] or 0) > 60:
        return f"{title}: time zone offset {'hour' if int(zone[1]) > 24 else 'minute'} out of range"
    rest = rest[zone.end() :]
    if rest:
        return f'{title}: extra text: "{rest}"'
    year, month, day = numbers[:3]
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    last = 28 if month == 2 and not leap else _MONTH_DAYS[month - 1]
    return "" if 1 <= day <= last else f"{title}: day out of range"
