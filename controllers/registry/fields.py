"""Building blocks of rules: causes as upstream words them, and the checks of names, labels and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from controllers.registry.gotext import quoted
from scheduler_core.api import dns_names
from scheduler_core.api.dns_names import SUBDOMAIN_LENGTH_MAX
from scheduler_core.api.errors import Cause
from scheduler_core.api.label_names import label_value_errors, qualified_name_errors

SHOWN_LETTERS_MAX: Final = 2_000
"""Letters of a wrong value that an answer repeats."""

SHOWN_STRUCT_MAX: Final = 2_000
"""Letters of a wrong list or map that an answer repeats, written as JSON."""

_PORT_NAME: Final = re.compile(r"[a-z0-9-]+")
_ENV_NAME: Final = re.compile(r"[ -<>-~]+")

_ENV_NAME_TEXT: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_SEARCH: Final = re.compile(r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_SEARCH_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
)

_CONFIG_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_CONFIG_KEY_TEXT: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)

_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)
_WILDCARD_TEXT: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
    "regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_HTTP_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


class Written(str):
    """A value as a message shows it, written already."""


_ESCAPED: Final = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"})
"""Letters that Go's encoder writes by their numbers, lest somebody reads them as HTML."""


def written(value: Any) -> Written:
    """Return a value as JSON, its members in the order in which they stand."""
    return Written(_json(msgspec.json.encode(value)))


def _json(data: bytes) -> str:
    return data.decode()[:SHOWN_STRUCT_MAX].translate(_ESCAPED)


def shown(value: Any) -> str:
    """Return a value as it stands in a message."""
    if isinstance(value, Written):
        return value
    if isinstance(value, str):
        return quoted(value[:SHOWN_LETTERS_MAX])
    if value is None or isinstance(value, (bool, list, tuple, dict)):
        return _json(msgspec.json.encode(value, order="deterministic"))
    return repr(value)[:SHOWN_LETTERS_MAX]


def shown_selector(selector: Mapping[str, Any]) -> Written:
    """Return a label selector as upstream's encoder writes it: what is asked of a label has always key and operator."""
    labels = selector.get("matchLabels")
    told: dict[str, Any] = {"matchLabels": dict(sorted(labels.items()))} if labels else {}
    asked = [
        {
            "key": one.get("key") or "",
            "operator": one.get("operator") or "",
            **({"values": one["values"]} if one.get("values") else {}),
        }
        for one in selector.get("matchExpressions") or ()
    ]
    return written({**told, **({"matchExpressions": asked} if asked else {})})


def bad(field: str, value: Any, why: str) -> Cause:
    """Return `Invalid value`."""
    return Cause(field, f"Invalid value: {shown(value)}: {why}", "FieldValueInvalid")


def internal(field: str, why: str) -> Cause:
    """Return that checking a value failed (field.InternalError)."""
    return Cause(field, f"Internal error: {why}", "InternalError")


def required(field: str, why: str = "") -> Cause:
    """Return `Required value`."""
    return Cause(field, f"Required value: {why}" if why else "Required value", "FieldValueRequired")


def duplicate(field: str, value: Any) -> Cause:
    """Return `Duplicate value`."""
    return Cause(field, f"Duplicate value: {shown(value)}", "FieldValueDuplicate")


def unsupported(field: str, value: Any, allowed: Iterable[str], *, ordered: bool = True) -> Cause:
    """Return `Unsupported value` with what is supported, in alphabetical order or as upstream lists it.

    What is chosen from words has mostly a type of its own in Go: then it is written as JSON.
    """
    if isinstance(value, str) and not isinstance(value, Written):
        value = Written(quoted(value[:SHOWN_LETTERS_MAX]).translate(_ESCAPED))
    listed = ", ".join(f'"{item}"' for item in (sorted(allowed) if ordered else allowed))
    return Cause(field, f"Unsupported value: {shown(value)}: supported values: {listed}", "FieldValueNotSupported")


def not_found(field: str, value: Any) -> Cause:
    """Return `Not found`."""
    return Cause(field, f"Not found: {shown(value)}", "FieldValueNotFound")


def not_allowed(field: str, why: str) -> Cause:
    """Return `Forbidden`."""
    return Cause(field, f"Forbidden: {why}", "FieldValueForbidden")


def too_many(field: str, count: int, most: int) -> Cause:
    """Return `Too many`."""
    items = "item" if most == 1 else "items"
    why = "has too many items" if most < 0 else f"must have at most {most} {items}"
    return Cause(field, f"Too many: {count}: {why}", "FieldValueTooMany")


def too_long(field: str, most: int) -> Cause:
    """Return `Too long`."""
    why = "value is too long" if most < 0 else f"may not be more than {most} {'byte' if most == 1 else 'bytes'}"
    return Cause(field, f"Too long: {why}", "FieldValueTooLong")


def immutable(field: str, new: Any, old: Any) -> list[Cause]:
    """Return the refusal of a change, empty when there is none."""
    return [] if new == old else [bad(field, new, "field is immutable")]


def one_of(
    field: str, value: Any, allowed: Iterable[str], *, needed: bool = False, ordered: bool = True
) -> list[Cause]:
    """Check a word against the words that are known (`ordered`: told in alphabetical order)."""
    if value in (None, ""):
        return [required(field)] if needed else []
    allowed = tuple(allowed)
    return [] if value in allowed else [unsupported(field, value, allowed, ordered=ordered)]


def set_one_of(field: str, value: Any, allowed: Iterable[str], *, ordered: bool = True) -> list[Cause]:
    """Check a word that may be left out; an empty one is a word too."""
    return [] if value is None or value in tuple(allowed) else [unsupported(field, value, allowed, ordered=ordered)]


def within(field: str, value: int | None, low: int, high: int) -> list[Cause]:
    """Check a number that may be left out against its bounds, both allowed."""
    good = value is None or low <= value <= high
    return [] if good else [bad(field, value, f"must be between {low} and {high}, inclusive")]


def positive(field: str, value: int | None) -> list[Cause]:
    """Check that a number is above zero."""
    return [] if value is None or value > 0 else [bad(field, value, "must be greater than zero")]


def missing(field: str, holder: Mapping[str, Any], *keys: str) -> list[Cause]:
    """Return `Required value` of each member that is not there or empty."""
    return [required(f"{field}.{key}") for key in keys if not holder.get(key)]


def relative_path(field: str, value: str) -> list[Cause]:
    """Check a path below another."""
    return [
        *([bad(field, value, "must be a relative path")] if value.startswith("/") else ()),
        *no_backsteps(field, value),
    ]


def no_backsteps(field: str, value: str) -> list[Cause]:
    """Check that a path leads nowhere back."""
    return [bad(field, value, "must not contain '..'")] if ".." in value.split("/") else []


def free_path(field: str, value: str) -> list[Cause]:
    """Check a path below another that does not begin as what kubelets keep for themselves."""
    causes = relative_path(field, value)
    if value.startswith("..") and not value.startswith("../"):
        causes.append(bad(field, value, "must not start with '..'"))
    return causes


def _named(field: str, value: str, most: int, wrong: str) -> list[Cause]:
    return _all_bad(field, value, dns_names.named(value, most, wrong))


def _all_bad(field: str, value: str, errors: Iterable[str]) -> list[Cause]:
    return [bad(field, value, why) for why in errors]


def label_name(field: str, value: str) -> list[Cause]:
    """Check a DNS-1123 label."""
    return _all_bad(field, value, dns_names.label_errors(value))


def subdomain(field: str, value: str) -> list[Cause]:
    """Check a DNS-1123 subdomain."""
    return _all_bad(field, value, dns_names.subdomain_errors(value))


def search_domain(field: str, value: str) -> list[Cause]:
    """Check a DNS-1123 subdomain that may have underscores."""
    return _named(field, value, SUBDOMAIN_LENGTH_MAX, "" if _SEARCH.fullmatch(value) else _SEARCH_TEXT)


def wildcard_subdomain(field: str, value: str) -> list[Cause]:
    """Check a host that begins with `*.`."""
    good = value.startswith("*.") and dns_names.is_subdomain(value[2:])
    return _named(field, value, SUBDOMAIN_LENGTH_MAX, "" if good else _WILDCARD_TEXT)


def domain_path(field: str, value: str) -> list[Cause]:
    """Check a path behind a domain: `acme.io/foo`."""
    if not value:
        return [required(field)]
    host, _, path = value.partition("/")
    if not host or not path:
        return [bad(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    causes = subdomain(field, host)
    if not _HTTP_PATH.fullmatch(path):
        causes.append(bad(field, path, f"Invalid path (regex used for validation is '{_HTTP_PATH.pattern}')"))
    return causes


def service_name(field: str, value: str) -> list[Cause]:
    """Check a DNS-1035 label, as Services have."""
    return _all_bad(field, value, dns_names.service_errors(value))


def path_segment(field: str, value: str) -> list[Cause]:
    """Check a name that only has to fit into a URL."""
    if value in (".", ".."):
        return [bad(field, value, f"may not be '{value}'")]
    return [bad(field, value, f"may not contain '{letter}'") for letter in "/%" if letter in value]


def env_name(field: str, value: str) -> list[Cause]:
    """Check an environment variable's name: printable ASCII without `=`."""
    return [bad(field, value, _ENV_NAME_TEXT)] if value and not _ENV_NAME.fullmatch(value) else []


def config_key(field: str, value: str) -> list[Cause]:
    """Check a key of a ConfigMap or Secret."""
    causes = _named(field, value, SUBDOMAIN_LENGTH_MAX, "" if _CONFIG_KEY.fullmatch(value) else _CONFIG_KEY_TEXT)
    if value in (".", ".."):
        return [*causes, bad(field, value, f"must not be '{value}'")]
    return [*causes, bad(field, value, "must not start with '..'")] if value.startswith("..") else causes


def port_name(field: str, value: str) -> list[Cause]:
    """Check the name of a port."""
    wrong = (
        (len(value) > 15, "must be no more than 15 characters"),
        (not _PORT_NAME.fullmatch(value), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (not re.search("[a-z]", value), "must contain at least one letter (a-z)"),
        ("--" in value, "must not contain consecutive hyphens"),
        (value.startswith("-") or value.endswith("-"), "must not begin or end with a hyphen"),
    )
    return [bad(field, value, why) for is_wrong, why in wrong if is_wrong]


def port_or_name(field: str, value: int | str | None) -> list[Cause]:
    """Check a port that is told by its number or its name."""
    return port_name(field, value) if isinstance(value, str) else port_number(field, value or 0)


def port_number(field: str, value: int) -> list[Cause]:
    """Check a port."""
    return [] if 1 <= value <= 65535 else [bad(field, value, "must be between 1 and 65535, inclusive")]


def non_negative(field: str, value: int | None) -> list[Cause]:
    """Check that a number is not below zero."""
    return [] if value is None or value >= 0 else [bad(field, value, "must be greater than or equal to 0")]


def int_or_percent(field: str, value: Any) -> tuple[list[Cause], int]:
    """Check a number or percentage; return the causes and what upstream counts it as: 0 where it reads no number."""
    if isinstance(value, str):
        digits = value.removesuffix("%")
        if not value.endswith("%") or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
            return [bad(field, value, _PERCENT)], int(value) if re.fullmatch(r"[+-]?\d{1,9}", value, re.ASCII) else 0
        return [], int(digits)
    if not isinstance(value, int):
        return [required(field)], 1
    return non_negative(field, value), value


def labels(field: str, values: Mapping[str, str] | None) -> list[Cause]:
    """Check labels: qualified keys, values of at most 63 letters."""
    causes: list[Cause] = []
    for key, value in (values or {}).items():
        causes += [bad(field, key, why) for why in qualified_name_errors(key)]
        causes += [bad(field, value, why) for why in label_value_errors(value)]
    return causes


def qualified_name(field: str, value: str) -> list[Cause]:
    """Check a key such as a label's or a taint's: `prefix/name`."""
    return [bad(field, value, why) for why in qualified_name_errors(value)]


def label_value(field: str, value: str) -> list[Cause]:
    """Check a value such as a label's."""
    return [bad(field, value, why) for why in label_value_errors(value)]


_REASON: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_REASON_TEXT: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)
_REASON_LETTERS_MAX: Final = 1024
_MESSAGE_LETTERS_MAX: Final = 32 * 1024


def conditions(field: str, listed: Iterable[Mapping[str, Any]]) -> list[Cause]:
    """Check a list of metav1.Condition (ValidateConditions)."""
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, one in enumerate(listed):
        where, kind, reason = f"{field}[{index}]", one.get("type") or "", one.get("reason") or ""
        causes += [duplicate(f"{where}.type", kind)] if kind in seen else []
        seen.add(kind)
        causes += qualified_name(f"{where}.type", kind)
        causes += set_one_of(f"{where}.status", one.get("status") or "", ("False", "True", "Unknown"))
        if (one.get("observedGeneration") or 0) < 0:
            why = "must be greater than or equal to zero"
            causes.append(bad(f"{where}.observedGeneration", one["observedGeneration"], why))
        causes += missing(where, one, "lastTransitionTime", "reason")
        if reason and not _REASON.fullmatch(reason):
            causes.append(bad(f"{where}.reason", reason, _REASON_TEXT))
        if len(reason.encode()) > _REASON_LETTERS_MAX:
            causes.append(too_long(f"{where}.reason", _REASON_LETTERS_MAX))
        if len((one.get("message") or "").encode()) > _MESSAGE_LETTERS_MAX:
            causes.append(too_long(f"{where}.message", _MESSAGE_LETTERS_MAX))
    return causes


def fixed_selector(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse that a workload's selector changes."""
    now, was = (document["spec"].get("selector") for document in (new, old))
    return [] if now == was else [bad("spec.selector", selector_shown(now), "field is immutable")]


def selector_shown(selector: Mapping[str, Any] | None) -> Written:
    """Return a metav1.LabelSelector as a message shows it: its fields in upstream's order."""
    if selector is None:
        return written(None)
    return written(selector_form(selector))


def selector_form(selector: Mapping[str, Any]) -> dict[str, Any]:
    """Return a metav1.LabelSelector with its fields in upstream's order; what is empty is left out."""
    labelled = dict(sorted((selector.get("matchLabels") or {}).items()))
    expressions = [
        {
            "key": one.get("key") or "",
            "operator": one.get("operator") or "",
            **({"values": one["values"]} if one.get("values") else {}),
        }
        for one in selector.get("matchExpressions") or ()
    ]
    shown = {"matchLabels": labelled, "matchExpressions": expressions}
    return {key: value for key, value in shown.items() if value}


def label_selector(field: str, selector: Mapping[str, Any] | None) -> list[Cause]:
    """Check a metav1.LabelSelector."""
    if selector is None:
        return []
    causes = labels(f"{field}.matchLabels", selector.get("matchLabels"))
    for index, expression in enumerate(selector.get("matchExpressions") or []):
        where = f"{field}.matchExpressions[{index}]"
        operator = expression.get("operator", "")
        values = expression.get("values") or []
        if operator in ("In", "NotIn") and not values:
            causes.append(required(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist") and values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            causes.append(not_allowed(f"{where}.values", why))
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            causes.append(bad(f"{where}.operator", operator, "not a valid selector operator"))
        causes += qualified_name(f"{where}.key", expression.get("key", ""))
        for position, value in enumerate(values):
            causes += label_value(f"{where}.values[{position}]", value)
    return causes
