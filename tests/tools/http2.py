"""A client that speaks HTTP/2, in this process or to a server, by the library `h2`.

talk = Talk()
number = talk.ask("/readyz")
talk.hear(...)       # what the server sent
talk.answers[number].status, talk.answers[number].body
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset
from h2.events import InformationalResponseReceived as Informed
from hyperframe.frame import Frame

from tests.tools.patience import PATIENCE_SECONDS


@dataclass
class Answer:
    """What came on one stream."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = False
    reset: int | None = None
    informed: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        return int(self.headers.get(":status", 0))


class Talk:
    """A client's state; `out` is what it has to send."""

    def __init__(self, *, reads: bool = True) -> None:
        self.rules = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.rules.initiate_connection()
        self.answers: dict[int, Answer] = {}
        self.goodbye: int | None = None
        self.reads = reads
        """Whether the window is opened again for what has come."""

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | None = None,
        *,
        ends: bool = True,
        headers: Mapping[str, str] | None = None,
        token: str = "",
    ) -> int:
        """Begin a request; return its stream."""
        number = self.rules.get_next_available_stream_id()
        pairs = [(":method", method), (":scheme", "https"), (":authority", "127.0.0.1"), (":path", path)]
        if token:
            pairs.append(("authorization", f"Bearer {token}"))
        self.rules.send_headers(number, [*pairs, *(headers or {}).items()], end_stream=ends and body is None)
        if body is not None:
            self.rules.send_data(number, body, end_stream=ends)
        self.answers[number] = Answer()
        return number

    def raw(self, *frames: Frame) -> bytes:
        """Return frames as they are sent, whatever the rules think of them."""
        return b"".join(frame.serialize() for frame in frames)

    def out(self) -> bytes:
        return self.rules.data_to_send()

    def hear(self, data: bytes) -> None:
        """Take what the server sent."""
        for event in self.rules.receive_data(data):
            if isinstance(event, ConnectionTerminated):
                self.goodbye = int(event.error_code or 0)
                continue
            answer = self.answers.get(getattr(event, "stream_id", 0), Answer())
            if isinstance(event, ResponseReceived):
                answer.headers = {str(name): str(value) for name, value in event.headers}
            elif isinstance(event, Informed):
                answer.informed.append(str(dict(event.headers)[":status"]))
            elif isinstance(event, DataReceived):
                answer.body += event.data
                if self.reads and event.flow_controlled_length:
                    self.rules.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, StreamEnded):
                answer.ended = True
            elif isinstance(event, StreamReset):
                answer.reset = int(event.error_code or 0)


def secure(authority: Path | None = None, offers: tuple[str, ...] = ("h2", "http/1.1")) -> ssl.SSLContext:
    """Return how a client of a started server makes connections."""
    context = ssl.create_default_context(cafile=str(authority)) if authority else ssl._create_unverified_context()
    if offers:
        context.set_alpn_protocols(list(offers))
    return context


class Line(Talk):
    """A client on a connection to a started server."""

    def __init__(self, port: int, context: ssl.SSLContext | None = None, *, reads: bool = True) -> None:
        super().__init__(reads=reads)
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.socket = (context or secure()).wrap_socket(plain, server_hostname="clustersim.local")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.closed = False

    def until(self, condition: Callable[[], bool]) -> None:
        """Talk until something is so; fail where the server ends the connection or is silent."""
        while not condition():
            self.turn()
            assert not self.closed or condition(), "the server has closed the connection"

    def turn(self) -> None:
        """Send what there is, and take what comes next."""
        self.socket.sendall(self.out())
        came = self.socket.recv(65_536)
        self.closed = not came
        self.hear(came)
        self.socket.sendall(self.out())

    def whole(self, path: str, token: str = "", **options: object) -> Answer:
        """Ask and return the whole answer."""
        number = self.ask(path, token=token, **options)  # type: ignore[arg-type]
        self.until(lambda: self.answers[number].ended or self.answers[number].reset is not None)
        return self.answers[number]

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
