"""Calls to HTTP extenders, carried out: over HTTP, in threads of their own, to the origins that the operator allows.

Requests follow no redirect and no proxy, carry no credentials, and end at the extender's time-out whatever it sends.
"""

from __future__ import annotations

import http.client
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final
from urllib.parse import urlsplit

from clustersim.extenders import SETTING, is_allowed
from clustersim.runtime import realtime
from scheduler_core.extender import wire
from scheduler_core.extender.calls import ExtenderCall, HttpAnswer, Record, failed

logger = logging.getLogger(__name__)

ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of an extender's answer that are read; a larger one counts as a failure of that extender."""

EXTENDER_THREADS: Final = 8
"""Calls to extenders that one session has under way at once; further ones wait for a free thread."""

_CHUNK_BYTES: Final = 64 * 1024


def call(asked: ExtenderCall) -> Record:
    """Make a call and return its record; whatever goes wrong is in there."""
    if not is_allowed(asked.extender.url_prefix):
        text = f'Post "{asked.url}": {asked.extender.origin} is not among the origins of {SETTING}'
        return failed(asked, text)
    return wire.read(asked, _Request(asked).run())


class _Request:
    """One POST with a deadline."""

    def __init__(self, asked: ExtenderCall) -> None:
        self._asked = asked
        self._parts = urlsplit(asked.url)
        self._socket: socket.socket | None = None
        self._expired = threading.Event()

    def run(self) -> HttpAnswer:
        began_ns = realtime.timer_ns()
        # A time-out of the socket begins anew with every byte; closing it from beside ends the whole request.
        watch = threading.Timer(self._seconds, self._expire)
        watch.daemon = True
        watch.start()
        status, body, error = 0, b"", ""
        try:
            status, body = self._exchange()
        except (OSError, http.client.HTTPException) as wrong:
            error = self._said(wrong)
        finally:
            watch.cancel()
            if self._socket is not None:
                self._socket.close()
        return HttpAnswer(status, body, error, (realtime.timer_ns() - began_ns) / 1e6)

    @property
    def _seconds(self) -> float:
        return self._asked.extender.timeout_ms / 1000

    def _expire(self) -> None:
        self._expired.set()
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                # It is closed already: the request has ended otherwise.
                return

    def _exchange(self) -> tuple[int, bytes]:
        host = self._parts.hostname or ""
        port = self._parts.port or (443 if self._parts.scheme == "https" else 80)
        self._socket = socket.create_connection((host, port), timeout=self._seconds)
        if self._expired.is_set():
            # Several addresses were tried in vain before this one: there was nothing to close when time was up.
            raise TimeoutError
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._parts.scheme == "https":
            tls = self._asked.extender.tls
            self._socket = wrapped = _context(tls.insecure, tls.ca).wrap_socket(
                self._socket, server_hostname=tls.server_name or host, do_handshake_on_connect=False
            )
            wrapped.do_handshake()
        connection = http.client.HTTPConnection(host, port)
        connection.sock = self._socket
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        connection.request("POST", self._parts.path, wire.encode(self._asked), headers)
        response = connection.getresponse()
        body = bytearray()
        while chunk := response.read(_CHUNK_BYTES):
            body += chunk
            if len(body) > ANSWER_BYTES_MAX:
                raise http.client.HTTPException(f"the answer has more than {ANSWER_BYTES_MAX} bytes")
        if response.length:
            raise http.client.IncompleteRead(bytes(body), response.length)
        if self._expired.is_set():
            raise TimeoutError
        return response.status, bytes(body)

    def _said(self, wrong: Exception) -> str:
        """Return the failure as the real scheduler's HTTP client words it, where it knows it."""
        said = str(wrong) or type(wrong).__name__
        if self._expired.is_set() or isinstance(wrong, TimeoutError):
            said = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        elif isinstance(wrong, ConnectionRefusedError):
            said = f"dial tcp {self._parts.netloc}: connect: connection refused"
        elif isinstance(wrong, http.client.IncompleteRead):
            said = "unexpected EOF"
        elif isinstance(wrong, http.client.RemoteDisconnected | ConnectionResetError):
            said = "EOF"
        elif isinstance(wrong, socket.gaierror):
            said = f"dial tcp: lookup {self._parts.hostname}: no such host"
        return f'Post "{self._asked.url}": {said}'


def _context(insecure: bool, authorities: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authorities or None)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Caller:
    """The calls of one session that are under way. All but the threads' own work belongs to one thread."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """Call `wake`, from any thread, when an answer has come."""
        self._wake = wake
        self._calls: SimpleQueue[tuple[int, ExtenderCall] | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[int, Record]] = SimpleQueue()
        self._threads = 0
        self._under_way = 0

    def start(self, number: int, asked: ExtenderCall) -> None:
        """Make a call in a thread; its record comes out of `taken`, under this number."""
        self._under_way += 1
        self._calls.put((number, asked))
        if self._threads < min(self._under_way, EXTENDER_THREADS):
            self._threads += 1
            # A call under way must not hold up the end of the process.
            threading.Thread(target=self._run, name="extender", daemon=True).start()

    def _run(self) -> None:
        while (item := self._calls.get()) is not None:
            number, asked = item
            try:
                record = call(asked)
            except Exception as wrong:
                # The cycle must not wait for ever: what nobody foresaw is a failure of this call, too.
                logger.exception("a call to an extender broke")
                record = failed(asked, f'Post "{asked.url}": {type(wrong).__name__}')
            self._answers.put((number, record))
            self._wake()

    @property
    def has_answers(self) -> bool:
        """Return whether `taken` has something."""
        return not self._answers.empty()

    def taken(self) -> list[tuple[int, Record]]:
        """Return (number, record) of the answers that have come since."""
        found: list[tuple[int, Record]] = []
        while not self._answers.empty():
            found.append(self._answers.get_nowait())
        self._under_way -= len(found)
        return found

    def close(self) -> None:
        """End the threads; answers of calls under way are for nobody."""
        for _ in range(self._threads):
            self._calls.put(None)
