"""Frames of SPDY: what is read of them, in pieces of any size, and what is refused."""

from __future__ import annotations

import struct
import zlib

import pytest

from clustersim.apiserver import spdy
from clustersim.apiserver.spdy import BadFrame, Dropped, Happening, Opened, Pinged, Reader, Received, Writer


class Client:
    """Makes the frames of a client; what it packs is packed in the light of what it packed before."""

    def __init__(self) -> None:
        self.packer = zlib.compressobj(zdict=spdy.DICTIONARY)

    def block(self, pairs: list[tuple[str, str]], count: int | None = None) -> bytes:
        text = struct.pack(">I", len(pairs) if count is None else count)
        for one in (word.encode() for pair in pairs for word in pair):
            text += struct.pack(">I", len(one)) + one
        return self.packed(text)

    def packed(self, text: bytes) -> bytes:
        return self.packer.compress(text) + self.packer.flush(zlib.Z_SYNC_FLUSH)

    def opens(self, stream: int, flags: int = 0, **headers: str) -> bytes:
        return self.opens_with(stream, self.block(list(headers.items())), flags)

    def opens_with(self, stream: int, block: bytes, flags: int = 0) -> bytes:
        return spdy.control(spdy.SYN_STREAM, struct.pack(">IIH", stream, 0, 0) + block, flags)


def read(data: bytes, size: int = 1 << 20) -> list[Happening]:
    reader = Reader()
    return [one for at in range(0, len(data), size) for one in reader.read(data[at : at + size])]


def test_the_dictionary_is_the_one_that_everybody_has() -> None:
    # Adler-32 of it stands in the first packed header of each connection (RFC 1950, DICTID).
    assert zlib.adler32(spdy.DICTIONARY) == 0xE3C6A7C2


@pytest.mark.parametrize("size", [1, 3, 7, 1 << 20])
def test_what_comes_is_told_in_pieces_of_any_size(size: int) -> None:
    client = Client()
    sent = b"".join((
        client.opens(1, spdy.FIN, streamtype="error", port="80"),
        spdy.control(spdy.SETTINGS, struct.pack(">III", 1, 4, 100)),
        client.opens(3, streamtype="data", port="80"),
        spdy.data(3, b"GET "),
        spdy.control(spdy.WINDOW_UPDATE, struct.pack(">II", 3, 8)),
        spdy.control(spdy.HEADERS, struct.pack(">I", 3) + client.block([("more", "1")])),
        client.opens(5, port="81"),
        spdy.data(3, b"/", ended=True),
        spdy.control(spdy.PING, struct.pack(">I", 7)),
        spdy.control(spdy.RST_STREAM, struct.pack(">II", 3, 5)),
        spdy.control(spdy.GOAWAY, struct.pack(">II", 0, 0)),
        spdy.control(99, b"nobody knows it"),
    ))  # fmt: skip
    assert read(sent, size) == [
        Opened(1, {"streamtype": "error", "port": "80"}, ended=True),
        Opened(3, {"streamtype": "data", "port": "80"}, ended=False),
        Received(3, b"GET ", ended=False),
        Opened(5, {"port": "81"}, ended=False),
        Received(3, b"/", ended=True),
        Pinged(7),
        Dropped(3),
    ]


def test_what_is_sent_is_read_by_the_other_side() -> None:
    unpacker = zlib.decompressobj(zdict=spdy.DICTIONARY)
    writer = Writer()
    for stream in (1, 3):
        frame = writer.reply(stream)
        assert struct.unpack(">HHII", frame[:12]) == (0x8003, spdy.SYN_REPLY, len(frame) - 8, stream)
        assert unpacker.decompress(frame[12:]) == b"\0\0\0\0", "no headers"
    assert spdy.data(5, b"ab", ended=True) == b"\0\0\0\5\1\0\0\2ab"
    assert spdy.reset(5, spdy.REFUSED_STREAM) == b"\x80\3\0\3\0\0\0\x08\0\0\0\5\0\0\0\3"
    assert spdy.pong(9) == b"\x80\3\0\6\0\0\0\4\0\0\0\x09"
    assert spdy.farewell(3, spdy.PROTOCOL_ERROR) == b"\x80\3\0\7\0\0\0\x08\0\0\0\3\0\0\0\1"


def bomb() -> bytes:
    return Client().opens_with(1, Client().packed(b"\0" * 50_000_000))


BAD = {
    "another version": struct.pack(">HHI", 0x8002, spdy.PING, 4) + b"\0\0\0\1",
    "too long": spdy.data(1, b"x" * (spdy.FRAME_BYTES_MAX + 1)),
    "too short to open": spdy.control(spdy.SYN_STREAM, b"\0\0\0\1"),
    "too short to ping": spdy.control(spdy.PING, b"\0"),
    "too short to drop": spdy.control(spdy.RST_STREAM, b"\0\0\0\1"),
    "a stream of the server's": Client().opens(2, port="80"),
    "no stream": Client().opens(0, port="80"),
    "not packed": Client().opens_with(1, b"port: 80"),
    "no headers": Client().opens_with(1, b""),
    "more headers told than there are": Client().opens_with(1, Client().block([("port", "80")], 4_000_000_000)),
    "a name longer than there is": Client().opens_with(1, Client().packed(b"\0\0\0\1\xff\xff\xff\xffport")),
    "much in little": bomb(),
}


@pytest.mark.parametrize("frame", BAD.values(), ids=BAD)
def test_nonsense_is_refused(frame: bytes) -> None:
    with pytest.raises(BadFrame):
        read(frame)


def test_a_number_of_a_stream_is_used_once() -> None:
    client = Client()
    with pytest.raises(BadFrame):
        read(client.opens(3, port="80") + client.opens(3, port="80"))
