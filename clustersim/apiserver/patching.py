"""What a PATCH says beside its patch: who owns what it changes, and what is applied on the server's side."""

from __future__ import annotations

from typing import Any, Final

import yaml

from clustersim.apiserver.messages import Request, decode_yaml
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid

MANAGER_BYTES_MAX: Final = 128
"""Bytes of a manager's name, as upstream's FieldManagerMaxLength."""


def manager_of(request: Request) -> str:
    """Return who owns what a request changes: the manager that it names, or the program that sends it."""
    name = request.query.get("fieldManager", "")
    if name:
        return name
    letters = filter(str.isprintable, request.headers.get("user-agent", "").partition("/")[0])
    kept, size = [], 0
    for letter in letters:
        size += len(letter.encode())
        if size > MANAGER_BYTES_MAX:
            break
        kept.append(letter)
    return "".join(kept) or "unknown"


def check_manager(name: str) -> list[Cause]:
    """Return what is wrong with a manager's name (apimachinery, ValidateFieldManager)."""
    if len(name.encode()) > MANAGER_BYTES_MAX:
        why = f"Too long: may not be more than {MANAGER_BYTES_MAX} bytes"
        return [Cause("fieldManager", why, "FieldValueTooLong")]
    if not name.isprintable():
        why = f'Invalid value: "{name}": should only contain printable characters'
        return [Cause("fieldManager", why, "FieldValueInvalid")]
    return []


def check_patch_options(request: Request, *, applies: bool) -> None:
    """Refuse what a patch of this type may not say.

    Raises:
        ApiError: 422.
    """
    causes = []
    name = request.query.get("fieldManager", "")
    if applies and not name:
        why = "Required value: is required for apply patch"
        causes.append(Cause("fieldManager", why, "FieldValueRequired"))
    if not applies and "force" in request.query:
        why = "Forbidden: may not be specified for non-apply patch"
        causes.append(Cause("force", why, "FieldValueForbidden"))
    causes += check_manager(name)
    validation = request.query.get("fieldValidation", "")
    if validation not in ("", "Ignore", "Strict", "Warn"):
        why = f'Unsupported value: "{validation}": supported values: "", "Ignore", "Strict", "Warn"'
        causes.append(Cause("fieldValidation", why, "FieldValueNotSupported"))
    if causes:
        raise invalid("PatchOptions", "meta.k8s.io", "", causes)


def decode_applied(body: bytes) -> Any:
    """Return what is applied: YAML, or JSON, which is YAML too.

    Raises:
        ApiError: 400, 413.
    """
    try:
        return decode_yaml(body)
    except ApiError as error:
        wrong = error.__cause__
        if not isinstance(wrong, yaml.MarkedYAMLError) or wrong.problem_mark is None:
            raise
        # Go's reader counts lines from nought where the text is well formed, but no document.
        line = wrong.problem_mark.line + isinstance(wrong, yaml.scanner.ScannerError)
        place = f"line {line}: " if line else ""
        why = f"error converting YAML to JSON: yaml: {place}{wrong.problem}"
        raise bad_request(f"error decoding YAML: {why}") from error
