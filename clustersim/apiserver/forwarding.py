"""Forwarded ports (`kubectl port-forward`): connections to the ports of one pod, from inside of it.

How they come through a websocket is in `tunnelling`. Words of what fails are those of a kubelet with containerd.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Final

from clustersim.apiserver import containers
from clustersim.apiserver.asking import Line
from clustersim.apiserver.messages import Request
from clustersim.apiserver.protocols import FORWARDS, TUNNEL
from clustersim.apiserver.routes import Target
from clustersim.apiserver.speaking import Lost, speak
from clustersim.apiserver.virtual import ReadView
from clustersim.classroom import limits
from clustersim.feed.hub import in_thread
from clustersim.store import sessions
from clustersim.store.failures import unavailable
from controllers.kinds.clustersim.target import Target as Aim
from controllers.kubelet.shell.running import Came
from scheduler_core.api.errors import ApiError, bad_request

PORTS_MAX: Final = 128
"""Ports that one websocket of channels forwards: a channel's number is a byte."""

WAITING_BYTES_MAX: Final = 1024 * 1024
"""Bytes on one forwarded connection that wait to be answered; it is cut where a client sends on."""

IDLE_SECONDS: Final = 75.0
"""How long a forwarded connection stays open on which nothing is asked, as nginx keeps one."""

_LOCALHOST: Final = "localhost"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ForwardPlan:
    """A pod whose ports are forwarded."""

    session_id: int
    protocol: str
    participant_id: int
    namespace: str
    name: str
    uid: str
    line: Line
    ports: tuple[int, ...]
    """Those that the channels are for; none where the client says it with each connection."""

    async def ask(self, port: int, host: str = _LOCALHOST, path: str = "/") -> Came:
        """Return what comes of a request to a port of the pod.

        Raises:
            Lost: nobody takes it.
        """
        aim = Aim(host, port, path)
        try:
            came = await in_thread(lambda: self.line.network().send_within(self.namespace, self.name, self.uid, aim))
        except sessions.NoSession as error:
            raise Lost("the session is gone") from error
        except Exception as error:
            refusal = unavailable(error)
            if refusal is None:
                raise
            raise Lost(refusal.message) from error
        box = sha256(self.uid.encode()).hexdigest()
        failed = f"error forwarding port {port} to pod {box}, uid : "
        if came is None:
            raise Lost(f'{failed}failed to find sandbox "{box}" in store: not found')
        if came.result in ("ok", "error") or came.reason == "Hangs":
            return came
        if came.result != "refused":
            raise Lost(failed + came.message)
        where, why = f'inside namespace "{box}"', "connect: connection refused"
        raise Lost(
            f'{failed}failed to execute portforward in network namespace "/var/run/netns/{box[:32]}": '
            f"failed to connect to localhost:{port} {where}, IPv4: dial tcp4 127.0.0.1:{port}: {why} "
            f"IPv6 dial tcp6 [::1]:{port}: {why} ({came.message})"
        )

    async def answer(self, port: int, host: str, path: str) -> Came:
        """Return what a person's request is answered with.

        Raises:
            Lost: nobody takes it any more.
        """
        try:
            limits.spend(limits.REQUESTS, self.participant_id)
        except ApiError as error:
            return Came("error", error.code, body=f"{error.message}\n")
        return await self.ask(port, host, path)


def plan(view: ReadView, request: Request, target: Target, participant_id: int) -> ForwardPlan:
    """Say how ports of a pod are forwarded.

    Raises:
        ApiError: 400, 404; 501 to who asks by another way than a websocket.
    """
    pod = containers.pod_of(view, target)
    if not pod["spec"].get("nodeName"):
        raise bad_request(f"pod {target.name} does not have a host assigned")
    protocol = containers.protocol_of(request, target, FORWARDS)
    ports = () if protocol == TUNNEL else _ports(request)
    line = Line(view, containers.stages_of(view).answers)
    metadata = pod["metadata"]
    place = (metadata["namespace"], metadata["name"], metadata["uid"])
    return ForwardPlan(view.session_id, protocol, participant_id, *place, line, ports)


def _ports(request: Request) -> tuple[int, ...]:
    texts = [text for value in request.values.get("ports", ()) for text in value.split(",")]
    if not texts:
        raise bad_request('query parameter "port" is required')
    if len(texts) > PORTS_MAX:
        raise bad_request(f"at most {PORTS_MAX} ports are forwarded at once")
    for text in texts:
        if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) <= 65_535):
            raise bad_request(f'unable to parse "{text[:80]}" as a port')
    return tuple(map(int, texts))


@dataclass(slots=True, eq=False)
class Connection:
    """One connection to a port: what has come on it and waits."""

    port: int
    put: Callable[[bytes], Awaitable[None]]
    _pieces: list[bytes] = field(default_factory=list)
    _size: int = 0
    _ended: bool = False
    _dropped: bool = False
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def came(self, data: bytes) -> bool:
        """Take what has come; return whether there was room."""
        if self._size + len(data) > WAITING_BYTES_MAX:
            return False
        if data:
            self._pieces.append(data)
            self._size += len(data)
            self._came.set()
        return True

    def ends(self) -> None:
        """Nothing more comes."""
        self._ended = True
        self._came.set()

    def drop(self) -> None:
        """Nobody wants an answer any more."""
        self._pieces.clear()
        self._dropped = True
        self.ends()

    async def take(self) -> bytes:
        """Wait for what comes; nothing: it has ended.

        Raises:
            TimeoutError: nothing has come for too long.
        """
        async with asyncio.timeout(IDLE_SECONDS):
            while not self._pieces and not self._ended:
                self._came.clear()
                await self._came.wait()
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        return data

    async def _ask(self, plan: ForwardPlan, host: str, path: str) -> Came:
        if self._dropped:
            raise Lost("")
        return await plan.answer(self.port, host, path)

    async def serve(self, plan: ForwardPlan) -> str:
        """Answer until it ends; return what is told where errors are told, empty where all went well."""
        try:
            if (await plan.ask(self.port)).reason == "Hangs":
                with contextlib.suppress(TimeoutError):
                    while await self.take():
                        pass
                return ""
            return await speak(self.take, self.put, partial(self._ask, plan))
        except Lost as error:
            return str(error)
        except Exception:
            _logger.exception("a forwarded port of %s/%s failed", plan.namespace, plan.name)
            return "this is a fault of the server; its log says more"
