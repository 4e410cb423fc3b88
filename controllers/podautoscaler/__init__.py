"""The controller of HorizontalPodAutoscalers."""

from controllers.podautoscaler.controller import HorizontalController

__all__ = ["HorizontalController"]
