"""`manage.py worker`: own sessions and run their clusters."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from clustersim.runtime.worker import Worker
from scheduler_core.kernels.collecting import collect_rarely
from scheduler_core.kernels.readiness import make_ready


class Command(BaseCommand):
    """Run one worker until SIGTERM."""

    help = "Run one worker process (the supervisor of `manage.py up` does this)."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        collect_rarely()
        make_ready()
        Worker().run()
