"""What a pod has at all, as bits: a plugin that is about one thing has nothing to do for pods without it."""

from __future__ import annotations

from typing import Final

from scheduler_core.api.pod import Pod

ANY: Final = 1
"""Every pod has it."""
HAS_VOLUMES: Final = 2
"""Volumes with a source that plugins look at."""
HAS_RESOURCE_CLAIMS: Final = 4
HAS_SCHEDULING_GATES: Final = 8
HAS_HOST_PORTS: Final = 16
HAS_NODE_DEMANDS: Final = 32
"""A node selector, or an affinity that may hold demands on nodes or wishes."""
HAS_SPREAD: Final = 64
"""Spread constraints of its own."""
NOBODY: Final = 0
"""No pod has it."""


def traits_of(pod: Pod) -> int:
    """Return the bits of a pod."""
    spec = pod.spec
    found = ANY
    for volume in spec.volumes:
        if volume.is_placed:
            found |= HAS_VOLUMES
    if spec.resource_claims:
        found |= HAS_RESOURCE_CLAIMS
    if spec.scheduling_gates:
        found |= HAS_SCHEDULING_GATES
    if spec.affinity is not None or spec.node_selector:
        found |= HAS_NODE_DEMANDS
    if spec.topology_spread_constraints:
        found |= HAS_SPREAD
    for container in spec.containers:
        if container.ports:
            found |= HAS_HOST_PORTS
    for container in spec.init_containers:
        if container.ports:
            found |= HAS_HOST_PORTS
    return found
