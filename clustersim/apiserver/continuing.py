"""Continue tokens: where a list in pages goes on, in the form that upstream gives them.

Source: k8s.io/apiserver `storage.EncodeContinue` and `DecodeContinue`.
"""

from __future__ import annotations

import posixpath
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final, NamedTuple

import msgspec

from scheduler_core.api.errors import ApiError, bad_request

VERSION: Final = "meta.k8s.io/v1"
ANY_REVISION: Final = -1
"""Revision in a token that goes on with whatever is current."""

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")
_BEGINS: Final = re.compile(r'\s*(?:[\[{"0-9-]|true|false|null)')


class Token(NamedTuple):
    """A list goes on after this object, at this revision."""

    revision: int
    namespace: str
    name: str


class _Written(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""


def written(token: Token) -> str:
    """Return a token as clients get it."""
    place = f"{token.namespace}/{token.name}" if token.namespace else token.name
    text = msgspec.json.encode(_Written(VERSION, token.revision, f"{place}\0"))
    return urlsafe_b64encode(text).rstrip(b"=").decode()


def read(text: str) -> Token | None:
    """Return what a `continue` parameter means, None for an empty one.

    Raises:
        ApiError: 400, not one of ours.
    """
    if not text:
        return None
    foreign = _FOREIGN.search(text)
    if foreign is not None or len(text) % 4 == 1:
        at = foreign.start() if foreign is not None else len(text) - 1
        raise _unreadable(f"illegal base64 data at input byte {at}")
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    try:
        found = msgspec.json.decode(raw, type=_Written)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Go's decoder tells of a byte.
        shown = raw.decode("latin-1").lstrip(" \t\r\n")
        if shown and not _BEGINS.match(shown):
            letter = shown[0] if shown[0].isprintable() else f"\\u{ord(shown[0]):04x}"
            raise _unreadable(f"invalid character '{letter}' looking for beginning of value") from error
        raise _unreadable("unexpected end of JSON input") from error
    if found.v != VERSION:
        raise _unreadable(f"server does not recognize this encoded version {found.v}")
    if found.rv == 0:
        raise _unreadable(f"incorrect encoded start resourceVersion (version {VERSION})")
    if not found.start:
        raise _unreadable(f"encoded start key empty (version {VERSION})")
    place = f"/{found.start.removeprefix('/')}"
    if posixpath.normpath(place) != place:
        raise _unreadable(found.start)
    namespace, _, name = found.start.removesuffix("\0").rpartition("/")
    return Token(found.rv, namespace, name)


def _unreadable(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
