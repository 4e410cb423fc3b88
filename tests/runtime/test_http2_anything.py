"""Anything a client may say by HTTP/2 while its requests are answered: no exception, and nothing is left."""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from hpack import Encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.http2bench import Bench

ODD = {
    ":method": ["GET", "POST", "CONNECT"], ":path": ["/a?b=c", "", "*", "ü"], ":scheme": ["https"],
    ":authority": ["a", ""], "host": ["b"], "content-length": ["5", "99999", "-1", "x"], "expect": ["100-continue"],
    "cookie": ["a=b", ";=;"], "upgrade": ["websocket"], "te": ["trailers"], "connection": ["close"], "A": ["b"],
    "content-type": ["multipart/form-data", "application/x-www-form-urlencoded"], "a_b": ["c", "ü"],
    "daphne-root-path": ["x", "ü", "%"],
}  # fmt: skip
HEADERS = st.lists(st.sampled_from([(name, value) for name, values in ODD.items() for value in values]), max_size=8)
WHOLE = [(":method", "POST"), (":path", "/a"), (":scheme", "https"), (":authority", "a")]
NUMBERS = st.sampled_from([0, 1, 2, 3, 5, 7, 9, 2**31 - 1])
FLAGS = st.sampled_from([0, 1, 4, 5, 8, 0x20, 0x25, 0xFF])


def frame(kind: int, flags: int, number: int, payload: bytes) -> bytes:
    return struct.pack(">HBBBI", len(payload) >> 8, len(payload) & 0xFF, kind, flags, number) + payload


@st.composite
def heads(draw: st.DrawFn) -> tuple[str, Any]:
    pairs = draw(st.just(WHOLE) | HEADERS.map(lambda more: WHOLE + more) | HEADERS)
    return "head", (draw(st.sampled_from([4, 5, 5, 0, 1])), draw(NUMBERS), pairs)


@st.composite
def frames(draw: st.DrawFn) -> tuple[str, Any]:
    kind = draw(st.integers(0, 12))
    sizes = {2: 5, 3: 4, 6: 8, 8: 4}
    some = st.binary(max_size=40)
    size = sizes.get(kind)
    payload = draw(some if size is None else st.binary(min_size=size, max_size=size) | some)
    if kind == 4:
        pairs = draw(
            st.lists(st.tuples(st.integers(0, 10), st.sampled_from([0, 1, 100, 16_384, 65_535, 2**31, 2**32 - 1])))
        )
        payload = b"".join(struct.pack(">HI", *pair) for pair in pairs)
    return "frame", frame(kind, draw(FLAGS), draw(NUMBERS), payload)


ANY = st.integers(0, 5)
FINE = st.lists(
    st.sampled_from([("expect", "100-continue"), ("cookie", ";=;"), ("te", "trailers"), ("a_b", "c")]), max_size=2
)
SIZES = st.sampled_from([0, 1, 900, 20_000, 100_000])
# Most of what is said is allowed, else nothing would come of it; each names one of the requests so far.
FAIR = st.one_of(
    st.tuples(st.just("ask"), st.tuples(st.booleans(), FINE)),
    st.tuples(st.just("data"), st.tuples(ANY, st.sampled_from([0, 1, 900, 1_200]), st.booleans())),
    st.tuples(st.just("reset"), ANY),
    st.tuples(st.just("window"), st.tuples(ANY, st.sampled_from([1, 1_000, 70_000]))),
    st.tuples(st.just("all windows"), st.sampled_from([0, 1, 1_000, 65_535])),
    st.tuples(st.just("reply"), st.tuples(ANY, SIZES, st.booleans())),
    st.sampled_from([("wait", 1), ("wait", 14), ("full", 0), ("room", 0)]),
)
FOUL = st.one_of(heads(), frames(), st.tuples(st.just("frame"), st.binary(max_size=30)))


class Play:
    """A connection on which things are said one after another, some of them together."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.encoder = Encoder()
        self.last = -1
        self.sending: set[int] = set()
        """Requests whose bodies are not whole."""
        self.together = b""
        self.bench.server.dataReceived(self.bench.talk.out())

    def number(self, index: int) -> int:
        """Return one of the streams so far; 0: all of them."""
        return max(0, self.last - 2 * index)

    def said(self, what: str, value: Any) -> bytes | None:
        """Return what a client says in these words; None: it says nothing."""
        match what:
            case "ask":
                self.last += 2
                ends, pairs = value
                if not ends:
                    self.sending.add(self.last)
                return frame(1, 4 | ends, self.last, self.encoder.encode(WHOLE + pairs))
            case "data" if self.number(value[0]) in self.sending:
                if value[2]:
                    self.sending.remove(self.number(value[0]))
                return frame(0, value[2], self.number(value[0]), b"x" * value[1])
            case "reset" if self.number(value) > 0:
                self.sending.discard(self.number(value))
                return frame(3, 0, self.number(value), struct.pack(">I", 8))
            case "window":
                return frame(8, 0, self.number(value[0]), struct.pack(">I", value[1]))
            case "all windows":
                return frame(4, 0, 0, struct.pack(">HI", 4, value))
            case "head":
                return frame(1, value[0], value[1], self.encoder.encode(value[2]))
            case "frame":
                return bytes(value)
        return None

    def do(self, what: str, value: Any, *, at_once: bool) -> None:
        said = self.said(what, value)
        if said is not None:
            self.together += said
        if at_once:
            self.bench.server.dataReceived(self.together)
            self.together = b""
        if what == "wait":
            self.bench.clock.pump([5.0] * value)
        elif what == "full":
            self.bench.server.pauseProducing()
        elif what == "room":
            self.bench.server.resumeProducing()
        elif what == "reply" and self.bench.asked:
            self.reply(*value)

    def reply(self, index: int, size: int, more: bool) -> None:
        """Do what Daphne's server does with a part of an answer."""
        request = self.bench.asked[-1 - index % len(self.bench.asked)]
        if request not in self.bench.open:
            return
        if not request._response_started:
            request.handle_reply({"type": "http.response.start", "status": 200, "headers": []})
        request.handle_reply({"type": "http.response.body", "body": b"x" * size, "more_body": more})


class Errors(logging.Handler):
    """What the server would have logged as its own fault."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@pytest.fixture(scope="module")
def errors() -> Iterator[Errors]:
    made = Errors()
    logging.getLogger("daphne").addHandler(made)
    yield made
    logging.getLogger("daphne").removeHandler(made)


@settings(max_examples=300, deadline=None)
@given(fair=st.lists(st.tuples(FAIR, st.booleans()), min_size=5, max_size=40), foul=st.lists(FOUL, max_size=2))
def test_whatever_is_said_nothing_breaks(
    errors: Errors, fair: list[tuple[tuple[str, Any], bool]], foul: list[tuple[str, Any]]
) -> None:
    play = Play()
    server = play.bench.server
    for (what, value), at_once in [*fair, *((one, True) for one in foul)]:
        play.do(what, value, at_once=at_once)
        assert server._unsent == sum(stream.unsent for stream in server._streams.values())
    server.connectionLost()
    assert not play.bench.open
    assert not server._streams
    assert not server._due
    assert not server._blocked
    assert not play.bench.clock.getDelayedCalls()
    assert not errors.said
