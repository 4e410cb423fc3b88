"""A body is read: whether it is of the type that a path takes, fits its schema, and what of it nobody knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import msgspec

from controllers.log.operations import Create
from controllers.log.store import copy_object
from controllers.registry import fields
from controllers.registry.checking import check, json_of, too_deep, zero_of
from controllers.registry.context import Context
from controllers.registry.gotext import json_name
from controllers.registry.kind import Kind
from controllers.registry.schema import is_model
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid

YAML_ERRORS: Final = "yaml: unmarshal errors:\n"
"""What a reader of YAML says first: a line for each fault follows."""

_PATH_PARTS: Final = re.compile(r"(?<=\[)[^\]]*(?=\])|[^.\[\]]+")
"""The names, places in lists and keys of maps in a path; keys may hold dots."""

SCHEME: Final = "pkg/api/legacyscheme/scheme.go:30"
"""Where upstream makes the scheme that it reads bodies by, as its sentences tell it."""

_OTHER_SCHEMES: Final[Mapping[str, str]] = {
    "apiextensions.k8s.io": "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55",
    "apiregistration.k8s.io": "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28",
}
"""The same by the groups that upstream serves by a server of their own."""

_OTHER_VERSIONS: Final = (
    ("policy/v1beta1", "Eviction"),
    ("apps/v1beta1", "Scale"),
    ("apps/v1beta2", "Scale"),
    ("extensions/v1beta1", "Scale"),
)
"""Older versions that upstream reads of what is sent to subresources."""


_EVERYWHERE: Final = (
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "UpdateOptions",
    "WatchEvent",
)
"""Kinds that each group and version has."""

_UNVERSIONED: Final = ("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "List", "Status")


class Unreadable(ApiError):
    """A body that does not fit its kind; of what a patch made, the registry says so in other words."""


def decoded(kind: Kind, given: Any, old: Mapping[str, Any], context: Context) -> tuple[Document, list[Cause]]:
    """Return a checked copy of a body and the required fields that it lacks; parts equal to `old` are taken as good."""
    if not isinstance(given, dict):
        raise bad_request("the body is not an object")
    kept = {key for key, value in given.items() if key in old and is_same(value, old[key])}
    fresh = {key: value for key, value in given.items() if key not in kept}
    encoded = json_of(fresh)
    if too_deep(fresh, encoded):
        raise bad_request("the body is nested too deeply")
    _check_type(kind, given)
    try:
        fresh = msgspec.json.decode(encoded) if encoded else copy_object(fresh)
    except (TypeError, msgspec.MsgspecError) as error:
        # Uploaded YAML can hold what JSON cannot, such as a mapping whose key is null.
        raise bad_request(f"the body cannot be written as JSON: {error}") from error
    report = check(fresh, kind.schema) if kind.check is None else kind.check(fresh)
    if report.wrong:
        # Upstream stops at what it cannot read, and tells the first of it.
        raise Unreadable(400, "BadRequest", f"{_title(kind)}: {report.wrong[0].message}", report.wrong)
    context.emptied, context.off = report.emptied, report.off
    if report.unknown or context.repeated is not None:
        _report_unknown(_title(kind), report.unknown, context)
    document = {key: old[key] for key in given if key in old and key in kept}
    document.update(fresh)
    document["apiVersion"] = kind.api_version
    document["kind"] = kind.kind
    return document, [cause for cause in report.missing if cause.field not in document]


def first_wrong(kind: Kind, given: Document) -> Unreadable | None:
    """Return what upstream finds first of what it cannot read of a body; None: it can."""
    try:
        _check_type(kind, given)
    except Unreadable as error:
        return error
    except ApiError:
        return None
    fresh = copy_object(given)
    wrong = (check(fresh, kind.schema) if kind.check is None else kind.check(fresh)).wrong
    return Unreadable(400, "BadRequest", f"{_title(kind)}: {wrong[0].message}", wrong) if wrong else None


def is_same(value: Any, old: Any) -> bool:
    """Return whether two values are the same JSON; true is no 1, though Python takes the two for equal."""
    if value is old or value != old:
        return value is old
    return msgspec.json.encode(value, order="deterministic") == msgspec.json.encode(old, order="deterministic")


def checked(kind: Kind, given: Any, context: Context) -> Document:
    """Return a copy of a document that fits a kind's schema and has metadata; what it does not know is told as asked.

    Raises:
        ApiError: 400.
    """
    document = decoded(kind, given, {}, context)[0]
    document.setdefault("metadata", {})
    return document


def body_of(operation: Create, schema: str, title: str) -> Document:
    """Return a checked copy of a body that is no stored object; it has metadata.

    Raises:
        ApiError: 400.
    """
    body = copy_object(operation.object)
    body["metadata"] = body.get("metadata") or {}
    if not isinstance(body["metadata"], dict):
        raise bad_request("metadata is not an object")
    report = check(body, schema, require=False)
    if report.wrong:
        raise bad_request(f"{title} cannot be read: {report.wrong[0].message}", report.wrong)
    return body


def check_body(
    given: Document, of: tuple[str, str, str], context: Context, namespace: str | None, scheme: str = ""
) -> None:
    """Refuse a body that is no stored object where it does not fit: its type, its fields, its namespace.

    Args:
        given: what was sent.
        of: (group, version, kind) of what a path takes.
        context: is told what is unknown.
        namespace: where the path leads; None: nowhere.
        scheme: by which upstream reads it; empty: by that of its group.

    Raises:
        ApiError: 400.
    """
    group, version, kind = of
    api_version = f"{group}/{version}" if group else version
    sent = _said(given, "apiVersion", api_version)
    if (sent, _said(given, "kind", kind)) not in _OTHER_VERSIONS:
        check_type(api_version, kind, given, scheme=scheme)
    report = check(copy_object(given), f"{group.partition('.')[0] or 'core'}_{version}.{kind}", require=False)
    title = f'{kind} in version "{sent.rpartition("/")[2]}" cannot be handled as a {kind}'
    if report.wrong:
        raise Unreadable(400, "BadRequest", f"{title}: {report.wrong[0].message}", report.wrong)
    if report.unknown or context.repeated is not None:
        _report_unknown(title, report.unknown, context)
    if (sent, kind) in _OTHER_VERSIONS and kind == "Scale":
        why = f"the API version in the data ({sent}) does not match the expected API version ({api_version})"
        raise bad_request(why)
    said = (given.get("metadata") or {}).get("namespace")
    if namespace is not None and said not in (None, "", namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def still_missing(kind: Kind, missing: list[Cause], document: Mapping[str, Any]) -> list[Cause]:
    """Return which required fields are missing after the defaults too."""
    if kind.whole_rules:
        return []
    # What metadata lacks its own rules tell.
    told = (cause for cause in missing if not cause.field.startswith("metadata."))
    return [cause for cause in told if not is_there(document, cause.field)]


def tell_zeroes(kind: Kind, missing: list[Cause], document: Document) -> None:
    """Put what Go tells of a required field that nobody sent and no rule asks for: its zero."""
    for cause in missing:
        parts = _PATH_PARTS.findall(cause.field)
        if parts[0] == "metadata":
            continue
        holder = _found(document, parts[:-1])
        zero = zero_of(kind.schema, parts)
        if isinstance(holder, dict) and parts[-1] not in holder and zero is not None:
            holder[parts[-1]] = zero


def _found(document: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if isinstance(document, Mapping):
            document = document.get(part)
        elif isinstance(document, Sequence) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            return None
    return document


def is_there(document: Any, path: str) -> bool:
    """Return whether a document has something at a path."""
    for part in _PATH_PARTS.findall(path):
        if isinstance(document, Mapping) and part in document:
            document = document[part]
        elif isinstance(document, Sequence) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            return False
    return True


def with_empty(document: Document, emptied: Mapping[str, Any]) -> Document:
    """Return a document with the empty lists and maps that were sent and left out, as sentences show it."""
    shown = copy_object(document)
    for path, empty in emptied.items():
        *outer, last = _PATH_PARTS.findall(path)
        holder = _found(shown, outer)
        if isinstance(holder, dict) and holder.get(last) is None:
            holder[last] = empty
    return shown


def _check_type(kind: Kind, given: Mapping[str, Any]) -> None:
    """Refuse a body of another type; what it leaves out, the path says."""
    check_type(kind.api_version, kind.kind, given, is_custom=bool(kind.kept_in))


UNTYPED: Final = "couldn't get version/kind; json parse error: "
"""How it begins what is wrong with a body whose type cannot be read."""


def unnamed(key: str, value: Any) -> str:
    """Return what is wrong with an `apiVersion` or `kind` that is no text."""
    return f"{UNTYPED}json: cannot unmarshal {json_name(value)} into Go struct field .{key} of type string"


def _said(given: Mapping[str, Any], key: str, usual: str) -> Any:
    """Return what a body says of its type; what is no text it says, too."""
    value = given.get(key)
    return usual if value is None or value == "" else value


def check_type(
    api_version: str, kind: str, given: Mapping[str, Any], *, is_custom: bool = False, scheme: str = ""
) -> None:
    """Refuse what is sent as another type than a path takes; `is_custom`: upstream has no types of what lies there.

    `scheme`: as `check_body` has it.

    Raises:
        ApiError: 400.
    """
    sent, of = _said(given, "apiVersion", api_version), _said(given, "kind", kind)
    if (sent, of) == (api_version, kind):
        return
    for key, value in (("apiVersion", sent), ("kind", of)):
        if not isinstance(value, str):
            raise Unreadable(400, "BadRequest", unnamed(key, value))
    assert isinstance(sent, str)
    assert isinstance(of, str)
    if is_custom and sent == api_version:
        name = (given.get("metadata") or {}).get("name") if isinstance(given.get("metadata"), Mapping) else ""
        raise invalid(of, api_version.rpartition("/")[0], name or "", [fields.bad("kind", of, f"must be {kind}")])
    if of == kind and (is_custom or reads_too(sent, of)):
        raise bad_request(
            f"the API version in the data ({sent}) does not match the expected API version ({api_version})"
        )
    version = sent.rpartition("/")[2]
    home, group = api_version.rpartition("/")[0], sent.rpartition("/")[0]
    scheme = scheme or _OTHER_SCHEMES.get(home, SCHEME)
    why = f'no kind "{of}" is registered for version "{sent}" in scheme "{scheme}"'
    # Servers of their own know their own group alone.
    foreign = group != home if home in _OTHER_SCHEMES else group in _OTHER_SCHEMES
    model = f"{group.partition('.')[0] or 'core'}_{version}.{of}"
    is_read = not foreign and is_model(model)
    if of in _EVERYWHERE or (sent == "v1" and of in _UNVERSIONED) or (not foreign and reads_too(sent, of)) or is_read:
        inside = api_version.rpartition("/")[0].partition(".")[0] or "core"
        why = f"converting ({version}.{of}) to ({inside}.{kind}): unknown conversion"
        # It is read as what it says that it is before anybody wants it to be another.
        wrong = check(copy_object(dict(given)), model, require=False).wrong if is_read else ()
        if wrong:
            why = wrong[0].message
    raise Unreadable(400, "BadRequest", f'{of} in version "{version}" cannot be handled as a {kind}: {why}')


@cache
def _versions_read() -> dict[str, frozenset[str]]:
    """Return by version the kinds that upstream reads in it beside the one in which they are served."""
    lines = Path(__file__).with_name("versions_read.txt").read_text(encoding="utf-8").splitlines()
    parts = [line.partition(": ") for line in lines if not line.startswith("#")]
    return {version: frozenset(kinds.split()) for version, _, kinds in parts}


def reads_too(version: str, kind: str) -> bool:
    """Return whether upstream reads a kind in a version in which it may not be served."""
    return kind in _versions_read().get(version, ())


def as_served(kind: Kind, patched: Document) -> Document:
    """Return what a patch made in the version of its path: upstream converts an older one that it names."""
    version = patched.get("apiVersion")
    if isinstance(version, str) and "beta" in version and reads_too(version, kind.kind):
        return {**patched, "apiVersion": kind.api_version}
    return patched


def _title(kind: Kind) -> str:
    return f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}'


def report_unknown(kind: Kind, unknown: list[str], context: Context) -> None:
    """Tell of fields that nobody knows, as whoever writes asked for.

    Raises:
        ApiError: 400, the client is strict.
    """
    if unknown or context.repeated is not None:
        _report_unknown(_title(kind), unknown, context)


def _report_unknown(title: str, unknown: list[str], context: Context) -> None:
    repeated = context.repeated
    places = repeated.places if repeated is not None else {}
    told = [(places.get(path, 0), f'unknown field "{path}"') for path in unknown]
    # In the order of the body, and what it says twice among the rest.
    texts = [text for _, text in sorted([*(repeated.texts if repeated else ()), *told], key=itemgetter(0))]
    if context.field_validation == "Strict":
        causes = [Cause(path, "unknown field", "FieldValueInvalid") for path in unknown]
        raise Unreadable(400, "BadRequest", f"{title}: strict decoding error: {', '.join(texts)}", causes)
    if context.field_validation == "Warn":
        context.warnings.extend(line for text in texts for line in _warnings(text))


def report_applied_twice(context: Context) -> None:
    """Tell what a configuration that is applied says twice: once it fits, and before it is checked.

    Raises:
        ApiError: 400, whoever applies it wants to be refused.
    """
    repeated, context.repeated = context.repeated, None
    texts = [text for _, text in repeated.texts] if repeated is not None else []
    if texts and context.field_validation == "Strict":
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {', '.join(texts)}")
    context.warnings.extend(line for text in texts for line in _warnings(text))


def _warnings(text: str) -> list[str]:
    """Return a sentence as warnings: what a reader of YAML says is one a line (parseYAMLWarnings)."""
    lines = text.removeprefix(YAML_ERRORS)
    return [line.strip() for line in lines.split("\n")] if lines != text else [text]
