"""An HTTP/2 connection for requests of Twisted's: it takes what the client says, within bounds, and ends it.

Twisted's own HTTP/2 is private, and takes a turn of the reactor and a copy of the rest for each 16 KiB of an answer.
Sources: RFC 9113; golang.org/x/net/http2 (server.go), by which a Kubernetes client knows its server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError
from twisted.internet.error import ConnectionDone
from twisted.internet.protocol import Protocol
from twisted.protocols.policies import TimeoutMixin
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel

from clustersim.runtime.boundedrequest import DRAIN_BYTES_MAX
from clustersim.runtime.http2.budget import Budget
from clustersim.runtime.http2.rules import STREAMS_MAX
from clustersim.runtime.http2.sending import Sending
from clustersim.runtime.http2.streams import PROTOCOL, Pairs, Stream

UNDER_WAY_MAX: Final = 2 * STREAMS_MAX
"""Requests of one HTTP/2 connection whose work may not be over yet, those that the client has given up included."""

FRAMES_SAVED_MAX: Final = 20_000
"""Frames that ask for nothing (PING, SETTINGS, …) which one HTTP/2 connection may have saved by moving data."""

FRAMES_AT_FIRST_MAX: Final = 2_000
"""Frames that ask for nothing which a new HTTP/2 connection may send."""

FRAMES_EACH_SECOND: Final = 50.0
"""Frames that ask for nothing which every second allows."""

FRAMES_A_REQUEST: Final = 5
"""Frames that ask for nothing which each request allows."""

BYTES_A_FRAME: Final = 1024
"""Each so many bytes of data, in either direction, allow one more frame; a client opens its window with them."""

RESETS_MAX: Final = 500
"""Requests that an HTTP/2 client may give up at once; more and its connection ends (CVE-2023-44487)."""

RESETS_EACH_SECOND: Final = 20.0
"""Requests that an HTTP/2 client may give up every second."""

SETTINGS_MAX: Final = 64
"""Settings that an HTTP/2 client may have: seven are known, others are kept, and there could be 65,536."""

SLICE_BYTES: Final = 4 * 1024
"""What is read of HTTP/2 at once before its bounds are looked at."""

LOOK_SECONDS: Final = 5.0
"""How often it is looked for HTTP/2 requests that do not go on, while there is one that must."""


def _because(words: str) -> Failure:
    return Failure(ConnectionDone(words))  # type: ignore[no-untyped-call]


class Connection(Sending, Protocol, TimeoutMixin):
    """One connection: its streams, and what waits to be sent on them.

    `factory` has `server`, `timeOut` (seconds, None: never) and `log`; `seconds` is a clock that goes on; `lost`
    is told when this is over.
    """

    def __init__(self, factory: Any, seconds: Callable[[], float], lost: Callable[[Connection], None]) -> None:
        super().__init__()
        self._lost = lost
        self.factory: Any = factory
        self._idle = factory.timeOut
        self._seconds = seconds
        self._given_up = 0
        """Requests that the client has reset whose applications are still at work."""
        self._drained = 0
        self._cut: Any = None
        self._look: Any = None
        now = seconds()
        self._frames = Budget(FRAMES_SAVED_MAX, FRAMES_EACH_SECOND, now, left=FRAMES_AT_FIRST_MAX)
        self._resets = Budget(RESETS_MAX, RESETS_EACH_SECOND, now)

    # Twisted's protocol

    def connectionMade(self) -> None:  # noqa: N802
        """Begin to speak."""
        self.peer, self.host = self.transport.getPeer(), self.transport.getHost()
        self.transport.registerProducer(self, True)
        self._rest()
        self._flush()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        """Take what the client says; after the goodbye only so much that it can notice it."""
        if self._over:
            self._drained += len(data)
            if self._drained > DRAIN_BYTES_MAX:
                self.transport.abortConnection()
        elif all(self._hear(data[at : at + SLICE_BYTES]) for at in range(0, len(data), SLICE_BYTES)):
            self._wake()
            self.send_waiting()

    def _hear(self, piece: bytes) -> bool:
        """Take a part of what the client says; return whether the connection goes on."""
        try:
            events = self._rules.receive_data(piece)
        except ProtocolError:
            self._leave(_because("this is no HTTP/2"))
        else:
            self._handle(events, len(piece))
        return not self._over

    def connectionLost(self, reason: Failure | None = None) -> None:  # noqa: N802
        """End everything."""
        self._over = True
        self.setTimeout(None)  # type: ignore[no-untyped-call]
        for call in (self._cut, self._look):
            if call is not None and call.active():
                call.cancel()
        self._lose_streams(reason or _because("the connection is lost"))
        self._lost(self)

    def timeoutConnection(self) -> None:  # noqa: N802
        """Say goodbye: nothing was asked for a while. Pings do not count, as they do not for Go's server."""
        self.farewell()

    # Twisted's producer: the transport says when it has taken enough

    def pauseProducing(self) -> None:  # noqa: N802
        """Hold what would be sent."""
        self._paused = True

    def resumeProducing(self) -> None:  # noqa: N802
        """Go on sending."""
        self._paused = False
        if not self._over:
            self.send_waiting()

    def stopProducing(self) -> None:  # noqa: N802
        """Do nothing: that the connection is lost is told anyway."""

    # What comes

    def _handle(self, events: list[Event], size: int) -> None:
        # The rules have taken all of them already: what ends comes first, so that nothing is sent on what has ended.
        if any(isinstance(event, ConnectionTerminated) for event in events):
            self._leave(_because("the client has said goodbye"))
            return
        gone = {event.stream_id for event in events if isinstance(event, StreamReset)}
        for number in gone:
            self._reset_by_client(number)
        free, worth = 0, self._sent / BYTES_A_FRAME
        self._sent = 0
        for event in events:
            if self._over:
                return
            if isinstance(event, RequestReceived):
                worth += FRAMES_A_REQUEST
                # Asked and given up in one breath: nobody needs to begin.
                if event.stream_id not in gone:
                    self._begin(event)
            elif isinstance(event, DataReceived):
                worth += len(event.data) / BYTES_A_FRAME
                free += not event.data
                self._take_data(event)
            elif isinstance(event, StreamEnded):
                self._complete(event)
            elif not isinstance(event, TrailersReceived | StreamReset):
                free += 1
                if isinstance(event, RemoteSettingsChanged) and len(self._rules.remote_settings) > SETTINGS_MAX:
                    self.farewell(ErrorCodes.ENHANCE_YOUR_CALM)
        self._frames.give(worth)
        # Nothing came of it: parts of a head that does not end, data for a request that has been answered.
        free += 0 if events else size // BYTES_A_FRAME
        if free and not self._frames.take(free, self._seconds()):
            self.farewell(ErrorCodes.ENHANCE_YOUR_CALM)

    def _begin(self, event: RequestReceived) -> None:
        number = event.stream_id
        pseudo = {name: value for name, value in event.headers if name.startswith(b":")}
        path = pseudo.get(b":path")
        if path is None:
            # CONNECT: this is no proxy.
            self._turn_away(number, ErrorCodes.PROTOCOL_ERROR)
            return
        if len(self._streams) + self._given_up >= UNDER_WAY_MAX:
            self._turn_away(number, ErrorCodes.REFUSED_STREAM)
            return
        if not self._streams:
            self.setTimeout(None)  # type: ignore[no-untyped-call]
        stream = self._streams[number] = Stream(self, number, path)
        request, ends = stream.request, event.stream_ended is not None
        request.method, request.uri = pseudo[b":method"], path
        add = request.requestHeaders.addRawHeader
        authority = pseudo.get(b":authority")
        if authority is not None:
            add(b"host", authority)
        length = None
        for name, value in event.headers:
            if name == b"content-length":
                length = int(value)
            if not (name.startswith(b":") or (name == b"host" and authority is not None)):
                add(name, value)
        request.parseCookies()
        request.gotLength(0 if ends else length)
        if not ends and not stream.ended:
            self.must_move(stream, self._idle)
            if (request.getHeader(b"expect") or b"").lower() == b"100-continue":
                self._rules.send_headers(number, [(b":status", b"100")])

    def _turn_away(self, number: int, why: ErrorCodes) -> None:
        self._rules.reset_stream(number, why)
        self._count_reset()

    def _take_data(self, event: DataReceived) -> None:
        stream = self._streams.get(event.stream_id)
        size = event.flow_controlled_length or 0
        if stream is not None and not stream.ended:
            self.must_move(stream, self._idle)
            stream.request.handleContentChunk(event.data)
            if size and not stream.ended:
                self._rules.acknowledge_received_data(size, event.stream_id)
                return
        if size:
            # For nobody: the connection's window opens again for the others, the stream's does not.
            self._rules.increment_flow_control_window(size)

    def _complete(self, event: StreamEnded) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is None:
            return
        stream.coming = False
        if not stream.ended:
            stream.deadline = None
            stream.request.requestReceived(stream.request.method, stream.request.uri, PROTOCOL)

    def _reset_by_client(self, number: int) -> None:
        stream = self._streams.get(number)
        if stream is not None:
            working = stream.request and self.factory.server.application_of(stream.request)
            self._drop(stream)
            stream.lose(_because("the client has given the request up"))
            if working and not working.done():
                self._given_up += 1
                working.add_done_callback(self._worked)
        self._count_reset()

    def _worked(self, _: Any) -> None:
        self._given_up -= 1

    def _count_reset(self) -> None:
        if not self._resets.take(1, self._seconds()):
            self.farewell(ErrorCodes.ENHANCE_YOUR_CALM)

    # How it ends

    def answer(self, stream: Stream, head: Pairs, body: bytes) -> None:
        """Answer a request without its application, and take nothing more of it."""
        self.send_head(stream, head)
        stream.write(body)
        stream.lose(_because("answered before it was read"))
        stream.ended = True
        self.finish(stream)

    def give_up(self, stream: Stream) -> None:
        """End a stream without its answer, or the rest of it."""
        if stream.number in self._streams:
            self._rules.reset_stream(stream.number, ErrorCodes.CANCEL)
            self._drop(stream)
            stream.lose(_because("the client did not go on"))

    def must_move(self, stream: Stream, seconds: float | None) -> None:
        """Give a stream up unless it has gone on after so many seconds; None: never."""
        if seconds is None:
            return
        stream.deadline = self._seconds() + seconds
        if self._look is None:
            self._look = self.callLater(LOOK_SECONDS, self._look_for_late)  # type: ignore[no-untyped-call]

    def _look_for_late(self) -> None:
        self._look = None
        now, waits = self._seconds(), False
        for stream in list(self._streams.values()):
            if stream.deadline is not None and stream.deadline <= now:
                self.give_up(stream)
            else:
                waits = waits or stream.deadline is not None
        self._flush()
        if waits and not self._over:
            self._look = self.callLater(LOOK_SECONDS, self._look_for_late)  # type: ignore[no-untyped-call]

    def _rest(self) -> None:
        if not self._over:
            self.setTimeout(self._idle)  # type: ignore[no-untyped-call]

    def farewell(self, why: ErrorCodes = ErrorCodes.NO_ERROR) -> None:
        """Say that the connection ends, and end it."""
        if not self._over:
            self._rules.close_connection(why)
            self._leave(_because("the server has said goodbye"))

    def cut(self) -> None:
        """End the connection at once: its client reads nothing."""
        if not self._over:
            self._leave(_because("the client does not read"))
            self.transport.abortConnection()

    def _leave(self, reason: Failure) -> None:
        self._over = True
        self.setTimeout(None)  # type: ignore[no-untyped-call]
        self.transport.write(bytes(self._held) + self._rules.data_to_send())
        self._held.clear()
        self._lose_streams(reason)
        self.transport.unregisterProducer()
        self.transport.loseConnection()
        seconds = HTTPChannel.abortTimeout
        self._cut = self.callLater(seconds, self.transport.abortConnection)  # type: ignore[no-untyped-call]

    def _lose_streams(self, reason: Failure) -> None:
        for stream in list(self._streams.values()):
            self._drop(stream)
            stream.lose(reason)
