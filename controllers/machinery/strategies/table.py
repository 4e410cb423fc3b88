"""The table of strategies: one file a kind (or family of kinds) and one line each here."""

from __future__ import annotations

from typing import Final

from controllers.machinery.strategies import (
    commands,
    configmap,
    deployment,
    event,
    lease,
    namespace,
    node,
    pod,
    priorityclass,
    replicaset,
    resourcequota,
    service,
    serviceaccount,
)
from controllers.machinery.strategy import Strategy

STRATEGIES: Final[dict[str, Strategy]] = {
    "namespaces": namespace.STRATEGY,
    "nodes": node.STRATEGY,
    "pods": pod.STRATEGY,
    "services": service.STRATEGY,
    "serviceaccounts": serviceaccount.STRATEGY,
    "configmaps": configmap.STRATEGY,
    "resourcequotas": resourcequota.STRATEGY,
    "events": event.STRATEGY,
    "replicasets.apps": replicaset.STRATEGY,
    "deployments.apps": deployment.STRATEGY,
    "priorityclasses.scheduling.k8s.io": priorityclass.STRATEGY,
    "leases.coordination.k8s.io": lease.STRATEGY,
    "clocks.clustersim.io": commands.CLOCK,
    "replicas.clustersim.io": commands.REPLICA,
    "queues.clustersim.io": commands.QUEUE,
    "schedulerconfigs.clustersim.io": commands.SCHEDULER_CONFIG,
    "replays.clustersim.io": commands.REPLAY,
}
"""How each resource's documents are treated; every kind of the table has its line."""


def strategy_of(resource: str) -> Strategy:
    """Return the strategy of a group resource."""
    return STRATEGIES[resource]
