"""`manage.py up`: Redis, the web process and the workers as children; restarted when they die, stopped together.

Children run in sessions of their own, so that a Ctrl-C reaches the supervisor alone and the order of stopping is its
choice. When the supervisor is killed, they notice and end (`lifeline`).
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final, Protocol

logger = logging.getLogger(__name__)

RESTART_FIRST_SECONDS: Final = 0.2
RESTART_MOST_SECONDS: Final = 5.0
"""Wait before a child that died is started again: doubled each time, back to the first after it ran for that long."""

STOP_SECONDS: Final = 8.0
"""How long a child may take to end before it is killed."""

LOOK_SECONDS: Final = 5.0
"""Children are looked at this often though no signal came."""

STANDS_SECONDS: Final = 1.5
"""A child that stands still (SIGSTOP) for so long is killed and started again: it may hold what others wait for."""


class Refused(Exception):
    """`up` cannot start; the message says what to do."""


class Running(Protocol):
    """A process that was started; `subprocess.Popen` is one."""

    @property
    def pid(self) -> int:
        """Return its number."""

    def poll(self) -> int | None:
        """Return its exit code, negative the signal that ended it; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit code; raise `TimeoutError` or `TimeoutExpired` where it runs on."""

    def send_signal(self, number: int, /) -> None:
        """Send a signal, if it runs."""

    def kill(self) -> None:
        """End it at once."""


@dataclass(slots=True)
class Child:
    """One process to keep alive. `begin` starts it, and starts it again."""

    name: str
    begin: Callable[[], Running]
    process: Running | None = None
    started_at: float = 0.0
    restart_at: float = 0.0
    wait_seconds: float = RESTART_FIRST_SECONDS
    restarts: int = 0
    stands_since: float | None = None

    def start(self) -> None:
        """Start the process."""
        self.process = self.begin()
        self.started_at = time.monotonic()
        self.stands_since = None

    def look(self, now: float) -> None:
        """End a child that stands still; note a death and start again when its wait is over."""
        ended = None if self.process is None else self.process.poll()
        if self.process is not None and ended is None:
            self._look_at_standing(self.process, now)
            return
        if ended is not None:
            logger.warning("%s ended with %s", self.name, _how(ended))
            if now - self.started_at > RESTART_MOST_SECONDS:
                self.wait_seconds = RESTART_FIRST_SECONDS
            self.restart_at = now + self.wait_seconds
            self.wait_seconds = min(self.wait_seconds * 2, RESTART_MOST_SECONDS)
            self.process = None
        if now >= self.restart_at:
            self.restarts += 1
            self.start()

    def next_look(self) -> float | None:
        """Return the monotonic time at which `look` has something to do, unless a signal tells of more."""
        if self.process is None:
            return self.restart_at
        return None if self.stands_since is None else self.stands_since + STANDS_SECONDS

    def _look_at_standing(self, process: Running, now: float) -> None:
        if not _stands(process.pid):
            self.stands_since = None
        elif self.stands_since is None:
            self.stands_since = now
        elif now >= self.stands_since + STANDS_SECONDS:
            logger.warning("%s stands still and is ended", self.name)
            process.kill()
            process.wait()

    def signal(self, number: int) -> None:
        """Send a signal, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, deadline: float) -> None:
        """Wait for its end, and kill it at the deadline."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except (subprocess.TimeoutExpired, TimeoutError):
            logger.warning("%s did not stop in %g s and is killed", self.name, STOP_SECONDS)
            self.process.kill()
            self.process.wait()


def _stands(pid: int) -> bool:
    """Return whether a child was stopped and not continued (where the system can say so)."""
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@dataclass(slots=True)
class Supervisor:
    """Keeps children alive until a signal says stop. `first` ones stop last (Redis)."""

    children: list[Child] = field(default_factory=list)
    _stopping: bool = False
    _poke: tuple[int, int] = field(default_factory=os.pipe)

    def run(self, on_ready: Callable[[], None], is_ready: Callable[[], bool]) -> None:
        """Start what is not started, call `on_ready` once when `is_ready`, and supervise until told to stop."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        # A signal writes a byte here, so that waiting ends at once (a child's death and a stop alike).
        os.set_blocking(self._poke[1], False)
        os.set_blocking(self._poke[0], False)
        signal.set_wakeup_fd(self._poke[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        announced = False
        try:
            for child in self.children:
                if child.process is None:
                    child.start()
            while not self._stopping:
                for child in self.children:
                    child.look(time.monotonic())
                if not announced and is_ready():
                    announced = True
                    on_ready()
                self._pause(self._wait_seconds() if announced else 0.03)
        finally:
            self.shut_down()

    def shut_down(self) -> None:
        """Stop all: the web process and the workers first, then what they lean on."""
        for group in (self.children[1:], self.children[:1]):
            deadline = time.monotonic() + STOP_SECONDS
            for child in group:
                child.signal(signal.SIGTERM)
            for child in group:
                child.wait(deadline)

    def _wait_seconds(self) -> float:
        """Return how long nothing has to be looked at: deaths, stops and signals wake this process by themselves."""
        looks = [at for at in (child.next_look() for child in self.children) if at is not None]
        return min(LOOK_SECONDS, max(0.0, min(looks) - time.monotonic())) if looks else LOOK_SECONDS

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True

    def _pause(self, seconds: float) -> None:
        import select

        if select.select([self._poke[0]], [], [], seconds)[0]:
            try:
                os.read(self._poke[0], 4096)
            except BlockingIOError:
                return


def hold_data_folder(data: Path) -> int:
    """Return a file descriptor that holds this data folder for this process.

    Raises:
        Refused: another `up` runs on it.
    """
    descriptor = os.open(data / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Refused(
            f"Clustersim already runs on {data}: stop it first, or choose another folder with CLUSTERSIM_DATA"
        ) from None
    # Children that outlive this process for a moment do not hold it.
    os.register_at_fork(after_in_child=lambda: os.close(descriptor))
    return descriptor


def check_port(host: str, port: int, variable: str) -> None:
    """Find out now, and not from a child's traceback, that a port cannot be had.

    Raises:
        Refused: the port is taken or may not be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Refused(
                f"{variable} {port} on {host} cannot be used ({error.strerror}): choose another, "
                f"for instance {variable}={port + 1} make run"
            ) from None


def program(name: str, command: Sequence[str], environment: Mapping[str, str]) -> Child:
    """Return a child that is another program."""

    def begin() -> Running:
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)

    return Child(name, begin)
