"""`manage.py up`: start everything, say where it is, keep it running."""

from __future__ import annotations

import http.client
import io
import json
import os
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import segno
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from clustersim import environment
from clustersim.runtime import born, certificates, lifeline, redisserver, supervisor


class Command(BaseCommand):
    """Migrate, then run Redis, the web process and the workers until Ctrl-C."""

    help = "Start Clustersim: Redis, the web process and the workers, in the foreground."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        try:
            _make_private(settings.DATA)
            held = supervisor.hold_data_folder(settings.DATA)
            supervisor.check_port(settings.HOST, settings.PORT, "PORT")
            if settings.TLS_PORT:
                supervisor.check_port(settings.HOST, settings.TLS_PORT, "TLS_PORT")
            keeper = supervisor.Supervisor()
            try:
                self._prepare(keeper)
                keeper.run(lambda: self._announce(time.monotonic() - began), _ready)
            finally:
                os.close(held)
        except (supervisor.Refused, environment.BadEnvironment) as error:
            raise CommandError(str(error)) from None

    def _prepare(self, keeper: supervisor.Supervisor) -> None:
        """Start Redis while the tables and files are made, then line up the rest."""
        if not os.environ.get("REDIS_URL"):
            redis = redisserver.child(settings.DATA)
            redis.start()
            keeper.children.append(redis)
        metrics = settings.DATA / "metrics"
        shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir()
        # What children are told. The release is settled once: one that is started again must name the files that were
        # collected. Where the counts lie is read when `prometheus_client` is first imported: by `make_room`.
        os.environ["CLUSTERSIM_RELEASE"] = settings.RELEASE
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(metrics)
        call_command("migrate", verbosity=0, interactive=False)
        connections.close_all()
        _collect_static()
        if settings.TLS_PORT:
            certificates.ensure(settings.DATA, environment.host_names(os.environ.get("CLUSTERSIM_HOSTS", "")))
        born.make_room()
        line = lifeline.line()
        commands = {"web": "web", **{f"worker-{n}": "worker" for n in range(1, settings.WORKERS + 1)}}
        keeper.children += [
            supervisor.Child(name, partial(born.Born, (command,), line)) for name, command in commands.items()
        ]

    def _announce(self, seconds: float) -> None:
        open_to_lan = settings.HOST not in ("127.0.0.1", "::1", "localhost")
        shown = settings.HOST if settings.HOST not in ("0.0.0.0", "::", "") else "127.0.0.1"
        address = f"http://{f'[{shown}]' if ':' in shown else shown}:{settings.PORT}/"
        lan = certificates.lan_address()
        lan_address = f"http://{lan}:{settings.PORT}/" if lan else None
        lines = [f"Clustersim is ready after {seconds:.1f} s. Stop it with Ctrl-C.", "", f"  Open          {address}"]
        if lan_address and open_to_lan:
            lines.append(f"  Others join   {lan_address}")
        elif lan_address:
            lines.append(f"  Others join   {lan_address}   after: HOST=0.0.0.0 make run")
        if open_to_lan and settings.OPEN_SESSIONS in ("", "password"):
            lines.append(f"  Pass phrase   {settings.PASS_PHRASE}   to open sessions from other machines")
        elif settings.OPEN_SESSIONS == "password":
            lines.append(f"  Pass phrase   {settings.PASS_PHRASE}   to open sessions")
        if settings.TLS_PORT:
            lines.append(
                f"  kubectl       https://{shown}:{settings.TLS_PORT}/clusters/<code>, by the session's kubeconfig"
            )
        picture = io.StringIO()
        segno.make(lan_address if lan_address and open_to_lan else address, error="m").terminal(
            out=picture, compact=True
        )
        self.stdout.write("\n".join([*lines, "", picture.getvalue()]))
        self.stdout.flush()


def _make_private(data: Path) -> None:
    """Take from others what an earlier release left readable: the data folder and the database in it."""
    data.chmod(0o700)
    for path in data.glob("*.sqlite3*"):
        path.chmod(0o600)


def _collect_static() -> None:
    """Put this release's static files, compressed, where the web process serves them; earlier releases stay."""
    root: Path = settings.STATIC_ROOT
    if root.is_dir():
        return
    making = root.with_name(f".{root.name}.{os.getpid()}")
    final = settings.STATIC_ROOT
    settings.STATIC_ROOT = making
    try:
        call_command("collectstatic", interactive=False, verbosity=0)
        making.rename(final)
    finally:
        settings.STATIC_ROOT = final
        shutil.rmtree(making, ignore_errors=True)
    _forget_releases(final)


def _forget_releases(current: Path) -> None:
    """Keep this release and the one before it, for pages that are still open."""
    others = [path for path in current.parent.iterdir() if path.is_dir() and path != current]
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[1:]:
        shutil.rmtree(path, ignore_errors=True)


def _ready() -> bool:
    """Return whether people may come: everything answers, though sessions of the last run may still be on their way."""
    # It imports `prometheus_client` (see `_prepare`).
    from clustersim.runtime import health

    host = settings.HOST if settings.HOST not in ("0.0.0.0", "") else "127.0.0.1"
    client = http.client.HTTPConnection("::1" if host == "::" else host, settings.PORT, timeout=3)
    try:
        client.request("GET", "/readyz")
        response = client.getresponse()
        answer = json.loads(response.read())
        told = [text for text in answer.values() if text != "ok"]
        return all(text.startswith(health.TAKING_UP) for text in told)
    except (OSError, ValueError):
        return False
    finally:
        client.close()
