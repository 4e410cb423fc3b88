"""The DaemonSet controller."""

from controllers.daemonset.controller import DaemonSetController

__all__ = ["DaemonSetController"]
