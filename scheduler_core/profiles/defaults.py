"""The table of plugins, and the default profile of kube-scheduler 1.34.1 in its running order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.framework.profile import DEFAULT_SCHEDULER_NAME, MULTI_POINT, PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginFactory, PluginRegistry
from scheduler_core.plugins import (
    cel,
    coscheduling,
    default_binder,
    default_preemption,
    dynamic_resources,
    image_locality,
    manual_approval,
    node_affinity,
    node_name,
    node_ports,
    node_resources_balanced,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    priority_sort,
    scheduling_gates,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from scheduler_core.plugins.inter_pod_affinity import plugin as inter_pod_affinity
from scheduler_core.plugins.pod_topology_spread import plugin as pod_topology_spread

IN_TREE: Final[Mapping[str, PluginFactory]] = {
    scheduling_gates.NAME: lambda arguments, handle: scheduling_gates.SchedulingGates(),
    priority_sort.NAME: lambda arguments, handle: priority_sort.PrioritySort(),
    node_unschedulable.NAME: lambda arguments, handle: node_unschedulable.NodeUnschedulable(),
    node_name.NAME: lambda arguments, handle: node_name.NodeName(),
    taint_toleration.NAME: lambda arguments, handle: taint_toleration.TaintToleration(),
    node_affinity.NAME: lambda arguments, handle: node_affinity.NodeAffinity.from_arguments(arguments),
    node_ports.NAME: lambda arguments, handle: node_ports.NodePorts(),
    node_resources_fit.NAME: lambda arguments, handle: node_resources_fit.NodeResourcesFit(arguments),
    volume_restrictions.NAME: volume_restrictions.VolumeRestrictions,
    node_volume_limits.NAME: node_volume_limits.NodeVolumeLimits,
    volume_binding.NAME: volume_binding.VolumeBinding,
    volume_zone.NAME: volume_zone.VolumeZone,
    pod_topology_spread.NAME: pod_topology_spread.PodTopologySpread,
    inter_pod_affinity.NAME: inter_pod_affinity.InterPodAffinity,
    dynamic_resources.NAME: dynamic_resources.DynamicResources,
    default_preemption.NAME: default_preemption.DefaultPreemption,
    node_resources_balanced.NAME: lambda arguments, handle: node_resources_balanced.NodeResourcesBalancedAllocation(
        arguments
    ),
    image_locality.NAME: lambda arguments, handle: image_locality.ImageLocality(),
    default_binder.NAME: lambda arguments, handle: default_binder.DefaultBinder(),
    cel.NAME: cel.Cel,
    manual_approval.NAME: lambda arguments, handle: manual_approval.ManualApproval(arguments),
    coscheduling.NAME: coscheduling.Coscheduling,
}
"""Plugin name → how to build it."""

DEFAULT_ORDER: Final[tuple[tuple[str, int], ...]] = (
    (scheduling_gates.NAME, 0),
    (priority_sort.NAME, 0),
    (node_unschedulable.NAME, 0),
    (node_name.NAME, 0),
    (taint_toleration.NAME, 3),
    (node_affinity.NAME, 2),
    (node_ports.NAME, 0),
    (node_resources_fit.NAME, 1),
    (volume_restrictions.NAME, 0),
    (node_volume_limits.NAME, 0),
    (volume_binding.NAME, 1),
    (volume_zone.NAME, 0),
    (pod_topology_spread.NAME, 2),
    (inter_pod_affinity.NAME, 2),
    (dynamic_resources.NAME, 0),
    (default_preemption.NAME, 0),
    (node_resources_balanced.NAME, 1),
    (image_locality.NAME, 1),
    (default_binder.NAME, 0),
)
"""The default profile's multiPoint list: plugin and the weight of its scores (0: it has none)."""


def in_tree_registry() -> PluginRegistry:
    """Return a registry of the plugins in the table."""
    return PluginRegistry(IN_TREE)


def default_configuration(scheduler_name: str = DEFAULT_SCHEDULER_NAME) -> ProfileConfiguration:
    """Return the default profile."""
    return ProfileConfiguration(scheduler_name, {MULTI_POINT: PluginSet(DEFAULT_ORDER)})
