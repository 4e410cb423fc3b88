"""Clients of HTTP/2 that mean harm: each has a bound, and beyond it its connection ends, with nothing left of it."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable

import pytest
from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    ExtensionFrame,
    Frame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from clustersim.runtime.boundedrequest import DRAIN_BYTES_MAX
from clustersim.runtime.http2.connection import FRAMES_AT_FIRST_MAX, RESETS_MAX, SETTINGS_MAX, UNDER_WAY_MAX
from clustersim.runtime.http2.rules import HEAD_BYTES_MAX, STREAMS_MAX
from clustersim.runtime.http2.sending import CONTROL_BYTES_MAX
from tests.tools.http2bench import Bench

CALM = ErrorCodes.ENHANCE_YOUR_CALM
MANY = 100_000


def ping() -> Frame:
    return PingFrame(0, b"12345678")


def settings(number: int = 0) -> Frame:
    return SettingsFrame(0, {SettingCodes.INITIAL_WINDOW_SIZE: number % 2})


def priority() -> Frame:
    return PriorityFrame(5, depends_on=3, stream_weight=1)


def nudge() -> Frame:
    return WindowUpdateFrame(0, window_increment=1)


def unknown() -> Frame:
    return ExtensionFrame(0xBE, flag_byte=0, stream_id=0, body=b"")


def empty() -> Frame:
    return DataFrame(1, b"")


@pytest.mark.parametrize("frame", [ping, settings, priority, nudge, unknown, empty])
def test_frames_that_ask_for_nothing_are_counted(frame: Callable[[], Frame]) -> None:
    bench = Bench()
    bench.swap()
    bench.ask("/a", "POST", ends=False)
    bench.ask("/b")
    bench.say(bench.talk.raw(frame()) * (FRAMES_AT_FIRST_MAX - 10))
    assert not bench.transport.lost
    assert not bench.server._over
    bench.say(bench.talk.raw(frame()) * MANY)
    assert bench.transport.lost
    assert not bench.server._streams
    bench.talk.hear(bench.transport.value())
    assert bench.talk.goodbye == CALM
    assert bench.told(0)[-1] == "http.disconnect"


def test_an_idle_client_may_ping_for_ever_and_one_that_reads_much_may_open_its_window() -> None:
    bench = Bench()
    bench.swap()
    bench.ask()
    for _ in range(1_000):
        bench.clock.advance(30)
        bench.talk.rules.ping(b"12345678")
        bench.swap()
    for _ in range(200):
        bench.ask("/b")
        bench.reply(b"x" * 60_000)
        # Much more often than kubectl, which does it for each 4 KiB.
        for _ in range(50):
            bench.talk.rules.increment_flow_control_window(1)
        bench.swap()
    assert not bench.transport.lost


def test_requests_that_are_given_up_at_once_are_counted_and_do_not_begin() -> None:
    bench = Bench()
    bench.swap()
    bench.talk.ask("/a")
    head = bench.talk.out()[9:]
    pairs = bytearray()
    for number in range(1, 2 * MANY, 2):
        frame = HeadersFrame(number, head, flags=["END_HEADERS", "END_STREAM"])
        pairs += bench.talk.raw(frame, RstStreamFrame(number, error_code=8))
    bench.say(bytes(pairs))
    assert bench.transport.lost
    bench.talk.hear(bench.transport.value())
    assert bench.talk.goodbye == CALM
    # Only those that a piece of what was read had cut in two.
    assert len(bench.asked) < RESETS_MAX / 20


def test_requests_that_are_given_up_keep_their_place_until_their_work_is_over() -> None:
    async def play() -> None:
        bench = Bench()
        bench.swap()
        loop = asyncio.get_running_loop()
        refused = 0
        for _ in range(UNDER_WAY_MAX + 50):
            number = bench.ask()
            if bench.talk.answers[number].reset is not None:
                assert bench.talk.answers[number].reset == ErrorCodes.REFUSED_STREAM
                refused += 1
                continue
            bench.working[bench.asked[-1]] = loop.create_future()
            bench.talk.rules.reset_stream(number)
            bench.swap()
        assert refused == 50
        assert len(bench.asked) == UNDER_WAY_MAX
        assert not bench.transport.lost
        for work in bench.working.values():
            work.set_result(None)
        await asyncio.sleep(0)
        bench.ask()
        assert len(bench.asked) == UNDER_WAY_MAX + 1

    asyncio.run(play())


def test_a_head_that_does_not_end_is_bounded() -> None:
    bench = Bench()
    bench.swap()
    bench.talk.ask("/a")
    first = HeadersFrame(1, bench.talk.out()[9:], flags=["END_STREAM"])
    bench.say(bench.talk.raw(first))
    tracemalloc.start()
    bench.say(bench.talk.raw(ContinuationFrame(1, b"\0" * 16_384)) * 1_000)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bench.transport.lost
    assert not bench.asked
    assert most < 40_000_000, "16 MB of it are the test's own"
    assert kept < 20_000_000


def test_many_small_parts_of_a_head_are_bounded() -> None:
    bench = Bench()
    bench.swap()
    bench.talk.ask("/a")
    first = HeadersFrame(1, bench.talk.out()[9:], flags=["END_STREAM"])
    bench.say(bench.talk.raw(first) + bench.talk.raw(ContinuationFrame(1, b"")) * MANY)
    assert bench.transport.lost
    assert not bench.asked


@pytest.mark.parametrize("how", ["long", "many", "bomb"])
def test_heads_are_bounded(how: str) -> None:
    bench = Bench()
    bench.swap()
    if how == "long":
        bench.ask("/a", headers={"a": "b" * HEAD_BYTES_MAX})
    elif how == "many":
        bench.ask("/a", headers={f"a{number}": "b" for number in range(HEAD_BYTES_MAX // 34)})
    else:
        # A header of the table in one byte each.
        bench.ask("/a", headers={"a": "b" * 3_000})
        number = bench.talk.rules.get_next_available_stream_id()
        bench.say(bench.talk.raw(HeadersFrame(number, b"\xbe" * 16_000, flags=["END_HEADERS", "END_STREAM"])))
        bench.swap()
        assert len(bench.asked) == 1
    assert bench.transport.lost
    assert bench.talk.goodbye is not None


def test_settings_that_nobody_knows_are_not_kept() -> None:
    bench = Bench()
    bench.swap()
    for start in range(100, 60_000, 100):
        frame = SettingsFrame(0)
        frame.settings = dict.fromkeys(range(start, start + 100), 1)
        bench.say(bench.talk.raw(frame))
    assert bench.transport.lost
    assert len(bench.server._rules.remote_settings) < SETTINGS_MAX + 200


def test_who_does_not_read_what_it_asks_to_be_told_is_cut() -> None:
    bench = Bench()
    bench.swap()
    bench.server.pauseProducing()
    bench.server._frames.give(MANY)
    bench.say(bench.talk.raw(ping()) * MANY)
    assert bench.transport.aborted
    assert len(bench.transport.value()) <= CONTROL_BYTES_MAX + 16_384
    assert not bench.server._held


def test_who_goes_on_after_the_goodbye_is_cut() -> None:
    bench = Bench()
    bench.swap()
    bench.server.farewell()
    bench.server.dataReceived(b"x" * DRAIN_BYTES_MAX)
    assert not bench.transport.aborted
    bench.server.dataReceived(b"x")
    assert bench.transport.aborted


def test_data_for_a_request_that_was_refused_is_counted() -> None:
    bench = Bench()
    bench.swap()
    number = bench.ask("/a", "POST", b"x" * 5_000, ends=False)
    assert bench.talk.answers[number].status == 413
    bench.say(bench.talk.raw(DataFrame(number, b"x" * 16_000)) * 1_000)
    assert bench.transport.lost


def test_a_client_with_the_smallest_window_costs_little() -> None:
    """Each byte of its answer is a frame; it is left when it has had a few thousand of them."""
    bench = Bench()
    bench.swap()
    bench.talk.rules.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1})
    bench.ask()
    bench.reply(b"x" * 1_000_000)
    for _ in range(10_000):
        if bench.transport.lost:
            break
        bench.say(bench.talk.raw(WindowUpdateFrame(1, window_increment=1)))
    assert bench.transport.lost
    assert bench.server._unsent == 0


def test_a_hundred_answers_that_nobody_reads_are_given_up_in_time() -> None:
    bench = Bench(reads=False)
    bench.swap()
    for _ in range(STREAMS_MAX):
        bench.ask()
        bench.reply(b"x" * 100_000)
    assert bench.server._unsent > 5_000_000
    bench.clock.pump([5] * 17)
    assert bench.server._unsent == 0
    assert not bench.server._streams
    bench.clock.pump([5] * 17)
    assert bench.transport.aborted, "and then it is a connection on which nothing is asked"
