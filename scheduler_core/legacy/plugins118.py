"""Today's plugins as the framework's first scheduler had them: its words, its codes, and woken by every event.

Filters of that time wrapped predicates: a refusal was UnschedulableAndUnresolvable where the static list had it and
Unschedulable else, whatever today's plugin makes of it; and there were no queueing hints: whatever changed moved every
unschedulable pod. Where today's plugin computes something else than that time's (PodTopologySpread's scores, limits of
volumes by CSINode) it is today's that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.events import ActionType, ClusterEvent, EventRegistration, EventResource
from scheduler_core.framework.registry import PluginFactory, PluginRegistry
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.legacy import volume_counts
from scheduler_core.legacy.preemption118 import NAME as PREEMPTION
from scheduler_core.legacy.preemption118 import SchedulerPreemption
from scheduler_core.legacy.scores118 import (
    BALANCED_ALLOCATION,
    DEFAULT_SPREAD,
    LEAST_ALLOCATED,
    PREFER_AVOID_PODS,
    BalancedAllocation,
    DefaultPodTopologySpread,
    NodePreferAvoidPods,
    NodeResourcesLeastAllocated,
)
from scheduler_core.legacy.unresolvable import failure_of
from scheduler_core.plugins.default_binder import NAME as DEFAULT_BINDER
from scheduler_core.plugins.default_binder import DefaultBinder
from scheduler_core.plugins.image_locality import NAME as IMAGE_LOCALITY
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.plugins.inter_pod_affinity.plugin import InterPodAffinity
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_name import NodeName
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources_fit import NodeResourcesFit
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.plugins.pod_topology_spread.plugin import PodTopologySpread
from scheduler_core.plugins.priority_sort import NAME as PRIORITY_SORT
from scheduler_core.plugins.priority_sort import PrioritySort
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.plugins.volume_zone import VolumeZone
from scheduler_core.snapshot.snapshot import Rows

EBS_LIMITS: Final = "EBSLimits"
GCE_PD_LIMITS: Final = "GCEPDLimits"
AZURE_DISK_LIMITS: Final = "AzureDiskLimits"

AZURE_DISKS_MAX: Final = 16
"""Azure disks that pods of one node may use; a pod that would need more does not fit there."""

_AFFINITY: Final = "node(s) didn't match pod affinity/anti-affinity"

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "node(s) didn't match Pod's node affinity/selector": ("node(s) didn't match node selector",),
    "node(s) didn't match the requested node name": ("node(s) didn't match the requested hostname",),
    "node(s) didn't match pod affinity rules": (_AFFINITY, "node(s) didn't match pod affinity rules"),
    "node(s) didn't match pod anti-affinity rules": (_AFFINITY, "node(s) didn't match pod anti-affinity rules"),
    "node(s) didn't satisfy existing pods anti-affinity rules": (
        _AFFINITY,
        "node(s) didn't satisfy existing pods anti-affinity rules",
    ),
    "node(s) didn't match pod topology spread constraints (missing required label)": (
        "node(s) didn't match pod topology spread constraints",
    ),
    "node(s) didn't match PersistentVolume's node affinity": ("node(s) had volume node affinity conflict",),
    "node(s) did not have enough free storage": ("node(s) didn't find available persistent volumes to bind",),
    volume_counts.REASON: ("node(s) exceed max volume count",),
}
"""Today's reason → that time's."""

_TAINT: Final = "node(s) had untolerated taint"

_CHANGES: Final = (
    ActionType.UPDATE_POD_LABEL
    | ActionType.UPDATE_POD_SCALE_DOWN
    | ActionType.UPDATE_POD_TOLERATIONS
    | ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
)

EVENTS: Final = tuple(
    EventRegistration(ClusterEvent(resource, action))
    for resource, action in (
        (EventResource.NODE, ActionType.ALL),
        (EventResource.ASSIGNED_POD, ActionType.ADD | ActionType.DELETE | _CHANGES),
        # A change of the status alone moves no pod.
        (EventResource.UNSCHEDULED_POD, _CHANGES),
        (EventResource.PERSISTENT_VOLUME, ActionType.ALL),
        (EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ALL),
        (EventResource.STORAGE_CLASS, ActionType.ALL),
        (EventResource.CSI_NODE, ActionType.ALL),
    )
)
"""What moved unschedulable pods, whichever plugin had turned them away."""


class _AzureDiskLimits(volume_counts.MaxVolumeCount):
    name: ClassVar[str] = AZURE_DISK_LIMITS
    limit: ClassVar[int] = AZURE_DISKS_MAX
    source: ClassVar[str] = "azure_disk"
    key: ClassVar[str] = "diskName"
    plugin: ClassVar[str] = "azure-disk"


def then(reason: str) -> tuple[str, ...]:
    """Return the reasons of that time for one of today's."""
    if reason.startswith(_TAINT):
        return ("node(s) had taints that the pod didn't tolerate",)
    return _WORDS.get(reason, (reason,))


def _code(reasons: Sequence[str], today: int) -> int:
    failures = [failure_of(reason) for reason in reasons]
    if any(failure is not None and not failure.helps for failure in failures):
        return int(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
    return today if any(failure is None for failure in failures) else int(Code.UNSCHEDULABLE)


def reworded(verdicts: Verdicts) -> Verdicts:
    """Return a filter's verdicts in that time's words, with the codes that its list gives them."""
    explain = verdicts.explain

    def told(key: int) -> tuple[str, ...]:
        return tuple(word for reason in explain(key) for word in then(reason))

    codes = verdicts.codes.copy()
    failed = (codes == Code.UNSCHEDULABLE) | (codes == Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
    for key in np.unique(verdicts.keys[failed]).tolist():
        concerned = failed & (verdicts.keys == key)
        for code in np.unique(codes[concerned]).tolist():
            codes[concerned & (verdicts.codes == code)] = _code(told(key), code)
    return Verdicts(codes, verdicts.keys, told)


@cache
def as_then(plugin: type, name: str = "") -> type:
    """Return a plugin's class as that time had it, under another name if one is given."""

    def events_to_register(self: Any) -> Sequence[EventRegistration]:
        return EVENTS

    members: dict[str, Any] = {"__doc__": plugin.__doc__, "events_to_register": events_to_register}
    if name:
        members["name"] = name
    if hasattr(plugin, "filter"):

        def judge(self: Any, state: Any, pod: Any, snapshot: Any, rows: Rows) -> Verdicts:
            verdicts: Verdicts = plugin.filter(self, state, pod, snapshot, rows)
            return reworded(verdicts)

        members["filter"] = judge
    return type(plugin.__name__, (plugin,), members)


def _plain(plugin: type, name: str = "") -> PluginFactory:
    made: Callable[..., Any] = as_then(plugin, name)
    return lambda arguments, handle: made()


def _with_arguments(plugin: type) -> PluginFactory:
    made: Callable[..., Any] = as_then(plugin)
    return lambda arguments, handle: made(arguments)


def _with_handle(plugin: type, name: str = "") -> PluginFactory:
    made: Callable[..., Any] = as_then(plugin, name)
    return lambda arguments, handle: made(arguments, handle)


def _node_affinity(arguments: Mapping[str, Any], handle: Any) -> Any:
    made: Any = as_then(NodeAffinity)
    # No plugin of that time took arguments to add affinity.
    return made.from_arguments({})


PLUGINS: Final[Mapping[str, PluginFactory]] = {
    PRIORITY_SORT: lambda arguments, handle: PrioritySort(),
    NodeUnschedulable.name: _plain(NodeUnschedulable),
    NodeResourcesFit.name: _with_arguments(NodeResourcesFit),
    NodeName.name: _plain(NodeName),
    NodePorts.name: _plain(NodePorts),
    NodeAffinity.name: _node_affinity,
    VolumeRestrictions.name: _with_handle(VolumeRestrictions),
    TaintToleration.name: _plain(TaintToleration),
    EBS_LIMITS: _with_handle(volume_counts.MaxEBSVolumeCount, EBS_LIMITS),
    GCE_PD_LIMITS: _with_handle(volume_counts.MaxGCEPDVolumeCount, GCE_PD_LIMITS),
    NodeVolumeLimits.name: _with_handle(NodeVolumeLimits),
    AZURE_DISK_LIMITS: _with_handle(_AzureDiskLimits),
    VolumeBinding.name: _with_handle(VolumeBinding),
    VolumeZone.name: _with_handle(VolumeZone),
    PodTopologySpread.name: _with_handle(PodTopologySpread),
    InterPodAffinity.name: _with_handle(InterPodAffinity),
    BALANCED_ALLOCATION: lambda arguments, handle: BalancedAllocation(),
    IMAGE_LOCALITY: lambda arguments, handle: ImageLocality(),
    LEAST_ALLOCATED: lambda arguments, handle: NodeResourcesLeastAllocated(arguments),
    PREFER_AVOID_PODS: lambda arguments, handle: NodePreferAvoidPods(),
    DEFAULT_SPREAD: DefaultPodTopologySpread,
    PREEMPTION: SchedulerPreemption,
    DEFAULT_BINDER: lambda arguments, handle: DefaultBinder(),
}
"""Plugin name → how to build it; Preemption is no plugin of that time, but what its scheduler did itself."""


def registry118() -> PluginRegistry:
    """Return a registry of the era's plugins."""
    return PluginRegistry(PLUGINS)
