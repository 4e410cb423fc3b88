"""The app that brings the commands `up`, `web`, `worker` and `simulate`."""

from django.apps import AppConfig


class RuntimeConfig(AppConfig):
    """Workers and the supervisor; no tables of its own."""

    name = "clustersim.runtime"
    label = "runtime"
