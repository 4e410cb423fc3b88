"""The frames of SPDY/3.1, as far as a server of forwarded ports needs them: values in and out, no sockets.

Source: the SPDY protocol, drafts 3 and 3.1 (dev.chromium.org/spdy). Frames of control: a bit that is set, 15 bits of
version, 16 of kind, 8 of flags, 24 of length; of data: 31 bits of stream, 8 of flags, 24 of length. Nobody controls the
flow, as nobody does in the library of Kubernetes' own clients: WINDOW_UPDATE is heard and none is sent.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

FRAME_BYTES_MAX: Final = 256 * 1024
"""Bytes of one SPDY frame; kubectl sends 32 KiB."""

HEADER_BYTES_MAX: Final = 16 * 1024
"""Bytes of the headers of one SPDY stream, unpacked; kubectl sends a hundred."""

VERSION: Final = 3
SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
FIN: Final = 0x01

REFUSED_STREAM: Final = 3
"""The status of a stream that nobody has looked at."""

PROTOCOL_ERROR: Final = 1
"""The status by which one leaves who sends nonsense."""

_WORDS: Final = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_PHRASES: Final = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_REST: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)

DICTIONARY: Final = (
    b"".join(struct.pack(">I", len(word)) + word.encode() for word in (*_WORDS.split(), *_PHRASES)) + _REST.encode()
)
"""What both sides know before the first header (draft 3, 2.6.10.1)."""


class BadFrame(ValueError):
    """What came is no SPDY; the message says why."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream begins."""

    stream: int
    headers: Mapping[str, str]
    ended: bool
    """Whether nothing comes on it."""


@dataclass(frozen=True, slots=True)
class Received:
    """Something came on a stream."""

    stream: int
    data: bytes
    ended: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """The client wants nothing more of a stream."""

    stream: int


@dataclass(frozen=True, slots=True)
class Pinged:
    """The client wants to hear the same number."""

    number: int


Happening = Opened | Received | Dropped | Pinged


class Reader:
    """Reads what a client sends, in pieces of any size."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._buffer = bytearray()
        self._unpacker = zlib.decompressobj(zdict=DICTIONARY)
        self._last = 0

    def read(self, data: bytes) -> Iterator[Happening]:
        """Yield what has happened by now.

        Raises:
            BadFrame: nothing that follows could be read.
        """
        self._buffer += data
        while len(self._buffer) >= 8:
            first, second = struct.unpack_from(">II", self._buffer)
            flags, length = second >> 24, second & 0xFFFFFF
            if length > FRAME_BYTES_MAX:
                raise BadFrame(f"a frame has at most {FRAME_BYTES_MAX} bytes")
            if len(self._buffer) < 8 + length:
                return
            body = bytes(self._buffer[8 : 8 + length])
            del self._buffer[: 8 + length]
            if not first >> 31:
                yield Received(first, body, bool(flags & FIN))
            elif (first >> 16) & 0x7FFF != VERSION:
                raise BadFrame(f"version {VERSION} is spoken here")
            else:
                yield from self._control(first & 0xFFFF, flags, body)

    def _control(self, kind: int, flags: int, body: bytes) -> Iterator[Happening]:
        if len(body) < _LEAST.get(kind, 0):
            raise BadFrame(f"a frame of kind {kind} is too short")
        number = struct.unpack_from(">I", body)[0] if kind in _LEAST else 0
        stream = number & 0x7FFFFFFF
        if kind == SYN_STREAM:
            headers = self._headers(body[10:])
            if not stream % 2 or stream <= self._last:
                raise BadFrame(f"{stream} is no number of a client's next stream")
            self._last = stream
            yield Opened(stream, headers, bool(flags & FIN))
        elif kind in (SYN_REPLY, HEADERS):
            # Nothing of it is wanted, but the headers that follow are packed in the light of these.
            self._headers(body[4:])
        elif kind == RST_STREAM:
            yield Dropped(stream)
        elif kind == PING:
            yield Pinged(number)

    def _headers(self, block: bytes) -> dict[str, str]:
        try:
            text = self._unpacker.decompress(block, HEADER_BYTES_MAX)
        except zlib.error as error:
            raise BadFrame("headers cannot be unpacked") from error
        if self._unpacker.unconsumed_tail:
            raise BadFrame(f"headers have at most {HEADER_BYTES_MAX} bytes")
        found: dict[str, str] = {}
        try:
            (count,), at = struct.unpack_from(">I", text), 4
            for _ in range(count):
                name, at = _text(text, at)
                found[name], at = _text(text, at)
        except struct.error as error:
            raise BadFrame("headers are cut off") from error
        return found


def _text(data: bytes, at: int) -> tuple[str, int]:
    """Return (a text that its length stands before, where it ends)."""
    (length,) = struct.unpack_from(">I", data, at)
    end = at + 4 + length
    if end > len(data):
        raise BadFrame("headers are cut off")
    return data[at + 4 : end].decode("latin-1"), end


_LEAST: Final = {SYN_STREAM: 10, SYN_REPLY: 4, RST_STREAM: 8, PING: 4, GOAWAY: 8, HEADERS: 4, WINDOW_UPDATE: 8}
"""Bytes that a frame has at least, by its kind."""


class Writer:
    """Makes what a server sends."""

    def __init__(self) -> None:
        """Send nothing yet."""
        self._packer = zlib.compressobj(zdict=DICTIONARY)

    def reply(self, stream: int) -> bytes:
        """Return the frame that takes a stream, without headers."""
        block = self._packer.compress(struct.pack(">I", 0)) + self._packer.flush(zlib.Z_SYNC_FLUSH)
        return control(SYN_REPLY, struct.pack(">I", stream) + block)


def control(kind: int, body: bytes, flags: int = 0) -> bytes:
    """Return a frame of control."""
    return struct.pack(">HHI", 0x8000 | VERSION, kind, flags << 24 | len(body)) + body


def reset(stream: int, status: int) -> bytes:
    """Return the frame that refuses a stream."""
    return control(RST_STREAM, struct.pack(">II", stream, status))


def pong(number: int) -> bytes:
    """Return the answer to a ping."""
    return control(PING, struct.pack(">I", number))


def farewell(last: int, status: int) -> bytes:
    """Return the frame after which nothing comes; `last` is the last stream that was taken."""
    return control(GOAWAY, struct.pack(">II", last, status))


def data(stream: int, body: bytes, *, ended: bool = False) -> bytes:
    """Return a frame of data."""
    return struct.pack(">II", stream, (FIN if ended else 0) << 24 | len(body)) + body
