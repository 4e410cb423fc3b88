"""What a Service counts for.

Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core/services.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.quota.usage import NONE, ONE, Usage, count

NAMES: Final = frozenset({"count/services", "services", "services.loadbalancers", "services.nodeports"})


def usage(service: Mapping[str, Any], unix_ms: int) -> Usage:
    """Return what a Service counts for: a node port a port, where its type has them."""
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    counted = {"count/services": ONE, "services": ONE, "services.loadbalancers": NONE, "services.nodeports": NONE}
    if spec.get("type") == "NodePort":
        counted["services.nodeports"] = count(len(ports))
    elif spec.get("type") == "LoadBalancer":
        counted["services.loadbalancers"] = ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [port for port in ports if port.get("nodePort")]
        counted["services.nodeports"] = count(len(ports))
    return counted
