"""The StatefulSet controller."""

from controllers.statefulset.controller import StatefulSetController

__all__ = ["StatefulSetController"]
