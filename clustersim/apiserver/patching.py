"""What a PATCH says beside its patch: who owns what it changes, and what is applied on the server's side."""

from __future__ import annotations

from typing import Any

from clustersim.apiserver.messages import Request, decode_yaml, yaml_error
from controllers.registry import fields
from controllers.registry.metadata import MANAGER_BYTES_MAX, manager_causes
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid


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


def check_options(request: Request, kind: str) -> None:
    """Refuse what a create or an update (`CreateOptions`, `UpdateOptions`) may not say in the query.

    Raises:
        ApiError: 422.
    """
    causes = _common(request)
    if causes:
        raise invalid(kind, "meta.k8s.io", "", causes)


def _common(request: Request) -> list[Cause]:
    """Return what is wrong with what every write may say (apimachinery, ValidateUpdateOptions)."""
    causes = manager_causes("fieldManager", request.query.get("fieldManager", ""))
    asked = request.query.get("dryRun")
    if asked not in (None, "All"):
        causes.append(fields.unsupported("dryRun", [asked], ("All",)))
    validation = request.query.get("fieldValidation", "")
    if validation not in ("", "Ignore", "Strict", "Warn"):
        causes.append(fields.unsupported("fieldValidation", validation, ("", "Ignore", "Strict", "Warn")))
    return causes


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
    causes += _common(request)
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
        why = yaml_error(error)
        if not why:
            raise
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {why}") from error
