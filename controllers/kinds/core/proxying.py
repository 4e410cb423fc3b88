"""The subresource `proxy`: a way through the API server to what listens behind an object, as far as upstream looks.

Source: each ResourceLocation (pkg/registry/core/{pod,service,node}), v1.34. What is found at the end is only simulated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any, Final

from controllers.registry.kind import Look, Subresource, Way
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request, not_found

_ADDRESSES: Final = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
"""Of a node, the kinds of addresses that an API server goes to."""


def proxy(options: str, leads: Callable[[Look, Way], ApiError | None]) -> Subresource:
    """Return it; `options` is the kind that upstream says it takes."""
    verbs = ("create", "delete", "get", "patch", "update")
    return Subresource("proxy", verbs=verbs, body=("", "v1", options), simulated=True, below=True, leads=leads)


def to_pod(look: Look, way: Way) -> ApiError | None:
    """Return why a way leads to no pod."""
    pod = look("pods", way.namespace, way.name)
    if pod is None:
        return not_found("pods", way.name)
    addresses = _addresses(pod)
    return None if addresses and _is_allowed(addresses[0]) else bad_request("address not allowed")


def to_node(look: Look, way: Way) -> ApiError | None:
    """Return why a way leads to no node."""
    node = look("nodes", "", way.name)
    if node is None:
        return not_found("nodes", way.name)
    known: list[Mapping[str, Any]] = node.get("status", {}).get("addresses") or []
    if any(one.get("type") in _ADDRESSES for one in known):
        return None
    told = " ".join(f"{{{one.get('type', '')} {one.get('address', '')}}}" for one in known)
    return ApiError(500, "", f"no preferred addresses found; known addresses: [{told}]")


def to_service(look: Look, way: Way) -> ApiError | None:
    """Return why a way leads to nothing behind a Service."""
    port = way.port
    if re.fullmatch(r"[+-]?[0-9]{1,18}", port, re.ASCII):
        service = look("services", way.namespace, way.name)
        if service is None:
            return not_found("services", way.name)
        ports = service["spec"].get("ports") or []
        found = next((one.get("name", "") for one in ports if one["port"] == int(port)), None)
        if found is None:
            return _unavailable(f"no service port {int(port)} found for service {json.dumps(way.name)}")
        port = found
    endpoints = look("endpoints", way.namespace, way.name)
    if endpoints is None:
        # Upstream names what was asked for, not what it looks at.
        return not_found("services", way.name)
    subsets = endpoints.get("subsets") or []
    if not subsets:
        return _unavailable(f"no endpoints available for service {json.dumps(way.name)}")
    leads = any(
        _is_pods(look, way.namespace, address)
        for subset in subsets
        if any(one.get("name", "") == port for one in subset.get("ports") or ())
        for address in subset.get("addresses") or ()
    )
    return None if leads else _unavailable(f"no endpoints available for service {json.dumps(way.asked)}")


def _is_pods(look: Look, namespace: str, address: Mapping[str, Any]) -> bool:
    """Return whether an address is that of a pod of the namespace."""
    reference = address.get("targetRef") or {}
    if reference.get("namespace") != namespace:
        return False
    pod = look("pods", namespace, reference.get("name", ""))
    return pod is not None and address["ip"] in _addresses(pod)


def _addresses(pod: Document) -> list[str]:
    return [one.get("ip", "") for one in pod.get("status", {}).get("podIPs") or ()]


def _is_allowed(address: str) -> bool:
    """Return whether something could listen there for others (Go's IsGlobalUnicast)."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    own = ip.is_unspecified or ip.is_loopback or ip.is_multicast or ip.is_link_local
    return not own and address != "255.255.255.255"


def _unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)
