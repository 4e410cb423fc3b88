"""The ReplicaSet controller."""

from controllers.replicaset.controller import ReplicaSetController

__all__ = ["ReplicaSetController"]
