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


def _numeric(text: str) -> str:
    """Return a text without the zeroes before its decimal numbers, which Go once took and upstream still does."""
    return re.sub(r"(?<![0-9A-Za-z:.])0+(?=[0-9])|(?<=\.)0+(?=[0-9])", "", text)


def _ip(sign: str) -> Callable[[str], bool]:
    def good(text: str) -> bool:
        try:
            ipaddress.ip_address(_numeric(text) if "." in text else text)
        except ValueError:
            return False
        return sign in text and "%" not in text

    return good


def _cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(_numeric(text), strict=False)
    except ValueError:
        return False
    return "/" in text and text.rpartition("/")[2].isdigit()


def _date(text: str) -> bool:
    return not decoding.time_error(f"{text}T00:00:00Z", micro=False)


def _date_time(text: str) -> bool:
    # What follows another t nobody looks at, and any sign may stand before fractions.
    day, *rest = text.lower().split("t")
    return bool(rest) and _date(day) and _TIME.fullmatch(rest[0]) is not None


def _base64(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return False
    return bool(text)


def _duration(text: str) -> bool:
    """Return whether Go reads a duration, or whether amounts of time stand anywhere in a text (strfmt)."""
    if _GO_DURATION.fullmatch(text):
        return all(int(amount) < 2**63 for amount in _WHOLE.findall(text))
    found = _AMOUNT.findall(text)
    return all(int(amount) < 2**63 for amount, _ in found) and any(map(_is_unit, (unit for _, unit in found)))


def _is_unit(unit: str) -> bool:
    unit = unit.lower()
    return any(unit in names or unit.startswith(names[-1]) for names in _UNITS)


def _email(text: str) -> bool:
    """Return whether a text is an address, a name before it or none (Go's net/mail)."""
    found = _NAMED.fullmatch(text.strip(" \t"))
    if found is None:
        return False
    literal = found["literal"] or found["bare_literal"]
    return literal is None or _ip(".")(literal) or _ip(":")(literal)


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
        return bool(text) and _is_lettered(text[0]) and len(text) <= 63 and all(map(_is_lettered, rest))
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
    named = _SCHEME.match(text)
    if not text.isprintable() or " " in text or not (text.startswith("/") or named):
        return False
    if named and text[named.end() : named.end() + 1] != "/":
        # Nobody looks into what is no path.
        return True
    before = text.partition("?")[0]
    if re.search(r"%(?![0-9A-Fa-f]{2})", before):
        return False
    scheme, _, rest = before.partition("://")
    return "/" in scheme or not rest or _HOST.fullmatch(rest.partition("/")[0]) is not None


def _luhn(text: str) -> bool:
    digits = [int(letter) for letter in text if letter.isascii() and letter.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return _CARD("".join(map(str, digits))) and sum(doubled) % 10 == 0


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


_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_HOST: Final = re.compile(r"(?:[^@]*@)?(?:\[[^]]*\]|[^:\[\]]*)(?::[0-9]*)?")
_CARD: Final = _like(
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}"
    r"|(2131|1800|35[0-9]{3})[0-9]{11}"
)
_GO_DURATION: Final = re.compile(r"[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)")
_WHOLE: Final = re.compile(r"(?<![0-9.])[0-9]+")
_AMOUNT: Final = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_UNITS: Final = (
    ("ns", "nano"), ("us", "µs", "micro"), ("ms", "milli"), ("s", "sec"), ("m", "min"), ("h", "hr", "hour"),
    ("d", "day"), ("w", "wk", "week"),
)  # fmt: skip
"""Names of units of time; what begins with the last one of a unit is one, too."""

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]+"
_WORD: Final = rf'(?:{_ATOM}|"(?:[^"\\]|\\.)*")'
_LOCAL: Final = rf'(?:{_ATOM}(?:\.{_ATOM})*|"(?:[^"\\]|\\.)+")'
_NAMES: Final = rf"{_ATOM}(?:\.{_ATOM})*"
_IN_BRACKETS: Final = r"[^\[\]\\]*"
_NAMED: Final = re.compile(
    rf"{_LOCAL}@(?:{_NAMES}|\[(?P<bare_literal>{_IN_BRACKETS})\])"
    rf"|(?:{_WORD}(?:[ \t.]+{_WORD})*[ \t]*)?<{_LOCAL}@(?:{_NAMES}|\[(?P<literal>{_IN_BRACKETS})\])>"
)

FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _like(r"[0-9a-f]{24}"),
    "uri": _uri,
    "email": _email,
    "hostname": _hostname,
    "ipv4": _ip("."),
    "ipv6": _ip(":"),
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
    "ssn": _like(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "hexcolor": _like(r"#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "rgbcolor": _like(
        r"(?-i:rgb)\(\s*((0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*){2}(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)"
    ),
    "byte": _base64,
    "password": lambda text: True,
    "date": _date,
    "duration": _duration,
    "datetime": _date_time,
}
"""Formats that are looked at, without hyphens; others say nothing. Upstream lists `k8s-short-name`
and `k8s-long-name` with theirs, and so never finds them."""


def plain(name: str) -> str:
    """Return a format's name as it stands in the table."""
    return name.replace("-", "")
