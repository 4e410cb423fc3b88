"""Which nodes a load balancer sends to.

Source: k8s.io/cloud-provider/controllers/service/controller.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scheduler_core.api.booleans import FALSE

EXCLUDED: Final = "node.kubernetes.io/exclude-from-external-load-balancers"
"""The label of a node that load balancers leave out."""

_GOING: Final = "ToBeDeletedByClusterAutoscaler"
"""The taint of a node that an autoscaler is about to delete."""


def is_included(node: Mapping[str, Any]) -> bool:
    """Return whether a node's label leaves it in (nodeIncludedPredicate)."""
    excluded = (node["metadata"].get("labels") or {}).get(EXCLUDED)
    return excluded is None or excluded in FALSE


def is_balanced(node: Mapping[str, Any]) -> bool:
    """Return whether a node is among those that balancers are told of (stableNodeSetPredicates)."""
    taints = node["spec"].get("taints") or ()
    going = bool(node["metadata"].get("deletionTimestamp")) or any(taint.get("key") == _GOING for taint in taints)
    return is_included(node) and not going
