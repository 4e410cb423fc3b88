"""What a format takes and refuses, as a real API server of v1.34 told it."""

from __future__ import annotations

from typing import Final

import pytest

from controllers.custom.formats import FORMATS
from controllers.custom.values import validate

TAKEN: Final[dict[str, tuple[str, ...]]] = {
    "byte": ("YQ==", "YWI=", "YWJj"),
    "cidr": ("10.0.0.0/8", "10.0.0.1/8", "010.0.0.0/8", "10.0.0.0/08", "::/0"),
    "creditcard": ("4111-1111-1111-1111", "4111 1111 1111 1111", "5500000000000004"),
    "datetime": (
        "2020-01-01T00:00:00Z", "2020-01-01t00:00:00z", "2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00+01:00",
    ),
    "duration": (
        "1h", "1h30m", "1.5h", "-1h", ".5s", "1 h", "1d", "2 weeks", "1wk", "PT1H", "x1h", "1e3s",
        "1hours and 2 minutes", "1 MIN", "1.5 days",
    ),
    "email": ("a@b", "ä@b.c", "A <a@b>", '"a b"@c', "a@[1.2.3.4]"),
    "hostname": ("a", "a-", "a.bc", "é.com", "a" * 63),
    "ipv4": ("1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"),
    "ipv6": ("::1", "::ffff:1.2.3.4"),
    "rgbcolor": ("rgb(1,2,3)", "rgb( 1, 2,3 )"),
    "ssn": ("111-11-1111", "111 11 1111"),
    "uri": ("http://a.b", "//a", "a:b", "/a", "http://[::1]", "fe80::1%eth0"),
}  # fmt: skip
REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "byte": ("", "YQ", "!!!!"),
    "cidr": ("10.0.0.0", "10.0.0.0/", "10.0.0.0/33"),
    "creditcard": ("1234567812345670", "9770321751041", "4111111111111112"),
    "datetime": (
        "2020-01-01 00:00:00Z", "2020-01-01T00:00:00", "2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z",
        "2020-02-30T00:00:00Z", "2020-01-01",
    ),
    "duration": ("", "x", "h", "1", "1x", "1hrs", "1mo", "99999999999999999999h"),
    "email": ("a@", "@b", "a@b@c", "a.@b", "a@[b]"),
    "hostname": ("", "-a", "a_b", "a..b", "a" * 64),
    "ipv4": ("1.2.3", "256.1.1.1", "::1", "1.2.3.4/8"),
    "ipv6": ("1.2.3.4", "fe80::1%eth0", "[::1]"),
    "rgbcolor": ("RGB(1,2,3)", "rgb(256,1,1)", "rgb(1,2)"),
    "ssn": ("111111111", "111-11-111"),
    "uri": ("", "a", "?q", "http://a b", "http://a:x", "http://%zz"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_what_a_format_takes_and_refuses(name: str) -> None:
    good = FORMATS[name]
    assert [text for text in TAKEN[name] if not good(text)] == [], "refused"
    assert [text for text in REFUSED[name] if good(text)] == [], "taken"


@pytest.mark.parametrize(("value", "told"), [(2.5, 0), (1.1, 0), (3.5, 1), (3, 1), (2, 0)])
def test_a_fraction_is_made_whole_before_it_is_compared_with_whole_values(value: float, told: int) -> None:
    assert len(validate(value, {"type": "number", "enum": [1, 2, 0.5]})) == told
