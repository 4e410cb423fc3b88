"""Names as DNS has them, with upstream's words for what is none.

Source: k8s.io/apimachinery/pkg/util/validation, v1.34.
"""

from __future__ import annotations

import re
from typing import Final

LABEL_LENGTH_MAX: Final = 63
SUBDOMAIN_LENGTH_MAX: Final = 253

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SERVICE: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")

_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_SERVICE_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def is_subdomain(text: str) -> bool:
    """Return whether a text is written as a DNS-1123 subdomain, however long it is."""
    return _SUBDOMAIN.fullmatch(text) is not None


def named(text: str, most: int, wrong: str) -> list[str]:
    """Return what is wrong with a name: its length, and then `wrong` where that says something."""
    errors = [f"must be no more than {most} characters"] if len(text) > most else []
    return [*errors, wrong] if wrong else errors


def label_errors(text: str) -> list[str]:
    """Return what is wrong with a DNS-1123 label; nothing: empty."""
    wrong = "" if _LABEL.fullmatch(text) else "must not contain dots" if is_subdomain(text) else _LABEL_TEXT
    return named(text, LABEL_LENGTH_MAX, wrong)


def subdomain_errors(text: str) -> list[str]:
    """Return what is wrong with a DNS-1123 subdomain."""
    return named(text, SUBDOMAIN_LENGTH_MAX, "" if is_subdomain(text) else SUBDOMAIN_TEXT)


def service_errors(text: str) -> list[str]:
    """Return what is wrong with a DNS-1035 label, as Services have."""
    return named(text, LABEL_LENGTH_MAX, "" if _SERVICE.fullmatch(text) else _SERVICE_TEXT)


def masked(prefix: str) -> str:
    """Return a name that stands for those made from a prefix, which may end with a hyphen."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
