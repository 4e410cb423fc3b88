"""What may be a label's key and value, with upstream's words for what may not."""

from __future__ import annotations

import re
from typing import Final

from scheduler_core.api.dns_names import SUBDOMAIN_TEXT, is_subdomain

LABEL_VALUE_LENGTH_MAX: Final = 63
"""Characters of a label value or of the name part of a label key; longer ones are refused."""

_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)

_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_NAME_RULE: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


_SLASHES_RULE: Final = (
    _NAME_RULE.replace("name part", "a qualified name", 1)
    + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def label_value_errors(text: str) -> list[str]:
    """Return what is wrong with a label value, in upstream's words; empty when nothing is."""
    errors = []
    if len(text) > LABEL_VALUE_LENGTH_MAX:
        errors.append(f"must be no more than {LABEL_VALUE_LENGTH_MAX} characters")
    if not _VALUE.fullmatch(text):
        errors.append(_VALUE_RULE)
    return errors


def qualified_name_errors(text: str) -> list[str]:
    """Return what is wrong with a label key (`prefix/name`), in upstream's words."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [_SLASHES_RULE]
    errors = []
    if slash:
        if not prefix:
            errors.append("prefix part must be non-empty")
        elif len(prefix) > 253:
            errors.append("prefix part must be no more than 253 characters")
        elif not is_subdomain(prefix):
            errors.append(f"prefix part {SUBDOMAIN_TEXT}")
    if not name:
        errors.append("name part must be non-empty")
    elif len(name) > LABEL_VALUE_LENGTH_MAX:
        errors.append(f"name part must be no more than {LABEL_VALUE_LENGTH_MAX} characters")
    if not _NAME.fullmatch(name):
        errors.append(_NAME_RULE)
    return errors
