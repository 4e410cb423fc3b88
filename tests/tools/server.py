"""A started Clustersim for tests: `manage.py up` on free ports with a data folder of its own.

    with running() as server:
        httpx.get(server.url + "/readyz")

`server.url` has no slash at the end; `server.tls_url` is the same over TLS; `server.data` is the data folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from tests.tools.patience import PATIENCE_SECONDS

PORTS = range(20_000, 30_000)
"""Below `net.ipv4.ip_local_port_range`: whoever connects somewhere is given a port above."""

_claimed: list[IO[str]] = []
"""Locked files of the ports that this process was given; the system unlocks them when it ends."""

ROOT = Path(__file__).resolve().parent.parent.parent

_PAUSE = threading.Event()
"""Never set: what a condition is asked again after."""


def free_port() -> int:
    """Return a TCP port for a server that a test starts: nobody listens on it, nor will before the server does.

    It is none of those that the system gives to outgoing connections, and other test processes are given others.
    """
    for port in random.sample(PORTS, len(PORTS)):
        claim = (_claims() / str(port)).open("w")
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("0.0.0.0", port))
        except OSError:
            claim.close()
            continue
        _claimed.append(claim)
        return port
    raise AssertionError("no port is free")


def _claims() -> Path:
    folder = Path(tempfile.gettempdir()) / f"clustersim-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    return folder


def wait_for(condition: Callable[[], Any], *, what: str = "the condition") -> Any:
    """Return the condition's first true value; fail where it never comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"{what} did not come true within {PATIENCE_SECONDS:g} s")
        _PAUSE.wait(0.02)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def child_pids(pid: int) -> dict[int, list[str]]:
    """Return the direct children of a process: pid → command line (Linux)."""
    found: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and fields[0] != "Z":
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ").split()
    return found


@dataclass
class Server:
    """A running installation."""

    port: int
    tls_port: int
    data: Path
    process: subprocess.Popen[bytes]
    log: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"https://127.0.0.1:{self.tls_port}"

    def ready(self) -> bool:
        """Return whether /readyz answers 200."""
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def request(
        self, method: str, path: str, body: Any = None, token: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Return (status, decoded JSON) of a request."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                text = answer.read()
                is_json = "json" in answer.headers.get("Content-Type", "")
                return answer.status, json.loads(text) if is_json and text else text.decode(errors="replace")
        except urllib.error.HTTPError as error:
            text = error.read()
            with contextlib.suppress(ValueError):
                return error.code, json.loads(text)
            return error.code, text.decode(errors="replace")

    def obeyed(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """Return as `request` does, asking again while the session's owner has had no time to obey.

        On a busy machine it may not answer within the contract's 5 s; then nothing was changed, and one tries again.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, answer = self.request(method, path, body, token)
            if status != 503 or time.monotonic() > deadline:
                return status, answer
            _PAUSE.wait(0.2)

    def pids(self, name: str) -> list[int]:
        """Return the pids of the children whose command line has this word (`web`, `worker`, `valkey-server` …)."""
        children = child_pids(self.process.pid)
        return sorted(pid for pid, command in children.items() if any(Path(part).name == name for part in command))

    def redis_pids(self) -> list[int]:
        """Return the pid of the embedded Redis, if it runs."""
        children = child_pids(self.process.pid)
        return [pid for pid, command in children.items() if Path(command[0]).name.startswith(("valkey", "redis"))]

    def let_sleep(self) -> None:
        """Have the sessions sleep that nobody uses from now on, as they would do after some minutes (SQLite)."""
        with contextlib.closing(sqlite3.connect(self.data / "clustersim.sqlite3", PATIENCE_SECONDS)) as database:
            database.execute("UPDATE store_session SET touched_ms = 0 WHERE NOT hibernated")
            database.commit()

    def stop(self) -> int:
        """Stop it as Ctrl-C does and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"`manage.py up` did not stop in {PATIENCE_SECONDS:g} s:\n{self.tail()}") from None

    def tail(self, lines: int = 60) -> str:
        """Return the end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def lay_out_static(data: Path) -> None:
    """Give a data folder this release's static files as `make py` collected them, so that `up` needs not; else none."""
    if not settings.configured:
        return
    made: Path = settings.STATIC_ROOT
    wanted = data / "static" / made.name
    if made.is_dir() and not wanted.exists():
        shutil.copytree(made, wanted, copy_function=_link)


def _link(made: str, wanted: str) -> None:
    try:
        os.link(made, wanted)
    except OSError:  # Another file system.
        shutil.copyfile(made, wanted)


def start(data: Path, environment: Mapping[str, str] | None = None, *, collected: bool = True) -> Server:
    """Start `manage.py up` on free ports; does not wait. `collected` False: it has to collect its static files."""
    data.mkdir(parents=True, exist_ok=True)
    if collected:
        lay_out_static(data)
    port, tls_port = free_port(), free_port()
    chosen = {
        "PORT": str(port),
        "TLS_PORT": str(tls_port),
        "HOST": "127.0.0.1",
        "CLUSTERSIM_DATA": str(data),
        **(environment or {}),
    }
    inherited = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
    log = data / "up.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "up"],
            cwd=ROOT,
            env={**inherited, **chosen},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Server(port, int(chosen["TLS_PORT"]), data, process, log, chosen)


@contextlib.contextmanager
def running(
    environment: Mapping[str, str] | None = None, data: Path | None = None, *, collected: bool = True
) -> Iterator[Server]:
    """Start an installation, wait until it is ready, stop it at the end."""
    folder = data or Path(tempfile.mkdtemp(prefix="clustersim-"))
    server = start(folder, environment, collected=collected)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not server.ready():
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"`manage.py up` is not ready:\n{server.tail()}")
            _PAUSE.wait(0.05)
        yield server
    finally:
        server.stop()
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)
