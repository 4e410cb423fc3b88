"""The table of strategies: one file a kind (or family of kinds) and one line each here."""

from __future__ import annotations

from typing import Final

from controllers.kinds.apps import deployment, replicaset, statefulset
from controllers.kinds.clustersim import commands
from controllers.kinds.coordination import lease
from controllers.kinds.core import (
    configmap,
    event,
    namespace,
    node,
    persistentvolume,
    persistentvolumeclaim,
    replicationcontroller,
    resourcequota,
    service,
    serviceaccount,
)
from controllers.kinds.core.pod import strategy as pod
from controllers.kinds.policy import poddisruptionbudget
from controllers.kinds.scheduling import priorityclass
from controllers.kinds.storage import csi, storageclass
from controllers.registry.strategy import Strategy

STRATEGIES: Final[dict[str, Strategy]] = {
    "namespaces": namespace.STRATEGY,
    "nodes": node.STRATEGY,
    "pods": pod.STRATEGY,
    "services": service.STRATEGY,
    "serviceaccounts": serviceaccount.STRATEGY,
    "configmaps": configmap.STRATEGY,
    "resourcequotas": resourcequota.STRATEGY,
    "persistentvolumeclaims": persistentvolumeclaim.STRATEGY,
    "persistentvolumes": persistentvolume.STRATEGY,
    "replicationcontrollers": replicationcontroller.STRATEGY,
    "events": event.STRATEGY,
    "replicasets.apps": replicaset.STRATEGY,
    "deployments.apps": deployment.STRATEGY,
    "statefulsets.apps": statefulset.STRATEGY,
    "poddisruptionbudgets.policy": poddisruptionbudget.STRATEGY,
    "storageclasses.storage.k8s.io": storageclass.STRATEGY,
    "csinodes.storage.k8s.io": csi.NODE,
    "csidrivers.storage.k8s.io": csi.DRIVER,
    "csistoragecapacities.storage.k8s.io": csi.CAPACITY,
    "volumeattachments.storage.k8s.io": csi.ATTACHMENT,
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
