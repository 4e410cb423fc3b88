"""Binder: posts the Binding. Source: `scheduler.Config.Binder`, Kubernetes 1.2."""

from __future__ import annotations

from typing import ClassVar, Final

from scheduler_core.plugins.default_binder import DefaultBinder

NAME: Final = "Binder"


class Binder(DefaultBinder):
    """Bind through the loop, as today, under the era's name."""

    name: ClassVar[str] = NAME
