"""What form of an answer a client accepts: JSON, YAML or protobuf, whole objects, tables, or metadata alone.

Source: apiserver's endpoints/handlers/negotiation/negotiate.go and rest.go (AllowsMediaTypeTransform); what is refused
before a handler sees it, go-restful's route.go (matchesAccept).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import msgspec

from clustersim.apiserver import protobuf
from clustersim.apiserver.messages import JSON, PROTOBUF, YAML, Request, Response
from clustersim.documents import kubernetes_yaml
from controllers.registry.kind import Kind
from scheduler_core.api.errors import ApiError, bad_request

Form = Literal["objects", "table", "metadata"]

ACCEPTED: Final = (JSON, YAML, PROTOBUF)
"""What upstream writes, in its order."""

STREAMED: Final = "stream=watch"
_STREAMS: Final = (f"{JSON};{STREAMED}", f"{PROTOBUF};{STREAMED}")
_INCLUDED: Final = ("Metadata", "Object", "None")
"""How much of an object a row may carry."""

STREAMED_TOO: Final = (*ACCEPTED, *_STREAMS)
"""What a path that can be watched produces."""

_META: Final = "meta.k8s.io"
_VERSIONS: Final = ("v1", "v1beta1")
_METADATA: Final = "PartialObjectMetadata"
_METADATA_LIST: Final = "PartialObjectMetadataList"

_PACKAGES: Final = {"": "core", "events": "core"}
"""What upstream's packages of internal types are called, by the group's first word where that is not their name."""

_UNTYPED: Final = "unstructured.Unstructured"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form of the answer, and how much of the object a table row carries."""

    form: Form
    include: str = "Metadata"
    media: str = JSON
    version: str = "v1"
    """The version of `meta.k8s.io` in which tables and metadata are written."""
    listed: bool = False
    """Whether the metadata of a list is wanted, not of one object."""

    def check_include(self) -> None:
        """Refuse rows of a table that are to carry what nobody knows.

        Raises:
            ApiError: 400.
        """
        if self.form == "table" and self.include not in _INCLUDED:
            why = f"Invalid value: \"{self.include}\": must be 'Metadata', 'Object', 'None', or empty"
            raise bad_request(f"Unable to convert to Table as requested: includeObject: {why}")

    def check_shape(self, api_version: str, kind: str, *, listed: bool) -> None:
        """Refuse metadata of one object where a list is answered, and the other way round (asPartialObjectMetadata…).

        Raises:
            ApiError: 406.
        """
        if self.form != "metadata" or listed is self.listed:
            return
        is_list = "is a list" if listed else "is not a list"
        group = api_version.rpartition("/")[0].partition(".")[0]
        of = f"{_PACKAGES.get(group, group)}.{kind}" if protobuf.is_known(api_version, kind) else _UNTYPED
        wished, shape = (_METADATA_LIST, of) if self.listed else (_METADATA, f"{of}List")
        raise ApiError(406, "NotAcceptable", f"you requested {wished}, but the requested object {is_list} (*{shape})")


class _Clause(NamedTuple):
    media: str
    parameters: dict[str, str]

    quality: float = 1.0

    @property
    def converts(self) -> bool:
        return any(self.parameters.get(key) for key in ("as", "g", "v"))

    def takes(self, media: str) -> bool:
        """Return whether it takes a media type, with what it says of streams and of versions of the server."""
        stream = self.parameters.get("stream")
        if (stream and (stream != "watch" or media == YAML)) or self.parameters.get("sv", "v1") != "v1":
            return False
        return self.media in (media, "*/*", f"{media.partition('/')[0]}/*")

    def before(self, other: _Clause) -> bool:
        """Return whether it is preferred to another: not always one of the two is, and of three none need be first."""
        if self.quality > other.quality:
            return True
        (kind, _, of), (its_kind, _, its) = self.media.partition("/"), other.media.partition("/")
        return (kind != "*" and its_kind == "*") or (of != "*" and its == "*")


def clauses_of(request: Request) -> Sequence[_Clause]:
    """Return what a client accepts, the preferred first; of whom says nothing, everything."""
    return _clauses(request.headers.get("accept", "").strip() or "*/*")


def check_acceptable(request: Request, *, produced: Sequence[str] = ACCEPTED) -> None:
    """Refuse what a route does not produce, whatever is asked.

    Raises:
        ApiError: 406.
    """
    header = request.headers.get("accept", "").strip()
    if not header or any(_media(text) in (*produced, "*/*") for text in header.split(",")):
        return
    why = f"406: Not Acceptable\n\nAvailable representations: {', '.join(produced)}"
    raise ApiError(406, "NotAcceptable", why, extra={"details": {}})


def wanted(request: Request, *, tables: bool = True, binary: bool = True) -> Wanted:
    """Return the form that the Accept header prefers among those that are served.

    `binary`: whether whole objects have a protobuf; those of custom resources have none, their metadata has.

    Raises:
        ApiError: 406.
    """
    include = request.query.get("includeObject", "") or "Metadata"
    header = request.headers.get("accept", "").strip()
    if not header:
        return Wanted("objects", include)
    for clause in _clauses(header):
        for media in filter(clause.takes, ACCEPTED):
            form = _form(clause, media, tables=tables)
            if form is not None and (binary or media != PROTOBUF or form != "objects"):
                listed = clause.parameters.get("as") == _METADATA_LIST
                return Wanted(form, include, media, clause.parameters.get("v", "v1"), listed)
    raise _not_acceptable()


def plain_media(request: Request) -> str:
    """Return the media type preferred where nothing is converted: documents of discovery, refusals.

    Raises:
        ApiError: 406.
    """
    header = request.headers.get("accept", "").strip()
    if not header:
        return JSON
    for clause in _clauses(header):
        for media in filter(clause.takes, ACCEPTED):
            if not clause.converts:
                return media
    raise _not_acceptable()


def wanted_of(request: Request, kind: Kind, *, tables: bool = True) -> Wanted:
    """Return the form that the Accept header prefers among those in which objects of a kind are served.

    Raises:
        ApiError: 406.
    """
    return wanted(request, tables=tables, binary=protobuf.is_known(kind.api_version, kind.kind))


def wanted_stream(request: Request, kind: Kind) -> Wanted:
    """Return the form in which a watch is preferred: what would be YAML is not sent at all.

    Raises:
        ApiError: 406.
    """
    want = wanted_of(request, kind)
    if want.media == YAML:
        raise _not_acceptable(_STREAMS)
    return want


def _form(clause: _Clause, media: str, *, tables: bool) -> Form | None:
    """Return the form that a clause asks for; None: it is not served."""
    if not clause.converts:
        return "objects"
    if clause.parameters.get("g") != _META or clause.parameters.get("v") not in _VERSIONS:
        return None
    match clause.parameters.get("as"):
        case "Table" if tables and media != PROTOBUF:
            return "table"
        case "PartialObjectMetadata" | "PartialObjectMetadataList":
            return "metadata"
        case _:
            return None


def _not_acceptable(served: Sequence[str] = ACCEPTED) -> ApiError:
    why = f"only the following media types are accepted: {', '.join(served)}"
    return ApiError(406, "NotAcceptable", why)


AGGREGATED: Final = "v2"
"""The version of aggregated discovery that is served."""


def aggregated_version(request: Request) -> str:
    """Return the version of aggregated discovery that the client prefers, empty for the plain one.

    Raises:
        ApiError: 406.
    """
    return _aggregated(request)[0]


def _aggregated(request: Request) -> tuple[str, str]:
    """Return the version of aggregated discovery and its media type: wherever it is accepted, it is preferred."""
    for clause in _clauses(request.headers.get("accept", "").strip()):
        asked = tuple(clause.parameters.get(key) for key in ("g", "v", "as"))
        if asked == ("apidiscovery.k8s.io", AGGREGATED, "APIGroupDiscoveryList"):
            for media in filter(clause.takes, ACCEPTED):
                return AGGREGATED, media
    return "", plain_media(request)


def formed(request: Request, response: Response) -> Response:
    """Return an answer in the media type that the client prefers; a refusal too, if that asks for no conversion."""
    of, separator, parameters = response.content_type.partition(";")
    accept = request.headers.get("accept", "")
    if response.plain or of != JSON or not response.body:
        return response
    if "yaml" not in accept and "protobuf" not in accept:
        return _laid_out(request, response)
    try:
        if separator:
            media = _aggregated(request)[1]
        else:
            media = plain_media(request) if response.status >= 400 else wanted(request).media
    except ApiError:
        return response
    if media == YAML:
        response.body = kubernetes_yaml(msgspec.json.decode(response.body)).encode()
        response.content_type = YAML + separator + parameters
    elif media == PROTOBUF and (body := protobuf.encode_json(response.body)) is not None:
        response.body = body
        response.content_type = PROTOBUF + separator + parameters
    else:
        return _laid_out(request, response)
    return response


_PEOPLE: Final = ("curl", "Wget")
"""What the names of clients begin with that show a person what they are sent; a browser's address bar does so too."""


def _laid_out(request: Request, response: Response) -> Response:
    """Lay out JSON for people who read it: who asks so, or with such a client.

    Upstream does so for whatever calls itself a browser; a page's own script would get a third more to load.
    Source: k8s.io/apiserver/pkg/endpoints/handlers/negotiation (isPrettyPrint), v1.34.
    """
    asked = request.query.get("pretty", "")
    agent = request.headers.get("user-agent", "")
    reads = agent.startswith(_PEOPLE) or request.headers.get("sec-fetch-dest") == "document"
    if asked.lower() not in ("0", "f", "false") if asked else reads:
        response.body = msgspec.json.format(response.body, indent=2)
    return response


def _clauses(header: str) -> Sequence[_Clause]:
    """Return what a header accepts, the preferred first, as goautoneg reads and Go's insertion sort orders it."""
    found: list[_Clause] = []
    for text in header.split(","):
        clause = _clause(text.strip(" "))
        if clause is None:
            continue
        at = len(found)
        while at and clause.before(found[at - 1]):
            at -= 1
        found.insert(at, clause)
    return found


def _media(text: str) -> str:
    return text.partition(";")[0].strip(" ")


def _clause(text: str) -> _Clause | None:
    """Return one of the things that are accepted; None: nobody can tell what."""
    media = _media(text)
    kind, _, of = media.partition("/")
    if media == "*":
        kind, of = "*", "*"
    elif not of or "/" in of:
        return None
    parameters, quality = {}, 1.0
    for part in text.split(";")[1:]:
        key, _, value = part.partition("=")
        key = key.strip(" ")
        if not value or "=" in value:
            continue
        if key == "q":
            quality = _quality(value)
        else:
            parameters[key] = value.strip(" ")
    return _Clause(f"{kind.strip(' ')}/{of.strip(' ')}", parameters, quality)


def _quality(text: str) -> float:
    """Return a number as Go reads it: nought where it is none."""
    return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) else 0.0
