"""The node lifecycle controller: readiness from heartbeats, taints from conditions."""

from controllers.nodelifecycle.controller import NodeLifecycleController

__all__ = ["NodeLifecycleController"]
