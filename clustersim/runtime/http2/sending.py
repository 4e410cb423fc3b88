"""What goes out on an HTTP/2 connection: answers take turns, and wait where the client gives no room for them."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections import deque
from typing import Any, Final

from h2.errors import ErrorCodes

from clustersim.runtime.http2.rules import new_rules
from clustersim.runtime.http2.streams import Pairs, Stream

UNSENT_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of several answers that wait for one HTTP/2 client that does not read; what comes on top is given up."""

CONTROL_BYTES_MAX: Final = 256 * 1024
"""Bytes of frames other than answers that wait for an HTTP/2 client that does not read; then its connection is cut."""

ANSWER_SECONDS: Final = 75.0
"""How long an HTTP/2 client may take for an answer that is ready: the idle and the abort time of HTTP/1.1 together."""

TURN_BYTES: Final = 64 * 1024
"""What one answer sends over HTTP/2 before the next one has its turn."""

_HEADER: Final = struct.Struct(">HBBBI")
_DATA: Final = 0


class Sending(ABC):
    """The half of a connection that sends."""

    transport: Any

    def __init__(self) -> None:
        self._rules = new_rules()
        self._streams: dict[int, Stream] = {}
        self._due: dict[Stream, None] = {}
        """Streams that have something to send, in their turn; a dict, since it keeps the order."""
        self._blocked: dict[Stream, None] = {}
        """Streams that have something to send, and no window."""
        self._surplus: list[Stream] = []
        """Streams that had too much to send; they are given up when their applications do not write."""
        self._unsent = 0
        self._sent = 0
        """Bytes of answers that have gone out since the other half looked."""
        self._held = bytearray()
        """What came to be sent while the transport takes nothing."""
        self._paused = False
        self._over = False

    # What the other half does

    @abstractmethod
    def give_up(self, stream: Stream) -> None:
        """End a stream without its answer, or the rest of it."""

    @abstractmethod
    def must_move(self, stream: Stream, seconds: float) -> None:
        """Give a stream up unless it has gone on after so many seconds."""

    @abstractmethod
    def cut(self) -> None:
        """End the connection at once: its client reads nothing."""

    @abstractmethod
    def _rest(self) -> None:
        """Note that no stream is left."""

    # For streams

    def send_head(self, stream: Stream, pairs: Pairs) -> None:
        """Send the head of an answer."""
        if stream.number in self._streams:
            self._rules.send_headers(stream.number, pairs)

    def take(self, stream: Stream, size: int) -> None:
        """Note that a stream has so many bytes more to send."""
        if stream.number not in self._streams:
            stream.waiting = None
            return
        stream.unsent += size
        self._unsent += size
        if self._unsent > max(UNSENT_BYTES_MAX, stream.unsent):
            self._unsent -= stream.unsent
            stream.unsent, stream.waiting = 0, None
            self._surplus.append(stream)
        elif stream not in self._blocked:
            self._due[stream] = None

    def finish(self, stream: Stream) -> None:
        """Note that a stream has everything that it is to send."""
        if stream.number not in self._streams:
            return
        if stream in self._blocked:
            self._tell(stream)
        else:
            self._due[stream] = None

    def send_waiting(self) -> None:
        """Send what there is, as far as the client and the transport take it: everyone in turn."""
        while self._surplus:
            self.give_up(self._surplus.pop())
        while self._due and not self._paused and not self._over:
            stream = next(iter(self._due))
            del self._due[stream]
            if self._send_turn(stream):
                self._due[stream] = None
        self._flush()
        if self._paused:
            for stream in self._due:
                self._tell(stream)

    # For itself

    def _send_turn(self, stream: Stream) -> bool:
        """Send a part of an answer; return whether there is more that could go out."""
        pieces: list[bytes | memoryview] = []
        rules, number = self._rules, stream.number
        left = min(rules.local_flow_control_window(number), TURN_BYTES)
        while stream.waiting and left > 0:
            piece = self._piece(stream, stream.waiting, min(left, rules.max_outbound_frame_size))
            left -= len(piece)
            if stream.ended and not stream.waiting:
                self._write(pieces)
                rules.send_data(number, piece, end_stream=True)
                self._close(stream)
                return False
            pieces += (_HEADER.pack(len(piece) >> 8, len(piece) & 0xFF, _DATA, 0, number), piece)
            # As `send_data` counts, which takes 60 µs a frame and copies it three times.
            rules.outbound_flow_control_window -= len(piece)
            rules.streams[number].outbound_flow_control_window -= len(piece)
        self._write(pieces)
        if stream.waiting:
            self._tell(stream)
            if rules.local_flow_control_window(number) > 0:
                return True
            self._blocked[stream] = None
        elif stream.ended:
            rules.end_stream(number)
            self._close(stream)
        elif stream.producer is not None:
            stream.producer.resumeProducing()
        return False

    def _piece(self, stream: Stream, waiting: deque[memoryview], most: int) -> memoryview:
        """Take the next bytes of an answer."""
        first = waiting.popleft()
        if len(first) > most:
            waiting.appendleft(first[most:])
            first = first[:most]
        stream.unsent -= len(first)
        self._unsent -= len(first)
        self._sent += len(first)
        return first

    def _tell(self, stream: Stream) -> None:
        """Let nothing more come for a stream that waits; what is whole must go out in time."""
        if stream.producer is not None:
            stream.producer.pauseProducing()
        if stream.ended and stream.deadline is None:
            self.must_move(stream, ANSWER_SECONDS)

    def _wake(self) -> None:
        """Let streams send again whose window is open."""
        for stream in [one for one in self._blocked if self._rules.local_flow_control_window(one.number) > 0]:
            del self._blocked[stream]
            self._due[stream] = None

    def _write(self, pieces: list[bytes | memoryview]) -> None:
        self._flush()
        if self._paused:
            self._held += b"".join(pieces)
        elif pieces:
            self.transport.write(b"".join(pieces))

    def _flush(self) -> None:
        """Send what the rules have to say, and what was held."""
        self._held += self._rules.data_to_send()
        if self._held and not self._paused:
            held, self._held = bytes(self._held), bytearray()
            self.transport.write(held)
        elif len(self._held) > CONTROL_BYTES_MAX:
            self.cut()

    def _close(self, stream: Stream) -> None:
        """Let go of a stream that has sent everything."""
        if stream.coming:
            # It need not send the rest (RFC 9113, 8.1).
            self._rules.reset_stream(stream.number, ErrorCodes.NO_ERROR)
        self._drop(stream)

    def _drop(self, stream: Stream) -> None:
        del self._streams[stream.number]
        self._due.pop(stream, None)
        self._blocked.pop(stream, None)
        self._unsent -= stream.unsent
        stream.unsent, stream.waiting, stream.producer, stream.ended = 0, None, None, True
        if not self._streams:
            self._rest()
