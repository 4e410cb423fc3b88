"""HTTP/2 by itself: one connection over a transport of memory and a clock that stands, and an application by hand."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from hpack import Decoder
from twisted.internet.task import Clock
from twisted.web import http

from clustersim.runtime.boundedrequest import BoundedRequest
from clustersim.runtime.http2 import sending
from clustersim.runtime.http2.choosing import FAREWELL_SECONDS, Choosing
from clustersim.runtime.http2.connection import LOOK_SECONDS, Connection
from clustersim.runtime.http2.heads import PlainEncoder
from clustersim.runtime.http2.rules import STREAMS_MAX, new_rules
from clustersim.runtime.http2.sending import ANSWER_SECONDS, TURN_BYTES
from tests.tools.http2bench import IDLE, MOST, Bench, Producer, Transport


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    made.swap()
    yield made
    assert not made.server._unsent - sum(one.unsent for one in made.server._streams.values())


def test_a_request_is_answered(bench: Bench) -> None:
    number = bench.ask("/a?b=c", headers={"cookie": "d=e", "accept": "f"})
    scope = bench.scopes[0]
    assert (scope["http_version"], scope["method"], scope["path"], scope["query_string"]) == ("2", "GET", "/a", b"b=c")
    assert scope["scheme"] == "https"
    assert dict(scope["headers"]) == {b"host": b"127.0.0.1", b"cookie": b"d=e", b"accept": b"f"}
    bench.reply(b"hello")
    answer = bench.talk.answers[number]
    assert (answer.status, answer.headers["x-a"], answer.body, answer.ended) == (200, "b", b"hello", True)
    assert not bench.server._streams
    bench.asked[0].handle_reply({"type": "http.response.body", "body": b"more"})
    bench.swap()
    assert answer.body == b"hello"


def test_a_body_comes_whole_and_its_client_is_told_to_go_on(bench: Bench) -> None:
    number = bench.ask("/a", "POST", ends=False, headers={"expect": "100-continue"})
    assert bench.talk.answers[number].informed == ["100"]
    assert not bench.asked, "the application is asked when the body is there"
    bench.talk.rules.send_data(number, b"x" * 600)
    bench.talk.rules.send_data(number, b"y" * 400, end_stream=True)
    bench.swap()
    assert bench.asked[0].application_queue._messages == [
        {"type": "http.request", "body": b"x" * 600 + b"y" * 400, "more_body": False}
    ]


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_is_refused_at_its_limit_and_other_streams_go_on(bench: Bench, declared: bool) -> None:
    other = bench.ask("/other")
    said = {"content-length": str(MOST + 1)} if declared else {}
    number = bench.ask("/a", "POST", ends=False, headers=said)
    if not declared:
        assert bench.talk.answers[number].status == 0
        bench.talk.rules.send_data(number, b"x" * (MOST + 1))
        bench.swap()
    refused = bench.talk.answers[number]
    assert (refused.status, refused.ended, refused.reset) == (413, True, ErrorCodes.NO_ERROR)
    assert b"RequestEntityTooLarge" in refused.body
    assert len(bench.asked) == 1, "the application is not asked"
    bench.reply(b"well", 0)
    assert bench.talk.answers[other].body == b"well"
    assert bench.ask("/again")
    assert len(bench.asked) == 2


def test_a_stream_lets_go_of_its_request_once_it_has_begun(bench: Bench) -> None:
    bench.ask("/a?watch=1", token="t")
    request = bench.asked[0]
    assert request.requestHeaders.hasHeader(b"authorization")
    bench.reply(b"one\n", more=True)
    held = (request.requestHeaders, request.responseHeaders)
    assert [list(headers.getAllRawHeaders()) for headers in held] == [[], []]
    assert (request.clean_headers, request.args, request.content) == (None, None, None)
    bench.reply(b"two\n", more=True)
    bench.reply(b"")
    assert bench.talk.answers[1].body == b"one\ntwo\n"
    assert bench.talk.answers[1].ended


def test_who_resets_a_stream_ends_its_application_and_no_other(bench: Bench) -> None:
    for path in ("/a", "/b"):
        bench.ask(path)
        bench.reply(b"one\n", more=True)
    bench.talk.rules.reset_stream(1, ErrorCodes.CANCEL)
    bench.swap()
    assert bench.told(0)[-1] == "http.disconnect"
    assert "http.disconnect" not in bench.told(1)
    bench.reply(b"two\n", 0, more=True)
    bench.reply(b"two\n", 1, more=True)
    assert bench.talk.answers[3].body == b"one\ntwo\n"


@pytest.mark.parametrize("how", ["lost", "goodbye", "nonsense", "shutdown"])
def test_when_a_connection_ends_all_its_applications_are_told(bench: Bench, how: str) -> None:
    for path in ("/a", "/b"):
        bench.ask(path)
    if how == "lost":
        bench.server.connectionLost()
    elif how == "goodbye":
        bench.talk.rules.close_connection()
        bench.swap()
    elif how == "nonsense":
        bench.server.dataReceived(b"\0\0\0\x08\0\0\0\0\0" * 3)
    else:
        bench.server.farewell()
        bench.swap()
        assert bench.talk.goodbye == ErrorCodes.NO_ERROR
    assert [bench.told(index)[-1] for index in (0, 1)] == ["http.disconnect"] * 2
    assert bench.transport.lost is (how != "lost")
    bench.server.connectionLost()
    assert not bench.clock.getDelayedCalls()


def test_a_connection_without_requests_ends_as_one_of_http_1(bench: Bench) -> None:
    assert http.HTTPFactory.timeOut == IDLE
    bench.ask()
    bench.clock.advance(10 * IDLE)
    assert not bench.transport.lost, "a request stands"
    bench.reply(b"")
    for _ in range(5):
        bench.clock.advance(IDLE / 5 - 0.1)
        bench.talk.rules.ping(b"12345678")
        bench.swap()
    assert not bench.transport.lost
    bench.clock.advance(1)
    assert bench.transport.lost, "pings are answered, and keep nothing open"
    bench.swap()
    assert bench.talk.goodbye == ErrorCodes.NO_ERROR
    bench.clock.advance(http.HTTPChannel.abortTimeout)
    assert bench.transport.aborted


def test_a_ping_is_answered(bench: Bench) -> None:
    bench.ask()
    bench.talk.rules.ping(b"12345678")
    bench.server.dataReceived(bench.talk.out())
    assert bench.transport.value().endswith(b"\x06\x01\0\0\0\0" + b"12345678")


def test_a_body_that_does_not_go_on_is_given_up(bench: Bench) -> None:
    number = bench.ask("/a", "POST", b"x", ends=False)
    for _ in range(3):
        bench.clock.advance(IDLE - LOOK_SECONDS)
        bench.talk.rules.send_data(number, b"x")
        bench.swap()
    assert bench.talk.answers[number].reset is None
    bench.clock.advance(IDLE + LOOK_SECONDS)
    bench.swap()
    assert bench.talk.answers[number].reset == ErrorCodes.CANCEL
    assert not bench.server._streams


def test_a_big_answer_waits_for_its_client_and_not_for_long() -> None:
    bench = Bench(reads=False)
    bench.swap()
    bench.ask()
    bench.reply(b"x" * 1_000_000)
    assert len(bench.talk.answers[1].body) == 65_535
    bench.talk.rules.increment_flow_control_window(100_000)
    bench.talk.rules.increment_flow_control_window(100_000, 1)
    bench.swap()
    assert len(bench.talk.answers[1].body) == 165_535
    bench.clock.advance(ANSWER_SECONDS + LOOK_SECONDS)
    bench.swap()
    assert bench.talk.answers[1].reset == ErrorCodes.CANCEL
    assert (bench.server._unsent, bench.server._streams) == (0, {})


def test_what_waits_for_one_client_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "UNSENT_BYTES_MAX", 3_000_000)
    bench = Bench(reads=False)
    bench.swap()
    for _ in range(5):
        bench.ask()
        bench.reply(b"x" * 1_000_000)
    assert [bench.talk.answers[number].reset for number in (1, 3, 5, 7, 9)] == [None, None, None, 8, 8]
    assert bench.server._unsent <= 3_000_000


def test_one_answer_may_be_larger_than_what_several_may_be_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "UNSENT_BYTES_MAX", 1_000_000)
    bench = Bench()
    bench.swap()
    bench.ask()
    bench.reply(b"x" * 5_000_000)
    assert len(bench.talk.answers[1].body) == 5_000_000


def test_who_streams_is_told_when_its_client_does_not_read() -> None:
    bench = Bench(reads=False)
    bench.swap()
    bench.ask()
    producer = Producer()
    bench.asked[0].registerProducer(producer, True)
    bench.reply(b"x" * 65_535, more=True)
    assert not producer.paused
    bench.reply(b"y", more=True)
    assert producer.paused
    bench.clock.advance(10 * ANSWER_SECONDS)
    assert bench.talk.answers[1].reset is None, "it is not over, as it would not be by HTTP/1.1"
    other = bench.ask("/b")
    bench.talk.rules.increment_flow_control_window(10)
    bench.talk.rules.increment_flow_control_window(10, 1)
    bench.swap()
    assert not producer.paused
    assert bench.talk.answers[1].body.endswith(b"xy")
    bench.reply(b"", 1, status=204)
    assert bench.talk.answers[other].status == 204


def test_what_the_transport_does_not_take_is_held() -> None:
    bench = Bench()
    bench.swap()
    for path in ("/a", "/b"):
        bench.ask(path)
    producer = Producer()
    bench.asked[1].registerProducer(producer, True)
    bench.transport.full_after = 0
    bench.reply(b"x" * 300_000, 0)
    bench.reply(b"y" * 10, 1, more=True)
    assert producer.paused
    assert len(bench.talk.answers[1].body) < 300_000
    bench.transport.full_after = None
    bench.server.resumeProducing()
    bench.swap()
    assert not producer.paused
    assert (bench.talk.answers[1].body, bench.talk.answers[3].body) == (b"x" * 300_000, b"y" * 10)


def test_answers_take_turns(bench: Bench) -> None:
    bench.talk.rules.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 10_000_000})
    bench.talk.rules.increment_flow_control_window(10_000_000)
    for path in ("/a", "/b"):
        bench.ask(path)
    bench.server.pauseProducing()
    bench.reply(b"x" * 1_000_000, 0)
    bench.reply(b"y" * 1_000_000, 1)
    bench.transport.full_after = 3 * TURN_BYTES
    bench.server.resumeProducing()
    bench.talk.hear(bench.transport.value())
    assert [len(bench.talk.answers[number].body) for number in (1, 3)] == [2 * TURN_BYTES, TURN_BYTES]


def test_no_more_streams_are_open_than_upstream_allows(bench: Bench) -> None:
    assert bench.talk.rules.remote_settings.max_concurrent_streams == STREAMS_MAX == 100
    for _ in range(STREAMS_MAX):
        bench.ask()
    assert len(bench.asked) == STREAMS_MAX
    # A client that does not care.
    bench.talk.rules.remote_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = 1_000
    bench.talk.rules.remote_settings.acknowledge()
    bench.ask()
    assert bench.talk.goodbye is not None
    assert len(bench.asked) == STREAMS_MAX


def test_connect_is_turned_away(bench: Bench) -> None:
    bench.talk.rules.send_headers(1, [(":method", "CONNECT"), (":authority", "a:1")])
    bench.talk.answers[1] = SimpleNamespace(reset=None)  # type: ignore[assignment]
    bench.swap()
    assert bench.talk.answers[1].reset == ErrorCodes.PROTOCOL_ERROR
    bench.ask("/b")
    assert bench.asked


def test_a_form_that_cannot_be_read_is_answered(bench: Bench) -> None:
    number = bench.ask("/a", "POST", b"text", headers={"content-type": "multipart/form-data"})
    assert (bench.talk.answers[number].status, bench.talk.answers[number].ended) == (400, True)
    assert not bench.asked
    assert not bench.open


@pytest.mark.parametrize("table", [0, 100, 4_096, 1_000_000])
def test_heads_are_read_whatever_table_the_client_has(table: int) -> None:
    encoder, decoder = PlainEncoder(), Decoder()
    for length in (0, 1, 126, 127, 128, 254, 255, 256, 16_383 + 127, 20_000):
        head = [(b":status", b"200"), (b"a", b"x" * length), (b"a" * (length or 1), b"")]
        assert decoder.decode(encoder.encode(head), raw=True) == head
        decoder.max_allowed_table_size = table
        encoder.header_table_size = table
    assert encoder.header_table_size == 0


class Plain:
    """Makes connections of HTTP/1.1."""

    server = None
    timeOut = IDLE  # noqa: N815

    def buildProtocol(self, _address: object) -> Any:  # noqa: N802
        return self.made

    def __init__(self) -> None:
        self.made = SimpleNamespace(makeConnection=lambda transport: None)


@pytest.mark.parametrize("agreed", [b"h2", b"http/1.1", None])
def test_a_connection_goes_on_with_what_was_agreed_on(agreed: bytes | None) -> None:
    plain, transport = Plain(), Transport()
    first: Any = Choosing(plain, Clock()).buildProtocol(None)  # type: ignore[arg-type]
    transport.negotiatedProtocol = agreed
    first.makeConnection(transport)
    first.handshakeCompleted()
    assert isinstance(transport.wrappedProtocol, Connection) is (agreed == b"h2")
    assert (transport.wrappedProtocol is plain.made) is (agreed != b"h2")


def test_a_handshake_takes_no_longer_than_a_first_request() -> None:
    clock, transport = Clock(), Transport()
    first: Any = Choosing(Plain(), clock).buildProtocol(None)  # type: ignore[arg-type]
    first.callLater = clock.callLater
    first.makeConnection(transport)
    clock.advance(IDLE - 1)
    assert not transport.aborted
    clock.advance(1)
    assert transport.aborted
    first.connectionLost()
    assert not clock.getDelayedCalls()


def test_a_server_that_ends_waits_for_its_clients_and_not_for_long() -> None:
    for hangs_up in (True, False):
        clock, transport = Clock(), Transport()
        choosing = Choosing(Plain(), clock)
        made = choosing.chosen(b"h2", None)
        made.callLater = clock.callLater
        made.makeConnection(transport)
        over = choosing.farewell()
        assert transport.lost
        assert not over.called
        if hangs_up:
            made.connectionLost()
        else:
            clock.advance(FAREWELL_SECONDS)
        assert over.called
    assert Choosing(Plain(), Clock()).farewell().called, "there is nobody to wait for"


def test_the_names_that_are_not_public_are_there() -> None:
    """Of `h2`: where it counts windows, since frames of data are written here. Of Twisted: what a request calls."""
    rules = new_rules()
    assert rules.outbound_flow_control_window == 65_535
    stream = rules._begin_new_stream(1, 1)  # type: ignore[arg-type]
    assert stream.outbound_flow_control_window == rules.local_flow_control_window(1) == 65_535
    stream.outbound_flow_control_window -= 5
    assert rules.local_flow_control_window(1) == 65_530
    assert "_respondToBadRequestAndDisconnect" in http.Request.requestReceived.__code__.co_names
    assert "_path" in BoundedRequest.gotLength.__code__.co_names
