"""A real extender on a port of its own: an HTTP server in a thread that answers each verb as the test tells it."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.tools.patience import PATIENCE_SECONDS

Answer = Callable[[Any], Any]
"""Body of a call, decoded → what is answered: bytes go out as they are, everything else as JSON."""


@dataclass
class Odd:
    """An answer that is not simply 200 with a body."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    """Content-Length where it is not the body's: the connection ends after the body all the same."""
    wait: threading.Event | None = None
    """Nothing is sent before this is set."""


@dataclass
class Extender:
    """What the test says and sees."""

    answers: dict[str, Answer] = field(default_factory=dict)
    calls: list[tuple[str, Any]] = field(default_factory=list)
    url: str = ""

    def verbs(self) -> list[str]:
        return [verb for verb, _ in self.calls]


def _handler(extender: Extender) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            verb = self.path.rsplit("/", 1)[-1]
            extender.calls.append((verb, body))
            told = extender.answers[verb](body)
            odd = told if isinstance(told, Odd) else Odd(body=told if isinstance(told, bytes) else _encoded(told))
            if odd.wait is not None:
                odd.wait.wait(PATIENCE_SECONDS)
            with contextlib.suppress(OSError):
                self.send_response(odd.status)
                for name, value in odd.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(odd.body) if odd.length is None else odd.length))
                self.end_headers()
                self.wfile.write(odd.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


@contextlib.contextmanager
def extender(tls: ssl.SSLContext | None = None, **answers: Answer) -> Iterator[Extender]:
    """Yield an extender that listens on a free port of this machine."""
    told = Extender(dict(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(told))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    told.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def names_in(body: Any) -> list[str]:
    """Return the names of the nodes that a filter or prioritize call is about."""
    if body["NodeNames"] is not None:
        return list(body["NodeNames"])
    return [item["metadata"]["name"] for item in body["Nodes"]["items"]]


def keep(*names: str, **more: Any) -> Answer:
    """Answer filter with these nodes of those asked about, in the form of the question."""

    def answer(body: Any) -> Any:
        left = [name for name in names_in(body) if name in names]
        if body["NodeNames"] is not None:
            return {"NodeNames": left, **more}
        items = [item for item in body["Nodes"]["items"] if item["metadata"]["name"] in left]
        return {"Nodes": {"items": items}, **more}

    return answer


def score(**scores: int) -> Answer:
    """Answer prioritize."""
    return lambda body: [{"Host": host, "Score": value} for host, value in scores.items()]
