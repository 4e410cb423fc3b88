"""The ReplicaSet controller, and the ReplicationController's, which is the same."""

from controllers.replicaset.controller import ReplicaSetController, ReplicationManager

__all__ = ["ReplicaSetController", "ReplicationManager"]
