"""Processes of this installation that begin where their supervisor stands: nothing that it has read is read again.

Where the system forks safely (Linux) the supervisor reads all that its children need once (`make_room`); a child has it
at once and shares its memory: a start costs three quarters of the processor time, all together hold two thirds of the
memory, and who died is back in half a second. Elsewhere the same children are started afresh (`multiprocessing`'s
spawn).
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess, SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from setproctitle import setproctitle

from clustersim.runtime import lifeline
from scheduler_core.kernels.readiness import make_ready

MANAGE: Final = str(Path(__file__).resolve().parent.parent.parent / "manage.py")

FORKS: Final = sys.platform == "linux"
"""Elsewhere libraries of the system that a process has used may not be used after a fork (macOS)."""

READ: Final = ("clustersim.runtime.worker", "clustersim.asgi")
"""What the workers and the web process are made of. Neither starts a thread nor chooses an event loop."""


def make_room() -> None:
    """Read what children need; what is there stays, so that looking for garbage leaves their shared memory alone."""
    if not FORKS:
        return
    for module in READ:
        importlib.import_module(module)
    # Their commands do this too, and find it done.
    make_ready()
    gc.freeze()


class Born:
    """A process that runs a manage.py command, looked after as `subprocess.Popen` is.

    Args:
        arguments: the command's name and what follows it.
        line: the end of the supervisor's pipe that tells when the supervisor is gone.
    """

    def __init__(self, arguments: Sequence[str], line: Connection) -> None:
        kind: type[BaseProcess] = ForkProcess if FORKS else SpawnProcess
        self._process = kind(target=_run, args=(tuple(arguments), line), name=arguments[0])
        self._process.start()
        self.pid: Final = self._process.pid or 0

    def poll(self) -> int | None:
        """Return the exit code, negative the signal that ended it; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit code.

        Raises:
            TimeoutError: it runs on.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError(f"{self._process.name} runs on")
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it runs."""
        if self._process.exitcode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()


def _run(arguments: tuple[str, ...], line: Connection) -> None:
    """Be that process: in a session of its own, with a name that `ps` shows, and no signal of the supervisor's."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)
    setproctitle(" ".join((sys.executable, MANAGE, *arguments)))
    lifeline.watch(line)
    # Found here and not above: the command's module may choose the event loop of its process.
    from django.core.management import execute_from_command_line

    execute_from_command_line([MANAGE, *arguments])
