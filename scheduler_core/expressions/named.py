"""Formats of texts that expressions ask for by name: `format.dns1123Label().validate(…)`.

Source: k8s.io/apiserver/pkg/cel/library (format.go), v1.34. What has no complaint is an optional without a value there:
`rewriting` makes one of an empty list, and of the format that nobody knows.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Final

from scheduler_core.api import dns_names
from scheduler_core.api.label_names import label_value_errors, qualified_name_errors
from scheduler_core.expressions.declaring import Function, Own, Way, part
from scheduler_core.expressions.urls import url_error

FORMAT: Final = "kubernetes.NamedFormat"
VALIDATE: Final = "validatE"
NAMED: Final = "nameD"
"""What `rewriting` calls `validate` and `named`: each as long as what stands there."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_TIME: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[tT ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[zZ]|[+-]\d{2}:?\d{2})?)", re.ASCII
)

Complaints = Callable[[str], list[str]]


def _told(good: Callable[[str], bool], wrong: str) -> Complaints:
    return lambda text: [] if good(text) else [wrong]


def _is_base64(text: str) -> bool:
    if not text or not _BASE64.fullmatch(text):
        return False
    try:
        b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    try:
        return found is not None and bool(date(*map(int, found.groups())))
    except ValueError:
        return False


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    return found is not None and _is_date(found[1])


def _url_errors(text: str) -> list[str]:
    wrong = url_error(text)
    return [wrong] if wrong else []


FORMATS: Final[Mapping[str, Complaints]] = {
    "dns1123Label": dns_names.label_errors,
    "dns1123Subdomain": dns_names.subdomain_errors,
    "dns1035Label": dns_names.service_errors,
    "qualifiedName": qualified_name_errors,
    "dns1123LabelPrefix": lambda text: dns_names.label_errors(dns_names.masked(text)),
    "dns1123SubdomainPrefix": lambda text: dns_names.subdomain_errors(dns_names.masked(text)),
    "dns1035LabelPrefix": lambda text: dns_names.service_errors(dns_names.masked(text)),
    "labelValue": label_value_errors,
    "uri": _url_errors,
    "uuid": _told(lambda text: _UUID.fullmatch(text) is not None, "does not match the UUID format"),
    "byte": _told(_is_base64, "invalid base64"),
    "date": _told(_is_date, "invalid date"),
    "datetime": _told(_is_time, "invalid datetime"),
}
"""Name → what it says of a text."""


def _of(name: str) -> Own:
    return {FORMAT: name}


def _named(name: str) -> Own:
    return _of(name) if name in FORMATS else {}


def _validate(one: Own, text: str) -> list[str]:
    return FORMATS[part(one, FORMAT)](text)


FUNCTIONS: Final = (
    *(Function(f"format.{name}", Way(FORMAT, (), partial(_of, name))) for name in FORMATS),
    Function(f"format.{NAMED}", Way(FORMAT, ("string",), _named)),
    Function(VALIDATE, Way("list<string>", (FORMAT, "string"), _validate, member=True)),
)
