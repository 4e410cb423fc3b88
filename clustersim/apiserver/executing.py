"""Commands in containers over websockets: the channels of `v5.channel.k8s.io`, `v4.channel.k8s.io`, `channel.k8s.io`.

A frame's first byte is its channel: 0 what is typed, 1 output, 2 errors, 3 how it ended (a Status), 4 the terminal's
size; 255 closes a channel (version 5). The oldest protocol ends with a sentence, and with nothing where all went well.
Source: staging/src/k8s.io/apimachinery/pkg/util/remotecommand,
staging/src/k8s.io/kubelet/pkg/cri/streaming/remotecommand/websocket.go, v1.34.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import msgspec

from clustersim.apiserver.containers import ExecPlan
from clustersim.apiserver.protocols import OLDEST
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.feed.hub import in_thread
from clustersim.store import open_store
from controllers.kubelet.shell.running import MISSING, Asks, Exit, Reads, Running, Sent, TooLong, Waits, Watches, Wrote
from controllers.kubelet.shell.terminal import Terminal
from scheduler_core.api.document import Document

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255

INPUT_BYTES_MAX: Final = 64 * 1024
"""Bytes sent to a command before it runs; what follows is dropped."""

OUTPUT_BYTES_MAX: Final = 4 * 1024 * 1024
"""Bytes that one command prints; it is stopped there."""

CHUNK_CHARACTERS: Final = 32 * 1024
"""Output is sent in pieces of about this size."""

STREAMS_SECONDS: Final = 0.1
"""How long a client is left to make its streams: kubectl before 1.34 drops what comes sooner (kubernetes #131203)."""

FOLLOW_MS: Final = 1_000
"""After so long a command that follows files looks for what has come."""

LOOK_SECONDS: Final = 0.5
"""How often simulated time is looked at while a command sleeps."""

KILLED: Final = 130
TOO_LONG: Final = "clustersim: this command does more than is simulated; it is stopped\n"
_INTERRUPT: Final = "\x03"

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class _Gone(Exception):
    """The client is gone."""


class Execution:
    """One connection: reads what is sent, plays what happens, says how it ended."""

    def __init__(self, plan: ExecPlan, receive: Receive, send: Send) -> None:
        self._plan, self._receive, self._send = plan, receive, send
        self._input: asyncio.Queue[str | None] = asyncio.Queue(maxsize=256)
        self._left = OUTPUT_BYTES_MAX
        self._interrupted = asyncio.Event()
        self._ready_at = asyncio.get_running_loop().time() + STREAMS_SECONDS

    async def serve(self) -> None:
        """Run until the command has ended or the client is gone."""
        reader = asyncio.create_task(self._read())
        player = asyncio.create_task(self._play())
        try:
            await asyncio.wait({reader, player}, return_when=asyncio.FIRST_COMPLETED)
            if player.done():
                status = ended(player.result())
                in_words = self._plan.protocol == OLDEST
                told = status.get("message", "").encode() if in_words else msgspec.json.encode(status)
                await self._put(ERROR, told)
                await self._send({"type": "websocket.close", "code": 1000})
        except _Gone:
            pass
        finally:
            for task in (reader, player):
                task.cancel()
            await asyncio.gather(reader, player, return_exceptions=True)

    async def _read(self) -> None:
        """Take frames until the client is gone."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes") or (message.get("text") or "").encode("latin-1", "replace")
            if data[:2] == bytes((CLOSE, STDIN)):
                self._take(None)
            elif data[:1] == bytes((STDIN,)):
                text = decoder.decode(data[1:])
                if _INTERRUPT in text and self._plan.tty:
                    self._interrupted.set()
                self._take(text)

    def _take(self, text: str | None) -> None:
        """Keep what is sent; where nobody reads it, the oldest is dropped."""
        if self._input.full():
            self._input.get_nowait()
        self._input.put_nowait(text)

    async def _play(self) -> int:
        plan = self._plan
        if plan.log is not None:
            async with contextlib.aclosing(plan.log.chunks()) as chunks:
                async for chunk in chunks:
                    await self._put(STDOUT, chunk)
            return 0
        if plan.interactive:
            return await self._prompt()
        if plan.stdin and not plan.tty:
            plan.shell.sent = Sent(None)
        name = plan.words[0].rpartition("/")[2]
        inside = plan.shell.inside
        is_known = (name in plan.shell.programs and inside.has(name)) or inside.is_script(plan.words)
        if not is_known and inside.answer(plan.words) is None:
            # As runc says it through a container runtime.
            text = (
                "OCI runtime exec failed: exec failed: unable to start container process: "
                f'exec: "{plan.words[0][:253]}": executable file not found in $PATH: unknown\n'
            )
            await self._put(STDERR, text.encode())
            return MISSING
        terminal = Terminal(plan.shell, tty=plan.tty)
        return await self._run(plan.shell.call(plan.words), terminal if plan.tty else None)

    async def _all_input(self) -> str:
        texts: list[str] = []
        room = INPUT_BYTES_MAX
        while (text := await self._input.get()) is not None:
            texts.append(text[:room])
            room -= len(texts[-1])
        return "".join(texts)

    async def _prompt(self) -> int:
        """Let somebody type commands until they leave."""
        shell = self._plan.shell
        terminal = Terminal(shell, tty=self._plan.tty)
        await self._show(terminal.greeting())
        while not shell.over:
            text = await self._input.get()
            shell.now_ms = await in_thread(self._now_ms)
            self._interrupted.clear()
            await self._each(terminal.closed() if text is None else terminal.typed(text))
        return shell.code

    async def _each(self, happenings: Iterable[str | Running]) -> None:
        for one in happenings:
            if isinstance(one, str):
                await self._show(one)
            else:
                self._left = OUTPUT_BYTES_MAX
                self._plan.shell.code = await self._run(one, None)

    async def _run(self, running: Running, terminal: Terminal | None) -> int:
        """Play a command; return its exit code."""
        while True:
            wrote, pause, code = await in_thread(lambda: self._advanced(running))
            for one in wrote:
                text = one.text if terminal is None else terminal.shown(one.text)
                # A terminal has one stream.
                await self._put(STDOUT if self._plan.tty else one.fd, text.encode())
            self._left -= sum(len(one.text) for one in wrote)
            if code is None and self._left < 0:
                await self._put(STDOUT if self._plan.tty else STDERR, TOO_LONG.encode())
                code = 1
            if code is not None:
                running.close()
                return code
            if isinstance(pause, Reads):
                self._plan.shell.sent.text = await self._all_input()
            elif pause is not None and not await self._pause(FOLLOW_MS if isinstance(pause, Watches) else pause.ms):
                running.close()
                await self._show("^C\r\n")
                return KILLED
            elif isinstance(pause, Watches):
                await in_thread(self._plan.look_again)

    def _advanced(self, running: Running) -> tuple[list[Wrote], Waits | Watches | Reads | None, int | None]:
        """Play the next piece of a command; what it wrote in files is kept."""
        told = _advance(running)
        self._plan.keeper.keep(self._plan.shell)
        return told

    async def _pause(self, ms: int) -> bool:
        """Wait for simulated milliseconds; whether nobody interrupts."""
        due_ms = await in_thread(self._now_ms) + ms
        while (left_ms := due_ms - await in_thread(self._now_ms)) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._interrupted.wait(), min(LOOK_SECONDS, max(0.02, left_ms / 1000)))
                return False
        return True

    def _now_ms(self) -> int:
        return session_unix_ms(open_store(self._plan.session_id))

    async def _show(self, text: str) -> None:
        if text:
            await self._put(STDOUT, text.encode())

    async def _put(self, channel: int, data: bytes) -> None:
        if data:
            await asyncio.sleep(self._ready_at - asyncio.get_running_loop().time())
            await self._send({"type": "websocket.send", "bytes": bytes((channel,)) + data})


def _advance(running: Running) -> tuple[list[Wrote], Waits | Watches | Reads | None, int | None]:
    """Return (what was printed, what it waits for, exit code if it has ended) of the next piece of a command."""
    wrote: list[Wrote] = []
    size = 0
    try:
        while size < CHUNK_CHARACTERS:
            one = next(running)
            if isinstance(one, Asks):
                continue
            if not isinstance(one, Wrote):
                return wrote, one, None
            if wrote and wrote[-1].fd == one.fd:
                wrote[-1] = Wrote(one.fd, wrote[-1].text + one.text)
            else:
                wrote.append(one)
            size += len(one.text)
    except StopIteration as end:
        return wrote, None, int(end.value)
    except Exit as end:
        return wrote, None, end.code
    except TooLong:
        return [*wrote, Wrote(2, TOO_LONG)], None, 1
    return wrote, None, None


def ended(code: int) -> Document:
    """Return the Status that tells how a command ended."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
