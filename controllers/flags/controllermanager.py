"""Flags of kube-controller-manager. Source: k8s.io/kubernetes/cmd/kube-controller-manager/app/options."""

from __future__ import annotations

from typing import Any, Final

from controllers.flags.election import election
from controllers.flags.flag import Component, Flag, duration, era, fraction, listed, whole, workers

_MANAGER: Final[Component] = "kube-controller-manager"

ELECTION: Final = election(_MANAGER)


def _sync(name: str, default: int, what: str) -> Flag[int]:
    return workers(_MANAGER, f"concurrent-{name}-syncs", default, f"How many {what} are worked on at the same time.")


DEPLOYMENT_SYNCS: Final = _sync("deployment", 5, "Deployments")
REPLICASET_SYNCS: Final = _sync("replicaset", 5, "ReplicaSets")
RC_SYNCS: Final = _sync("rc", 5, "ReplicationControllers")
STATEFULSET_SYNCS: Final = _sync("statefulset", 5, "StatefulSets")
DAEMONSET_SYNCS: Final = _sync("daemonset", 2, "DaemonSets")
JOB_SYNCS: Final = _sync("job", 5, "Jobs")
CRON_JOB_SYNCS: Final = _sync("cron-job", 5, "CronJobs")
TTL_AFTER_FINISHED_SYNCS: Final = _sync("ttl-after-finished", 5, "finished Jobs")
SERVICE_SYNCS: Final = _sync("service", 1, "Services with load balancers")
ENDPOINT_SYNCS: Final = _sync("endpoint", 5, "Endpoints")
SERVICE_ENDPOINT_SYNCS: Final = _sync("service-endpoint", 5, "Services' EndpointSlices")
MIRRORING_SYNCS: Final = workers(
    _MANAGER,
    "mirroring-concurrent-service-endpoint-syncs",
    5,
    "How many mirrored Endpoints are worked on at the same time.",
)
NAMESPACE_SYNCS: Final = _sync("namespace", 10, "Namespaces")
GC_SYNCS: Final = _sync("gc", 20, "objects with owners")
RESOURCE_QUOTA_SYNCS: Final = _sync("resource-quota", 5, "ResourceQuotas")
SERVICEACCOUNT_TOKEN_SYNCS: Final = _sync("serviceaccount-token", 5, "tokens of ServiceAccounts")
HPA_SYNCS: Final = _sync("horizontal-pod-autoscaler", 5, "HorizontalPodAutoscalers")
EPHEMERAL_VOLUME_SYNCS: Final = _sync("ephemeralvolume", 5, "pods with ephemeral volumes")

CONTROLLERS: Final = listed(
    _MANAGER,
    "controllers",
    "*",
    "Which controllers run: `*` all that run by default, `name` this one too, `-name` not this one.",
)
BURST_REPLICAS: Final = whole(
    _MANAGER,
    "burst-replicas",
    500,
    "How many pods one round of a ReplicaSet, ReplicationController, DaemonSet or Job makes or deletes at most.",
    least=1,
    most=10_000,
    ours=True,
)

NODE_MONITOR_PERIOD: Final = duration(_MANAGER, "node-monitor-period", "5s", "How often heartbeats are looked at.")
NODE_MONITOR_GRACE_PERIOD: Final = duration(
    _MANAGER, "node-monitor-grace-period", "50s", "Silence after which a node's state is unknown."
)
NODE_STARTUP_GRACE_PERIOD: Final = duration(
    _MANAGER, "node-startup-grace-period", "1m0s", "Silence of a new node's kubelet after which its state is unknown."
)
NODE_EVICTION_RATE: Final = fraction(
    _MANAGER, "node-eviction-rate", "0.1", "Nodes a second that are emptied in a healthy zone."
)
SECONDARY_NODE_EVICTION_RATE: Final = fraction(
    _MANAGER,
    "secondary-node-eviction-rate",
    "0.01",
    "Nodes a second that are emptied in an unhealthy zone; none are where the cluster is small.",
)
UNHEALTHY_ZONE_THRESHOLD: Final = fraction(
    _MANAGER,
    "unhealthy-zone-threshold",
    "0.55",
    "Share of a zone's nodes that are not ready (at least three) from which on it is unhealthy.",
    most=1,
)
LARGE_CLUSTER_SIZE_THRESHOLD: Final = whole(
    _MANAGER, "large-cluster-size-threshold", 50, "Nodes of a zone above which it is large."
)

ERA: Final = era(
    _MANAGER,
    "`v1.2`: nodes have phases, the node controller deletes the pods of dead nodes after `pod-eviction-timeout` and "
    "orphans every 30 s, and pods of ReplicaSets and ReplicationControllers are made all at once.",
)
POD_EVICTION_TIMEOUT: Final = duration(
    _MANAGER,
    "pod-eviction-timeout",
    "5m0s",
    "In the era `v1.2`: for how long a node must not be ready until its pods are deleted. (Upstream's until 1.26.)",
)
TERMINATED_POD_GC_THRESHOLD: Final = whole(
    _MANAGER,
    "terminated-pod-gc-threshold",
    12_500,
    "Finished pods that are kept; the oldest above it are deleted. 0 keeps all.",
    least=None,
)
RESOURCE_QUOTA_SYNC_PERIOD: Final = duration(
    _MANAGER, "resource-quota-sync-period", "5m0s", "How often the usage of every quota is counted anew."
)
NAMESPACE_SYNC_PERIOD: Final = duration(
    _MANAGER, "namespace-sync-period", "5m0s", "How often every Namespace is looked at anew."
)
PVCLAIMBINDER_SYNC_PERIOD: Final = duration(
    _MANAGER, "pvclaimbinder-sync-period", "15s", "How often every volume and claim is looked at anew."
)
HPA_SYNC_PERIOD: Final = duration(
    _MANAGER, "horizontal-pod-autoscaler-sync-period", "15s", "How often autoscalers look at the usage of pods."
)
HPA_TOLERANCE: Final = fraction(
    _MANAGER,
    "horizontal-pod-autoscaler-tolerance",
    "0.1",
    "How far usage may be off the target, as a share of it, before an autoscaler acts.",
)
HPA_DOWNSCALE_STABILIZATION: Final = duration(
    _MANAGER,
    "horizontal-pod-autoscaler-downscale-stabilization",
    "5m0s",
    "An autoscaler goes down to the highest it recommended for so long.",
    least_ms=0,
)
HPA_CPU_INITIALIZATION_PERIOD: Final = duration(
    _MANAGER,
    "horizontal-pod-autoscaler-cpu-initialization-period",
    "5m0s",
    "A pod's processor usage may be left out for so long after its start.",
    least_ms=0,
)
HPA_INITIAL_READINESS_DELAY: Final = duration(
    _MANAGER,
    "horizontal-pod-autoscaler-initial-readiness-delay",
    "30s",
    "A change of readiness counts as the first one for so long after a pod's start.",
    least_ms=0,
)

TABLE: Final[tuple[Flag[Any], ...]] = (
    CONTROLLERS,
    DEPLOYMENT_SYNCS,
    REPLICASET_SYNCS,
    RC_SYNCS,
    STATEFULSET_SYNCS,
    DAEMONSET_SYNCS,
    JOB_SYNCS,
    CRON_JOB_SYNCS,
    TTL_AFTER_FINISHED_SYNCS,
    SERVICE_SYNCS,
    ENDPOINT_SYNCS,
    SERVICE_ENDPOINT_SYNCS,
    MIRRORING_SYNCS,
    NAMESPACE_SYNCS,
    GC_SYNCS,
    RESOURCE_QUOTA_SYNCS,
    SERVICEACCOUNT_TOKEN_SYNCS,
    HPA_SYNCS,
    EPHEMERAL_VOLUME_SYNCS,
    BURST_REPLICAS,
    ERA,
    POD_EVICTION_TIMEOUT,
    NODE_MONITOR_PERIOD,
    NODE_MONITOR_GRACE_PERIOD,
    NODE_STARTUP_GRACE_PERIOD,
    NODE_EVICTION_RATE,
    SECONDARY_NODE_EVICTION_RATE,
    UNHEALTHY_ZONE_THRESHOLD,
    LARGE_CLUSTER_SIZE_THRESHOLD,
    TERMINATED_POD_GC_THRESHOLD,
    RESOURCE_QUOTA_SYNC_PERIOD,
    NAMESPACE_SYNC_PERIOD,
    PVCLAIMBINDER_SYNC_PERIOD,
    HPA_SYNC_PERIOD,
    HPA_TOLERANCE,
    HPA_DOWNSCALE_STABILIZATION,
    HPA_CPU_INITIALIZATION_PERIOD,
    HPA_INITIAL_READINESS_DELAY,
    *ELECTION.table(),
)
