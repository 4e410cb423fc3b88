"""Times that are told as null while nobody has set them.

Upstream's types hold these by value, so that encoding cannot leave them out; all other times are pointers (or
`omitzero`) and are absent. Source: the types.go files of k8s.io/api v1.34.
"""

from __future__ import annotations

from typing import Final

_SINCE: Final = ("lastTransitionTime",)
_PROBED: Final = ("lastProbeTime", "lastTransitionTime")
_UPDATED: Final = ("lastUpdateTime", "lastTransitionTime")

ZERO_TIMES: Final[dict[str, tuple[str, ...]]] = {
    "apps_v1.DaemonSetCondition": _SINCE,
    "apps_v1.DeploymentCondition": _UPDATED,
    "apps_v1.ReplicaSetCondition": _SINCE,
    "apps_v1.StatefulSetCondition": _SINCE,
    "autoscaling_v2.HorizontalPodAutoscalerCondition": _SINCE,
    "batch_v1.JobCondition": _PROBED,
    "core_v1.ContainerStateRunning": ("startedAt",),
    "core_v1.ContainerStateTerminated": ("startedAt", "finishedAt"),
    "core_v1.EventSeries": ("lastObservedTime",),
    "events_v1.EventSeries": ("lastObservedTime",),
    "core_v1.NamespaceCondition": _SINCE,
    "core_v1.NodeCondition": ("lastHeartbeatTime", "lastTransitionTime"),
    "core_v1.PersistentVolumeClaimCondition": _PROBED,
    "core_v1.PodCondition": _PROBED,
    "core_v1.ReplicationControllerCondition": _SINCE,
    "flowcontrol_v1.FlowSchemaCondition": _SINCE,
    "flowcontrol_v1.PriorityLevelConfigurationCondition": _SINCE,
    "meta_v1.Condition": ("lastTransitionTime",),
    "storage_v1.VolumeError": ("time",),
}
"""The times of a struct (`core_v1.PodCondition`) that are null where they are not set."""
