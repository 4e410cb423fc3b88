"""Requests and responses as the handlers see them: values, no sockets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
import yaml

from clustersim import documents
from clustersim.apiserver import protobuf
from clustersim.apiserver.repeated import repeated_in_applied, repeated_in_json, repeated_in_yaml
from clustersim.apiserver.routes import PlainError
from controllers.flags.flag import parse_duration
from controllers.log.operations import PatchType
from controllers.registry import reading, spelling
from controllers.registry.checking import check, too_deep
from controllers.registry.context import Repeated
from controllers.registry.gojson import syntax_error
from controllers.registry.gotext import json_name
from controllers.registry.kind import Kind
from controllers.registry.marks import Marks
from controllers.registry.patch import unknown_members
from scheduler_core.api.errors import ApiError, bad_request

JSON: Final = "application/json"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
YAML: Final = "application/yaml"

MAX_QUERY_FIELDS: Final = 64
"""Parameters of one request; kubectl sends fewer than ten."""

MAX_YAML_BYTES: Final = 1024 * 1024
"""Bytes of a YAML body: reading it takes about a second, thirty times what JSON takes."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to a session's API; header names are lower-case, `path` starts after `/clusters/<code>`."""

    method: str
    code: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    address: str = ""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """All values of the parameters that may come more than once."""
    protocols: Sequence[str] = ()
    """Those of the websocket that the client waits for, as far as any is spoken here; empty: it waits for none."""
    certificate: str = ""
    """The certificate that the client showed by TLS, PEM; nobody has looked whose it is."""
    question: str = ""
    """What stands behind the path's `?`, as it was sent."""
    marks: Marks | None = None
    """Where the steps of its way are noted."""

    @property
    def content_type(self) -> str:
        """Return the body's media type without parameters; what is none as it came."""
        sent = self.headers.get("content-type", "")
        found = _MEDIA_TYPE.fullmatch(sent)
        return found[1].lower() if found is not None else sent

    @property
    def content_type_as_sent(self) -> str:
        """Return the body's media type in the letters that were sent: those of patches are compared as they are."""
        return self.headers.get("content-type", "").partition(";")[0].strip()

    def flag(self, name: str) -> bool:
        """Return a boolean parameter, false when it is missing: upstream takes all but `false` and `0` for true."""
        value = self.query.get(name)
        return value is not None and value.lower() not in ("false", "0")

    def number(self, name: str) -> int | None:
        """Return a whole number parameter, None when it is missing.

        Raises:
            ApiError: 400, not a number, or not one of 64 bits.
        """
        value = self.query.get(name)
        if value is None:
            return None
        shown = f'"{value[:80]}"'
        if not re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII):
            raise bad_request(f"strconv.ParseInt: parsing {shown}: invalid syntax")
        if len(value) > 20 or not -(2**63) <= int(value) < 2**63:
            raise bad_request(f"strconv.ParseInt: parsing {shown}: value out of range")
        return int(value)


@dataclass(slots=True)
class Response:
    """One HTTP answer."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: list[tuple[str, str]] = field(default_factory=list)
    plain: bool = False
    """Whether it is sent as it is, whatever else is accepted."""


_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE: Final = re.compile(
    rf"""\s*({_TOKEN}(?:/{_TOKEN})?)(?:\s*;\s*{_TOKEN}\s*=\s*(?:{_TOKEN}|"(?:[^"\\\r\n]|\\.)*"))*\s*;?\s*"""
)
"""What Go's mime.ParseMediaType takes."""


def parse_query(text: str) -> dict[str, str]:
    """Return the first value of each parameter.

    Raises:
        ApiError: 400, too many parameters.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS)
    except ValueError as error:
        raise bad_request(f"the query has more than {MAX_QUERY_FIELDS} parameters") from error
    query: dict[str, str] = {}
    for key, value in pairs:
        query.setdefault(key, value)
    return query


REPEATED: Final = ("command", "exclude", "ports")
"""Parameters of which all values count: the words of a command, the checks that are left out, ports."""


def url_of(request: Request) -> str:
    """Return the path of a request with its parameters."""
    return request.path + (f"?{urlencode(request.query)}" if request.query else "")


def parse_values(text: str) -> dict[str, list[str]]:
    """Return all values of the parameters that may come more than once.

    Raises:
        ApiError: 400, too many parameters.
    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS)
    except ValueError as error:
        raise bad_request(f"the query has more than {MAX_QUERY_FIELDS} parameters") from error
    return {name: [value for key, value in pairs if key == name] for name in REPEATED}


def check_timeout(request: Request) -> None:
    """Refuse a `timeout` that is no duration; every other one is the server's own (apiserver, request_deadline.go).

    Raises:
        ApiError: 400.
    """
    text = request.query.get("timeout", "")
    if not text or request.flag("watch"):
        return
    try:
        parse_duration(text)
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from error


def plain_response(document: Any) -> Response:
    """Return a document that is JSON whatever is accepted, laid out for people (…/responsewriters, WriteRawJSON)."""
    return Response(200, msgspec.json.format(msgspec.json.encode(document), indent=2), plain=True)


def json_response(document: Any, status: int = 200) -> Response:
    """Return a JSON answer."""
    return Response(status, msgspec.json.encode(document) + b"\n")


WARNINGS_MAX: Final = 20
"""Warnings of one answer; further ones are left out."""

WARNING_LENGTH_MAX: Final = 1_024
"""Letters of one warning: what a pod lacks in security takes four hundred."""


def warning(text: str) -> tuple[str, str]:
    """Return the header that warns whoever asked."""
    shown = "".join(letter for letter in text[:WARNING_LENGTH_MAX] if letter.isprintable())
    quoted = shown.replace("\\", "\\\\").replace('"', '\\"')
    return "warning", f'299 - "{quoted}"'


def error_response(error: ApiError) -> Response:
    """Return the Status of a refusal, or the line of text that upstream's filters and last handler answer."""
    if isinstance(error, PlainError):
        return Response(error.code, f"{error.message}\n".encode(), "text/plain; charset=utf-8")
    status = error.status()
    if error.reason == "BadRequest":
        # Upstream tells of what cannot be read in the message alone.
        status.pop("details", None)
    response = json_response(status, error.code)
    if error.retry_after_seconds:
        response.headers.append(("retry-after", str(error.retry_after_seconds)))
    response.headers += map(warning, error.warnings[:WARNINGS_MAX])
    return response


_YAMLS: Final = (YAML,)
_JSONS: Final = (JSON, "")

_STRUCT: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
_SUMMARY_BYTES: Final = 30


def decode_body(request: Request, kind: str, custom_version: str = "") -> dict[str, Any]:
    """Return the document in the body: JSON, YAML or Kubernetes' protobuf; `kind` is what it should be.

    `custom_version`: of a custom resource, whose bodies have to say what they are.

    Raises:
        ApiError: 400 cannot be read; 415 another media type.
    """
    try:
        document = decoded(request)
    except _Unrecognized as error:
        raise _unrecognized(request, kind, error.message) from error
    if isinstance(version := document.get("apiVersion"), str) and version.count("/") > 1:
        raise _unrecognized(request, kind, f"unexpected GroupVersion string: {version}")
    if why := unnamed(document):
        raise _unrecognized(request, kind, why)
    if custom_version:
        _check_says_what(request, kind, custom_version, document)
    return document


def _check_says_what(request: Request, kind: str, version: str, document: Mapping[str, Any]) -> None:
    """Refuse a body of a custom resource without a kind or version: upstream has no type that would tell them."""
    if not document.get("kind"):
        why = f"Object 'Kind' is missing in '{request.body.decode('utf-8', 'replace')}'"
        if request.query.get("fieldValidation") == "Ignore":
            # Where nobody asks for unknown fields, upstream decodes it with another decoder.
            read_as = version.rpartition("/")[2]
            raise bad_request(f'{kind} in version "{read_as}" cannot be handled as a {kind}: {why}')
        raise _unrecognized(request, kind, why)
    if "apiVersion" in document and document["apiVersion"] is None:
        why = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
        raise bad_request(f'{document["kind"]} in version "" cannot be handled as a {kind}: {why}')
    if not document.get("apiVersion"):
        raise bad_request(f"the API version in the data () does not match the expected API version ({version})")


def unnamed(document: Mapping[str, Any]) -> str:
    """Return why the kind of a document cannot be read, empty where it can."""
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str | None):
            return reading.unnamed(key, document[key])
    return ""


def checked_body(request: Request, kind: str, schema: str, group: str) -> tuple[dict[str, Any], list[str]]:
    """Return a body that is answered and never stored, its fields of the types that `schema` tells, and warnings.

    Raises:
        ApiError: 400, 415.
    """
    document = decode_body(request, kind)
    reading.check_type(f"{group}/v1", kind, document)
    report = check(document, schema, require=False)
    title = f'{kind} in version "v1" cannot be handled as a {kind}'
    if report.wrong:
        raise ApiError(400, "BadRequest", f"{title}: {report.wrong[0].message}", report.wrong)
    unknown = [f'unknown field "{path}"' for path in report.unknown]
    asked = request.query.get("fieldValidation", "") or "Warn"
    if unknown and asked == "Strict":
        raise bad_request(f"{title}: strict decoding error: {', '.join(unknown)}")
    return document, unknown if asked == "Warn" else []


def warned(answer: Callable[[], Response], warnings: Sequence[str]) -> Response:
    """Return an answer with warnings beside it, or beside the refusal that it is."""
    try:
        response = answer()
    except ApiError as refusal:
        refusal.warnings = tuple(warnings)
        raise
    response.headers += map(warning, warnings[:WARNINGS_MAX])
    return response


class _Unrecognized(ApiError):
    """A body of which not even the kind can be read."""

    def __init__(self, why: str) -> None:
        super().__init__(400, "BadRequest", why)


def _unrecognized(request: Request, kind: str, why: str) -> ApiError:
    """Return the 400 of a body that names no kind (apiserver's handlers, transformDecodeError)."""
    shown = request.body[:_SUMMARY_BYTES]
    text = shown.decode("utf-8", "replace") if shown[:1] == b"{" else shown.hex()
    summary = (text if len(request.body) <= _SUMMARY_BYTES else f"{text} ...") or "<empty>"
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({summary})")


def decoded(request: Request) -> dict[str, Any]:
    """Return the document in a body.

    Raises:
        ApiError: 400, 413, 415.
    """
    kind = request.content_type
    if kind == PROTOBUF:
        if request.body and not request.body.startswith(protobuf.MAGIC):
            why = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
            raise _Unrecognized(why)
        document: Any = protobuf.decode(request.body)
    elif kind in _YAMLS:
        document = _yaml_body(request.body)
    elif kind in _JSONS:
        document = _json_body(request.body)
    else:
        raise ApiError(
            415,
            "UnsupportedMediaType",
            f"the body of the request was in an unknown format - accepted media types "
            f"include: {JSON}, {YAML}, {PROTOBUF}",
        )
    if document is None:
        document = {}
    if not isinstance(document, dict):
        given = json_name(document)
        why = f"json: cannot unmarshal {given} into Go value of type {_STRUCT}"
        raise _Unrecognized(f"{reading.UNTYPED}{why}")
    if too_deep(document):
        raise bad_request("the body is nested too deeply")
    return document


def _json_body(body: bytes) -> Any:
    try:
        return decode_json(body)
    except ApiError as error:
        why = syntax_error(body.decode("utf-8", "replace"))
        if not why:
            raise
        raise _Unrecognized(f"{reading.UNTYPED}{why}") from error


def _yaml_body(body: bytes) -> Any:
    try:
        return decode_yaml(body)
    except ApiError as error:
        why = yaml_error(error)
        if not why:
            raise
        raise _Unrecognized(why) from error


def yaml_error(error: ApiError) -> str:
    """Return what Go's reader says of a text that is no YAML, empty where it would not stop there."""
    wrong = error.__cause__
    if isinstance(wrong, yaml.reader.ReaderError):
        return "yaml: control characters are not allowed"
    if not isinstance(wrong, yaml.MarkedYAMLError) or wrong.problem_mark is None:
        return ""
    # It counts lines from nought where the text is well formed, but no document, and never tells of the first.
    begun = wrong.context_mark.line if wrong.context_mark is not None else 0
    line = begun or wrong.problem_mark.line
    line += bool(line) and isinstance(wrong, yaml.scanner.ScannerError)
    place = f"line {line}: " if line else ""
    return f"yaml: {place}{wrong.problem}"


def repeated_fields(request: Request, document: Any) -> Repeated | None:
    """Return what the body of a request says twice, where whoever sent it wants to know."""
    if request.query.get("fieldValidation") == "Ignore" or not request.body:
        return None
    if request.content_type in _YAMLS:
        return repeated_in_yaml(request.body)
    return repeated_in_json(request.body, document) if request.content_type in _JSONS else None


def spelled_members(request: Request, kind: Kind, document: Mapping[str, Any]) -> Mapping[str, bytes] | None:
    """Return how members of a request's body are spelled, where that counts; None: nowhere."""
    if not kind.spelled:
        return None
    if request.content_type in _JSONS:
        return spelling.sent(kind, _of_whole_letters(request.body))
    return spelling.rewritten(kind, document) if request.content_type in _YAMLS else None


def repeated_in_patch(request: Request, patch_type: PatchType, patch: Any) -> Repeated | None:
    """Return what the patch of a request says twice: it comes before what is unknown of what the patch makes."""
    if request.query.get("fieldValidation") == "Ignore":
        return None
    if patch_type == "apply":
        return repeated_in_applied(request.body, patch)
    found = repeated_in_json(request.body, patch)
    texts = [text for _, text in found.texts] if found is not None else []
    if patch_type == "json":
        texts = [f"json patch {text}" for text in (*texts, *map('unknown field "{}"'.format, unknown_members(patch)))]
    return Repeated(tuple((0, text) for text in texts), {}) if texts else None


_SURROGATE: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def _replaced(found: re.Match[bytes]) -> bytes:
    """Return halves of letters as Go reads them: as the sign of what is no letter."""
    return b"\\ufffd" if len(found[0]) == 6 else found[0]


def _of_whole_letters(body: bytes) -> bytes:
    """Return JSON without halves of letters, which msgspec does not read and Go does."""
    return _SURROGATE.sub(_replaced, body) if b"\\ud" in body or b"\\uD" in body else body


def decode_json(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises:
        ApiError: 400.
    """
    try:
        return msgspec.json.decode(_of_whole_letters(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_request(f"the body cannot be read as JSON: {error}") from error


def decode_yaml(body: bytes) -> Any:
    """Return the first YAML document of a body, the only one that an API server reads.

    Raises:
        ApiError: 400, 413.
    """
    if len(body) > MAX_YAML_BYTES:
        raise ApiError(413, "RequestEntityTooLarge", f"a YAML body has at most {MAX_YAML_BYTES} bytes; send JSON")
    return documents.first_yaml(body)
