"""Formats of texts that a schema may ask for, and patterns.

Source: k8s.io/kube-openapi/pkg/validation/strfmt, apiextensions-apiserver/pkg/apiserver/validation/formats.go, v1.34.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from controllers.registry import decoding
from scheduler_core.expressions.patterns import compiled, pattern_error

ANSWERS_KEPT: Final = 4_096
"""Answers about texts that are remembered."""


@lru_cache(ANSWERS_KEPT)
def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text."""
    return not pattern_error(pattern) and compiled(pattern).search(text) is not None


def _ip(version: int) -> Callable[[str], bool]:
    def good(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version and "%" not in text
        except ValueError:
            return False

    return good


def _cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text and text.rpartition("/")[2].isdigit()


def _date_time(text: str) -> bool:
    return bool(_DATE_TIME.fullmatch(text)) and not decoding.time_error(
        f"{text[:10]}T{text[11:19]}{text[19:] or 'Z'}".upper(), micro=False
    )


def _base64(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _like(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _hex_digits(version: str) -> Callable[[str], bool]:
    variant = "[0-9a-f]" if version in ("", "3") else "[89ab]"
    digit = version or "[0-9a-f]"
    return _like(f"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{digit}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}")


def _hostname(text: str) -> bool:
    """Return whether a text is one label, or labels below a domain of letters: letters and signs of any script."""
    if len(text) > 255:
        return False
    labels = text.split(".")
    if len(labels) == 1:
        rest = text[1:].removeprefix("-")
        return (
            bool(text)
            and _is_lettered(text[0])
            and len(rest) <= 63
            and all(map(_is_lettered, rest))
            and (text[-1] != "-")
        )
    *above, last = labels
    whole = all(
        one and len(one) <= 63 and _is_lettered(one[0] + one[-1]) and _is_lettered(one.replace("-", ""))
        for one in above
    )
    return whole and 2 <= len(last) <= 63 and all((one.isascii() and one.isalpha()) or _is_letter(one) for one in last)


def _is_letter(letter: str) -> bool:
    return unicodedata.category(letter).startswith("L")


def _is_lettered(text: str) -> bool:
    return all((one.isascii() and one.isalnum()) or unicodedata.category(one)[0] in ("L", "S") for one in text)


def _uri(text: str) -> bool:
    # url.ParseRequestURI takes a path as well as an address with a scheme.
    return text.isprintable() and " " not in text and bool(text.startswith("/") or _SCHEME.match(text))


def _luhn(text: str) -> bool:
    digits = [int(letter) for letter in text if letter.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return _CARD(text.replace(" ", "").replace("-", "")) and sum(doubled) % 10 == 0


def _isbn(length: int) -> Callable[[str], bool]:
    def good(text: str) -> bool:
        plain = re.sub(r"[\s-]+", "", text)
        if length == 10:
            if not re.fullmatch(r"[0-9]{9}[0-9X]", plain, re.ASCII):
                return False
            values = [10 if letter == "X" else int(letter) for letter in plain]
            return sum((place + 1) * value for place, value in enumerate(values)) % 11 == 0
        if not re.fullmatch(r"[0-9]{13}", plain, re.ASCII):
            return False
        return sum(int(letter) * (3 if place % 2 else 1) for place, letter in enumerate(plain)) % 10 == 0

    return good


_DATE_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_CARD: Final = _like(r"[0-9]{12,19}")
_DURATION: Final = _like(
    r"[+-]?([0-9]*(\.[0-9]*)?\s*(ns|us|µs|ms|s|m|h|d|w|nanos?|micros?|millis?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|wks?)\s*)+|0"
)

FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _like(r"[0-9a-f]{24}"),
    "uri": _uri,
    "email": _like(r"[^@\s<>()\[\],;:\"\\]+@[^@\s<>()\[\],;:\"\\]+"),
    "hostname": _hostname,
    "ipv4": _ip(4),
    "ipv6": _ip(6),
    "cidr": _cidr,
    "mac": _like(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{2}[:-]){7}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}"),
    "uuid": _hex_digits(""),
    "uuid3": _hex_digits("3"),
    "uuid4": _hex_digits("4"),
    "uuid5": _hex_digits("5"),
    "isbn": lambda text: _isbn(10)(text) or _isbn(13)(text),
    "isbn10": _isbn(10),
    "isbn13": _isbn(13),
    "creditcard": _luhn,
    "ssn": _like(r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}"),
    "hexcolor": _like(r"#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "rgbcolor": _like(
        r"rgb\(\s*((0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*){2}(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)"
    ),
    "byte": _base64,
    "password": lambda text: True,
    "date": lambda text: not decoding.time_error(f"{text}T00:00:00Z", micro=False),
    "duration": lambda text: _DURATION(text.strip()),
    "datetime": _date_time,
}
"""Formats that are looked at, without hyphens; others say nothing. Upstream lists `k8s-short-name`
and `k8s-long-name` with theirs, and so never finds them."""


def plain(name: str) -> str:
    """Return a format's name as it stands in the table."""
    return name.replace("-", "")
