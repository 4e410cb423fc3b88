"""The app that holds the tables."""

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """Sessions, logs, traces, workers."""

    name = "clustersim.store"
    label = "store"
