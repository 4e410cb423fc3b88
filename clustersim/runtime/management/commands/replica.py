"""`manage.py replica`: one replica of a component as a process of its own (contract 15, docs/deployment.md)."""

from __future__ import annotations

import logging
import signal
import ssl
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from clustersim.runtime.remote.client import ApiClient
from clustersim.runtime.remote.process import COMPONENTS, RemoteReplica
from scheduler_core.api.errors import ApiError


class Command(BaseCommand):
    """Take part in a session's election until a signal comes or the lease is lost."""

    help = (
        "Run one replica of a control-plane component against a session, on the session's time. It gives its lease up "
        "and exits with 0 when it is asked to end, and with 1 when it has lost its lease."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--server", required=True, help="the session's API server: http(s)://HOST:PORT/clusters/CODE"
        )
        parser.add_argument("--token", required=True, help="of a component, or of the teacher")
        parser.add_argument("--component", required=True, choices=COMPONENTS)
        parser.add_argument("--identity", required=True, help="what it writes into the Lease")
        parser.add_argument("--certificate-authority", type=Path, help="PEM file to check https by")
        parser.add_argument("--insecure-skip-tls-verify", action="store_true", help="trust any certificate")

    def handle(self, *args: Any, **options: Any) -> None:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        context = _context(options["certificate_authority"], options["insecure_skip_tls_verify"])
        try:
            replica = RemoteReplica(
                lambda find: ApiClient(options["server"], options["token"], context, find),
                options["component"],
                options["identity"],
            )
        except ValueError as wrong:
            raise CommandError(str(wrong)) from wrong
        except ApiError as refused:
            raise CommandError(f"{options['server']}: {refused.message}") from refused

        def end(number: int, frame: FrameType | None) -> None:
            replica.stop()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        self.stdout.write(f"{options['identity']} takes part in the election of {options['component']}")
        code = replica.run()
        if code:
            raise CommandError(f"{options['identity']}: Leaderelection lost", returncode=code)
        self.stdout.write(f"{options['identity']}: Requested to terminate, exiting")


def _context(authority: Path | None, insecure: bool) -> ssl.SSLContext | None:
    if authority is None and not insecure:
        return None
    try:
        context = ssl.create_default_context(cafile=None if authority is None else str(authority))
    except OSError as wrong:
        raise CommandError(f"{authority} cannot be read as a certificate: {wrong}") from wrong
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
