"""The app that holds the tables."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """Sessions, logs, traces, workers."""

    name = "clustersim.store"
    label = "store"

    def ready(self) -> None:
        """Have each request's connection closed with the request."""
        from django.core.signals import request_finished

        request_finished.connect(close_connection, dispatch_uid="clustersim.store.close_connection")


def close_connection(**_: Any) -> None:
    """Close this thread's connection: Django gives each request a thread of its own, so nobody will use it again, and
    what the collector finds late are open files.
    """
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
