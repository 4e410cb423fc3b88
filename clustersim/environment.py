"""What the environment asks for: one reading of each variable, with its default and its refusal.

Variables: PORT, HOST, CLUSTERSIM_DATA, DATABASE_URL, REDIS_URL, WORKERS, TLS_PORT, OPEN_SESSIONS, METRICS_TOKEN,
CLUSTERSIM_HOSTS, CLUSTERSIM_EXTENDERS, CLUSTERSIM_PLUGINS (docs/deployment.md).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from scheduler_core.extender.configuration import origin_of

_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits that are not read as one another."""

SOCKET_PATH_BYTES_MAX: Final = 100
"""Unix socket paths end at 104 bytes on some systems; a deeper data folder gets its socket in the temporary folder."""


class BadEnvironment(Exception):
    """A variable that cannot be used; the message names it and says what it should look like."""


def integer(name: str, default: int, *, least: int = 0, most: int = 65535) -> int:
    """Return an integer variable.

    Raises:
        BadEnvironment: it is no number, or out of range.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or not least <= int(text) <= most:
        raise BadEnvironment(f"{name}={text!r}: give a number from {least} to {most}")
    return int(text)


def switch(name: str, default: bool) -> bool:
    """Return a variable that is on or off.

    Raises:
        BadEnvironment: it is neither.
    """
    text = os.environ.get(name, "").strip().lower()
    if text not in ("", "on", "off"):
        raise BadEnvironment(f"{name}={text!r}: give on or off")
    return text == "on" if text else default


def choice(name: str, choices: Iterable[str]) -> str:
    """Return a variable that is one of some words, empty when it is not set.

    Raises:
        BadEnvironment: it is none of them.
    """
    text = os.environ.get(name, "").strip().lower()
    known = tuple(choices)
    if text and text not in known:
        raise BadEnvironment(f"{name}={text!r}: give one of {', '.join(known)}")
    return text


def redis_socket(data: Path) -> Path:
    """Return where the embedded Redis of a data folder listens."""
    path = data / "redis.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX:
        return path
    digest = hashlib.blake2b(os.fsencode(data), digest_size=8).hexdigest()
    return Path(tempfile.gettempdir()) / f"clustersim-{digest}.sock"


def database(url: str, data: Path) -> dict[str, Any]:
    """Return Django's DATABASES entry for DATABASE_URL; empty means the SQLite file in the data folder.

    Raises:
        BadEnvironment: the address is neither sqlite:///path nor postgresql://user:password@host:port/name.
    """
    parts = urlsplit(url)
    if not url or parts.scheme == "sqlite":
        path = Path(unquote(parts.path)[1:]) if url else data / "clustersim.sqlite3"
        return {
            "ENGINE": "clustersim.store.sqlite",
            "NAME": str(path),
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                # 16 MB of pages in memory, and as much in the write-ahead log before it is worked into the file. A
                # pod's row has some 2 KB: a page of SQLite's usual 4 KB holds one, and twice as many pages are written.
                "init_command": "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                "PRAGMA cache_size=-16000; PRAGMA wal_autocheckpoint=2000;",
            },
            "TEST": {"NAME": str(path.with_name(f"test-{os.getpid()}-{path.name}"))},
        }
    if parts.scheme in ("postgres", "postgresql"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(parts.hostname or ""),
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": None,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": dict(parse_qsl(parts.query)),
        }
    raise BadEnvironment(
        f"DATABASE_URL with {parts.scheme}://: give sqlite:///path or postgresql://user:word@host/name"
    )


def private_folder(path: Path) -> Path:
    """Return the data folder, made with mode 0700 where it was not there."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def secret_key(data: Path) -> str:
    """Return the installation's key, made once in the data folder (mode 0600)."""
    return _kept(data / "secret-key", lambda: secrets.token_urlsafe(48))


def pass_phrase(data: Path) -> str:
    """Return what opens sessions from the network, made once in the data folder (mode 0600): four groups of four."""
    return _kept(
        data / "pass-phrase", lambda: "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(4))
    )


def _kept(path: Path, make: Callable[[], str]) -> str:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(make())
    except FileExistsError:
        pass
    return path.read_text()


PACKING: Final = Path(__file__).with_name("packing.py")
"""What makes other files of the static ones (and is not imported here: settings are read first)."""


def release(version: str, folders: Mapping[str, Path]) -> str:
    """Return the name of what is served: the version and a digest of the static files' contents and their packing.

    A page of another release reloads, so the name must change with any byte that a browser gets.
    """
    digest = hashlib.blake2b(digest_size=6)
    for label, folder in folders.items():
        for path in sorted(_files(folder)):
            digest.update(f"{label}/{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    digest.update(PACKING.read_bytes())
    return f"{version}-{digest.hexdigest()}"


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def host_names(extra: str) -> list[str]:
    """Return the names this machine answers to, beside any literal address: its own, and the operator's list."""
    own = socket.gethostname().lower()
    names = ["localhost", "clustersim.internal", own]
    if "." not in own:
        names.append(f"{own}.local")
    return [*names, *(name.strip().lower() for name in extra.split(",") if name.strip())]


def extender_origins(text: str) -> frozenset[str]:
    """Return the origins, `scheme://host:port`, at which sessions may call scheduler extenders.

    Raises:
        BadEnvironment: one of them is no origin.
    """
    found: set[str] = set()
    for origin in filter(None, (part.strip() for part in text.split(","))):
        parts = urlsplit(origin)
        try:
            if parts.path.strip("/") or parts.query or parts.fragment or parts.username:
                raise ValueError
            found.add(origin_of(origin))
        except ValueError:
            raise BadEnvironment(
                f"CLUSTERSIM_EXTENDERS={text!r}: {origin!r} is no origin; give http://host:port or https://host:port, "
                "with commas between"
            ) from None
    return frozenset(found)
