"""Routes that bring files in: manifests and recorded traces."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import importing, limits, manifests, openb
from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.sessionapi.http import Call, answer, number_field, refuse
from scheduler_core.api.errors import ApiError, Cause, bad_request, one_of
from scheduler_core.api.said import said

FORM_BYTES: Final = 64 * 1024
"""Bytes that a form's own fields and boundaries may add to its files."""

IMPORT_BYTES_MAX: Final = manifests.MANIFEST_BYTES_MAX + FORM_BYTES
"""Bytes of a request with a file of objects; more is refused with 413."""

REPLAY_BYTES_MAX: Final = 16 * 1024 * 1024 + FORM_BYTES
"""Bytes of a request with both lists of a trace; more is refused with 413."""

DIVISOR_MAX: Final = 1_000_000_000
SECONDS_MAX: Final = 7 * 86_400
"""Simulated seconds that a trace may be spread over; more is refused with 422."""

_VALIDATIONS: Final = ("Ignore", "Warn", "Strict")


def apply_file(call: Call) -> HttpResponse:
    """Answer `POST …/import`."""
    principal = call.require(TEACHER, STUDENT)
    query = call.request.GET
    validation = query.get("fieldValidation", "Warn")
    if validation not in _VALIDATIONS:
        raise refuse(Cause("fieldValidation", one_of(_VALIDATIONS)))
    if query.get("dryRun", "All") != "All":
        raise refuse(Cause("dryRun", said("import.dryRun", "give All or leave it out")))
    options = importing.Options(
        namespace=query.get("namespace") or importing.default_namespace(principal),
        field_validation=validation,  # type: ignore[arg-type]
        dry_run="dryRun" in query,
        create_namespaces=query.get("createNamespaces") == "true",
    )
    with importing.turn():
        entries = importing.entries_of(_file(call))
        if principal.role == STUDENT:
            limits.spend(limits.IMPORTED, principal.participant_id, len(entries))
        return answer(importing.import_objects(call.store, principal, entries, options))


def _file(call: Call) -> bytes:
    """Return the body, or the first file of a multipart form."""
    kind = call.request.content_type or ""
    if kind == "application/x-www-form-urlencoded":
        raise ApiError(
            415,
            "UnsupportedMediaType",
            said("import.type", "send application/yaml, application/json or a form with the file"),
        )
    if kind != "multipart/form-data":
        return call.request.body
    names = list(call.request.FILES)
    if not names:
        raise bad_request(said("import.noFile", "the form has no file"))
    return _uploaded(call, names[0])


def _uploaded(call: Call, field: str) -> bytes:
    """Return a form file's bytes; Django keeps large ones on disk until then."""
    file: Any = call.request.FILES[field]
    data: bytes = file.read()
    return data


def replay(call: Call) -> HttpResponse:
    """Answer `POST …/replays`."""
    principal = call.require(TEACHER)
    body = _trace_body(call)
    lists: dict[str, str] = {}
    for field in ("nodes", "pods"):
        value = body.get(field)
        if not isinstance(value, str) or not value.strip():
            raise refuse(Cause(field, said("import.csv", "give the CSV text with its line of column names")))
        lists[field] = value
    limit = number_field(body, "limit", 1, openb.TRACE_PODS_MAX, whole=True)
    seconds = number_field(body, "seconds", 1, SECONDS_MAX)
    divisor = number_field(body, "divisor", 0.001, DIVISOR_MAX)
    name = body.get("name") or ""
    if not isinstance(name, str):
        raise refuse(Cause("name", said("give.text", "give a text")))
    with importing.turn():
        trace = openb.read(lists["nodes"], lists["pods"], None if limit is None else int(limit))
        started = openb.start_replay(call.store, principal, trace, name=name, seconds=seconds, divisor=divisor)
    return answer(started, 201)


def _trace_body(call: Call) -> dict[str, Any]:
    fields = ("nodes", "pods", "seconds", "divisor", "limit", "name")
    if call.request.content_type != "multipart/form-data":
        return call.body(fields)
    body: dict[str, Any] = {}
    for field in fields:
        if field in call.request.FILES:
            try:
                body[field] = _uploaded(call, field).decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise refuse(Cause(field, said("file.notUtf8", "the file is not UTF-8 text"))) from error
        elif call.request.POST.get(field):
            body[field] = _number(field, str(call.request.POST[field]))
    return body


def _number(field: str, text: str) -> str | int | float:
    """Return a form's number as one; texts stay texts, and the field's own check refuses what is neither."""
    if field in ("name", "nodes", "pods"):
        return text
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text
