"""The subresource `proxy`: a way through the API server to what listens behind an object.

Source: each ResourceLocation (pkg/registry/core/{pod,service,node}), v1.34. Nothing is sent here: see
`controllers.proxy.asking`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final

from controllers.registry.kind import Leads, Look, Place, Subresource, Way
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request, not_found

_ADDRESSES: Final = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
"""Of a node, the kinds of addresses that an API server goes to."""

_HTTP: Final = "http"
_PORTS: Final = {_HTTP: 80, "https": 443}
"""Names of ports that are known everywhere, as far as somebody would ask for them."""

_PORT_MAX: Final = 65_535


def proxy(options: str, leads: Leads) -> Subresource:
    """Return it; `options` is the kind that upstream says it takes."""
    verbs = ("create", "delete", "get", "patch", "update")
    told = ("", "v1", options)
    return Subresource("proxy", verbs=verbs, body=told, simulated=True, students=True, below=True, leads=leads)


def to_pod(look: Look, way: Way) -> Sequence[Place]:
    """Return the port of a pod that a way leads to: the first that it declares, where none is asked for.

    Raises:
        ApiError: 400, 404; 503, the port is none.
    """
    pod = look("pods", way.namespace, way.name)
    if pod is None:
        raise not_found("pods", way.name)
    addresses = _addresses(pod)
    if not addresses or not _is_allowed(addresses[0]):
        raise bad_request("address not allowed")
    declared = next((one["ports"] for one in pod["spec"].get("containers") or () if one.get("ports")), None)
    asked = way.port or (str(declared[0]["containerPort"]) if declared else way.scheme or _HTTP)
    return (Place(addresses[0], _port(asked)),)


def _port(asked: str) -> int:
    """Return a port as Go's net.Dial reads it.

    Raises:
        ApiError: 503.
    """
    if not re.fullmatch(r"[0-9]{1,18}", asked, re.ASCII):
        if asked not in _PORTS:
            raise unreachable(f"dial tcp: lookup tcp/{asked}: unknown port")
        return _PORTS[asked]
    if not 0 < int(asked) <= _PORT_MAX:
        raise unreachable(f"dial tcp: address {asked}: invalid port")
    return int(asked)


def to_node(look: Look, way: Way) -> Sequence[Place]:
    """Return nothing: what kubelets serve is not simulated.

    Raises:
        ApiError: 404; 500, the node has told no address.
    """
    node = look("nodes", "", way.name)
    if node is None:
        raise not_found("nodes", way.name)
    known: list[Mapping[str, Any]] = node.get("status", {}).get("addresses") or []
    if any(one.get("type") in _ADDRESSES for one in known):
        return ()
    told = " ".join(f"{{{one.get('type', '')} {one.get('address', '')}}}" for one in known)
    raise ApiError(500, "", f"no preferred addresses found; known addresses: [{told}]")


def to_service(look: Look, way: Way) -> Sequence[Place]:
    """Return the ready addresses behind a Service's port.

    Raises:
        ApiError: 404; 503, there are none.
    """
    port = way.port
    if re.fullmatch(r"[+-]?[0-9]{1,18}", port, re.ASCII):
        service = look("services", way.namespace, way.name)
        if service is None:
            raise not_found("services", way.name)
        ports = service["spec"].get("ports") or []
        found = next((one.get("name", "") for one in ports if one["port"] == int(port)), None)
        if found is None:
            raise _unavailable(f"no service port {int(port)} found for service {json.dumps(way.name)}")
        port = found
    endpoints = look("endpoints", way.namespace, way.name)
    if endpoints is None:
        # Upstream names what was asked for, not what it looks at.
        raise not_found("services", way.name)
    subsets = endpoints.get("subsets") or []
    if not subsets:
        raise _unavailable(f"no endpoints available for service {json.dumps(way.name)}")
    places = [
        Place(address["ip"], one["port"])
        for subset in subsets
        for one in subset.get("ports") or ()
        if one.get("name", "") == port
        for address in subset.get("addresses") or ()
        if _is_pods(look, way.namespace, address)
    ]
    if not places:
        raise _unavailable(f"no endpoints available for service {json.dumps(way.asked)}")
    return places


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


def unreachable(why: str) -> ApiError:
    """Return the 503 of a way at whose end nobody takes the request."""
    return _unavailable(f"error trying to reach service: {why}")


def _unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)
