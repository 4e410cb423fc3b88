"""Lists: selectors, pages that stay at one revision, and what a resourceVersion asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from clustersim.apiserver import continuing, protobuf
from clustersim.apiserver.continuing import ANY_REVISION, Token
from clustersim.apiserver.messages import PROTOBUF, Request, Response, json_response
from clustersim.apiserver.negotiation import Wanted, wanted_of
from clustersim.apiserver.routes import WATCH, Target
from clustersim.apiserver.selection import Selection, selection_of
from clustersim.apiserver.tables import age_by, partial, row, row_reader, told_table
from clustersim.apiserver.virtual import ReadView
from controllers.log.store import Gone, Stored
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid

EXPIRED: Final = "The resourceVersion for the provided list is too old."
CONTINUE_EXPIRED: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
CONTINUE_MS: Final = 300_000
"""How long a list goes on at its first page's revision once others followed: etcd is compacted as often upstream."""

_encode = msgspec.json.Encoder().encode
_REVISION_MAX: Final = 2**64 - 1
_SHOWN_MAX: Final = 80
"""Letters of a revision that cannot be read that are told."""

_SHALLOW: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Page(NamedTuple):
    """Some objects of a list, the revision at which they were read, and how it goes on."""

    items: Sequence[Stored]
    revision: int
    token: str
    remaining: int | None


def parse_revision(text: str) -> int:
    """Return a resourceVersion parameter as a number.

    Raises:
        ApiError: 400.
    """
    return read_revision(text, lambda why: bad_request(f"invalid resource version: {why}"))


def read_revision(text: str, refusal: Callable[[str], ApiError]) -> int:
    """Return a resourceVersion parameter as a number; `refusal` makes of upstream's words what is raised.

    Raises:
        ApiError: it is none that Go reads (strconv.ParseUint).
    """
    is_number = text.isascii() and text.isdigit()
    if not is_number or len(text) > _SHOWN_MAX or int(text) > _REVISION_MAX:
        why = "value out of range" if is_number else "invalid syntax"
        shown = text[:_SHOWN_MAX]
        raise refusal(f'resourceVersion: Invalid value: "{shown}": strconv.ParseUint: parsing "{shown}": {why}')
    return int(text)


def too_large(wanted_revision: int, current: int) -> ApiError:
    """Return the 504 of a revision that is not there yet."""
    return ApiError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {wanted_revision}, current: {current}",
        causes=[Cause("", "Too large resource version", "ResourceVersionTooLarge")],
        retry_after_seconds=1,
    )


def list_objects(store: ReadView, request: Request, target: Target) -> Response:
    """Answer a GET of a collection.

    Raises:
        ApiError: 400, 410 (a revision that is compacted), 422, 504 (one that is not there yet).
    """
    return rendered_page(store, request, target, page_of(store, request, target))


def rendered_page(store: ReadView, request: Request, target: Target, page: Page) -> Response:
    """Return objects of a collection in the form that the client accepts."""
    return _rendered(store, target.kind, page, list_head(page, target.kind), check_shown(request, target))


def check_shown(request: Request, target: Target) -> Wanted:
    """Return the form in which the client accepts a list of a kind.

    Raises:
        ApiError: 400, 406.
    """
    want = wanted_of(request, target.kind)
    want.check_include()
    want.check_shape(target.kind.api_version, target.kind.kind, listed=True)
    return want


def list_head(page: Page, kind: Kind) -> dict[str, Any]:
    """Return the metadata of a list; of a kind that nobody can watch it has no version."""
    metadata: dict[str, Any] = {"resourceVersion": str(page.revision)} if WATCH in kind.verbs else {}
    if page.token:
        metadata["continue"] = page.token
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    return metadata


def _rendered(store: ReadView, kind: Kind, page: Page, metadata: dict[str, Any], want: Wanted) -> Response:
    if want.form == "table":
        age = age_by(store.unix_ms())
        by = kind.row_order
        ordered = page.items if by is None else sorted(page.items, key=lambda stored: by(stored.object))
        # Row by row: ten thousand documents at once keep the collector of garbage busy for longer than all else takes.
        read = row_reader(kind, want)
        rows = [msgspec.Raw(_encode(row(kind, stored.known or read(stored.data), age, want))) for stored in ordered]
        return json_response(told_table(kind, rows, metadata, want))
    if want.form == "metadata":
        items = [partial(_document(stored), want.version, kind.converted) for stored in page.items]
        return json_response(
            {
                "kind": "PartialObjectMetadataList",
                "apiVersion": f"meta.k8s.io/{want.version}",
                "metadata": metadata,
                "items": items or None,
            }
        )
    if want.media == PROTOBUF:
        data = [stored.data for stored in page.items]
        return Response(200, protobuf.encode_list(kind.api_version, kind.kind, metadata, data), PROTOBUF)
    # The documents are JSON already: joining bytes costs a tenth of decoding and encoding thousands of pods.
    if kind.kept_in:
        # Lists of kinds that are defined have no type of their own: all is told.
        metadata = {"continue": "", **metadata}
    head = msgspec.json.encode({"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": metadata})
    # Items of a typed list do not repeat what the list says of them.
    shown = bytes if kind.kept_in else _untyped
    body = b'%b,"items":[%b]}\n' % (head[:-1], b",".join(shown(stored.data) for stored in page.items))
    return Response(200, body)


def _document(stored: Stored) -> dict[str, Any]:
    """Return a document for one look at it: it is not kept."""
    known = stored.known
    return msgspec.json.decode(stored.data) if known is None else known


def _untyped(data: bytes) -> bytes:
    """Return a document's JSON without its kind and apiVersion; the values are passed through as they are."""
    members = _SHALLOW.decode(data)
    members.pop("kind", None)
    members.pop("apiVersion", None)
    return msgspec.json.encode(members)


def selected(request: Request, target: Target) -> Selection:
    """Return what a request about a collection selects, once its options are found good.

    Raises:
        ApiError: 400, 422.
    """
    for number in ("timeoutSeconds", "limit"):
        request.number(number)
    match, version = request.query.get("resourceVersionMatch", ""), request.query.get("resourceVersion", "")
    return selection_of(request, target, lambda: _check_options(request, match, version))


def page_of(store: ReadView, request: Request, target: Target, *, in_pages: bool = False) -> Page:
    """Return what a request about a collection selects; `in_pages`: it is read page by page, so at one revision.

    Raises:
        ApiError: as `list_objects`.
    """
    selection = selected(request, target)
    limit = max(request.number("limit") or 0, 0)
    version = request.query.get("resourceVersion", "")
    match = request.query.get("resourceVersionMatch", "")
    token = continuing.read(request.query.get("continue", ""))
    if token is not None:
        if version not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        objects, revision = _continued(store, selection, token)
    elif version in ("", "0"):
        objects, revision = store.list(selection.resource, selection.namespace)
    else:
        exact = match == "Exact" or (match == "" and (limit > 0 or in_pages))
        objects, revision = _from_revision(store, selection, parse_revision(version), exact=exact)
    after = (token.namespace or selection.namespace or "", token.name) if token is not None else None
    if after is not None:
        objects = [stored for stored in objects if (stored.namespace, stored.name) > after]
    found = [stored for stored in objects if selection.matches(stored)]
    # What may be answered from a cache is, and whole.
    if not limit or len(found) < limit or match == "NotOlderThan" or version == "0" or selection.single:
        return Page(found, revision, "", None)
    last = found[limit - 1]
    end = objects[-1]
    if (last.namespace, last.name) == (end.namespace, end.name):
        return Page(found, revision, "", None)
    # As upstream: whether more will match is not known before it is read.
    remaining = len(found) - limit if selection.everything else None
    namespace = "" if selection.namespace else last.namespace
    return Page(found[:limit], revision, continuing.written(Token(revision, namespace, last.name)), remaining)


def _check_options(request: Request, match: str, version: str) -> None:
    """Refuse options that do not go together, as upstream's ValidateListOptions."""
    where = "resourceVersionMatch"
    causes = []
    if match:
        if not version:
            causes.append(fields.not_allowed(where, f"{where} is forbidden unless resourceVersion is provided"))
        if request.query.get("continue"):
            causes.append(fields.not_allowed(where, f"{where} is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            causes.append(fields.unsupported(where, match, ("Exact", "NotOlderThan", ""), ordered=False))
        if match == "Exact" and version == "0":
            causes.append(fields.not_allowed(where, f'{where} "exact" is forbidden for resourceVersion "0"'))
    if request.query.get("sendInitialEvents") is not None:
        causes.append(fields.not_allowed("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)


def _from_revision(
    store: ReadView, selection: Selection, wanted_revision: int, *, exact: bool
) -> tuple[Sequence[Stored], int]:
    if not exact:
        objects, revision = store.list(selection.resource, selection.namespace)
        if revision < wanted_revision:
            raise too_large(wanted_revision, revision)
        return objects, revision
    current = store.revision
    if current < wanted_revision:
        raise too_large(wanted_revision, current)
    try:
        return store.list_at(selection.resource, wanted_revision, selection.namespace), wanted_revision
    except Gone as error:
        raise ApiError(410, "Expired", EXPIRED) from error


def _continued(store: ReadView, selection: Selection, token: Token) -> tuple[Sequence[Stored], int]:
    if token.revision == ANY_REVISION:
        return store.list(selection.resource, selection.namespace)
    if token.revision > store.revision:
        raise bad_request("continue key is not valid: it is from another session")
    try:
        if store.age_ms(token.revision) >= CONTINUE_MS:
            raise Gone
        return store.list_at(selection.resource, token.revision, selection.namespace), token.revision
    except Gone as error:
        fresh = continuing.written(token._replace(revision=ANY_REVISION))
        raise ApiError(410, "Expired", CONTINUE_EXPIRED, extra={"metadata": {"continue": fresh}}) from error
