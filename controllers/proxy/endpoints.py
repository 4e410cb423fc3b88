"""What a proxy makes of a Service and its slices: ports with the endpoints behind each, and which of them may be used.

Source: pkg/proxy (serviceport.go, endpointslicecache.go, topology.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Final, Literal, NamedTuple

from scheduler_core.api.document import Document, at

PROXY_NAME: Final = "service.kubernetes.io/service-proxy-name"
"""Label: another proxy cares for this Service."""

Mode = Literal["", "zone", "node"]


class Endpoint(NamedTuple):
    """One address behind a port of a Service."""

    address: str
    port: int
    node: str
    ready: bool
    serving: bool
    terminating: bool
    zones: frozenset[str]
    nodes: frozenset[str]
    slice: str
    pod: tuple[str, str] | None

    @property
    def place(self) -> str:
        """Return address and port as one text."""
        return f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class ServicePort:
    """One port of a Service with an address, as a proxy knows it.

    `sticky_seconds` is 0 without session affinity; `vips` are addresses of load balancers.
    """

    service: str
    name: str
    address: str
    port: int
    node_port: int
    externals: tuple[str, ...]
    vips: tuple[str, ...]
    sources: tuple[IPv4Network, ...]
    sticky_seconds: int
    external_local: bool
    internal_local: bool
    endpoints: tuple[Endpoint, ...]

    @property
    def reached_from_outside(self) -> bool:
        """Return whether it has an address that is known outside (ExternallyAccessible)."""
        return bool(self.node_port or self.vips or self.externals)

    @property
    def title(self) -> str:
        """Return how the rules' comments name it."""
        return f"{self.service}:{self.name}" if self.name else self.service


class Usable(NamedTuple):
    """Endpoints that a node may use: by the policies `Cluster` and `Local`; `exist`: some are usable somewhere."""

    cluster: tuple[Endpoint, ...]
    local: tuple[Endpoint, ...]
    exist: bool


def ports_of(service: Mapping[str, Any] | None, slices: Sequence[Document]) -> tuple[ServicePort, ...]:
    """Return the TCP ports of a Service as proxies know it; none where it is not theirs."""
    if service is None or not is_proxied(service):
        return ()
    spec, metadata = service["spec"], service["metadata"]
    kind = spec.get("type")
    ingress = at(service, "status", "loadBalancer", "ingress") or ()
    vips = [str(one["ip"]) for one in ingress if one.get("ip") and one.get("ipMode", "VIP") == "VIP"]
    affinity = spec.get("sessionAffinity") == "ClientIP"
    seconds = int(at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") or 10800) if affinity else 0
    outside = kind in ("NodePort", "LoadBalancer") or bool(spec.get("externalIPs"))
    found: list[ServicePort] = []
    for port in spec.get("ports") or ():
        if port.get("protocol", "TCP") != "TCP":
            continue
        name = str(port.get("name") or "")
        found.append(
            ServicePort(
                service=f"{metadata['namespace']}/{metadata['name']}",
                name=name,
                address=str(spec["clusterIP"]),
                port=int(port["port"]),
                node_port=int(port.get("nodePort") or 0),
                externals=tuple(spec.get("externalIPs") or ()),
                vips=tuple(vips),
                sources=_networks(spec.get("loadBalancerSourceRanges") or ()),
                sticky_seconds=seconds,
                external_local=outside and spec.get("externalTrafficPolicy") == "Local",
                internal_local=spec.get("internalTrafficPolicy") == "Local",
                endpoints=endpoints_of(slices, name),
            )
        )
    return tuple(found)


def is_proxied(service: Mapping[str, Any]) -> bool:
    """Return whether proxies care for a Service (ShouldSkipService)."""
    spec = service["spec"]
    if spec.get("clusterIP") in ("None", "", None) or spec.get("type") == "ExternalName":
        return False
    return PROXY_NAME not in (service["metadata"].get("labels") or {})


def endpoints_of(slices: Sequence[Document], port_name: str | None) -> tuple[Endpoint, ...]:
    """Return the IPv4 endpoints of a port, each once, in order; `port_name` None: of any port, whatever its number."""
    found: dict[tuple[str, int], Endpoint] = {}
    for one in slices:
        if one.get("addressType") != "IPv4":
            continue
        name = str(one["metadata"]["name"])
        for number in _numbers(one, port_name):
            for entry in one.get("endpoints") or ():
                endpoint = _endpoint(entry, number, name)
                if endpoint is not None:
                    found.setdefault((endpoint.address, endpoint.port), endpoint)
    return tuple(found[place] for place in sorted(found))


def _numbers(one: Mapping[str, Any], port_name: str | None) -> list[int]:
    if port_name is None:
        return [0]
    ports = [port for port in one.get("ports") or () if (port.get("name") or "") == port_name]
    return [int(port["port"]) for port in ports if port.get("port") and port.get("protocol", "TCP") == "TCP"]


def _endpoint(entry: Mapping[str, Any], port: int, slice_name: str) -> Endpoint | None:
    addresses = entry.get("addresses") or ()
    if not addresses:
        return None
    conditions, hints = entry.get("conditions") or {}, entry.get("hints") or {}
    target = entry.get("targetRef") or {}
    is_pod = target.get("kind") == "Pod" and target.get("name")
    return Endpoint(
        address=str(addresses[0]),
        port=port,
        node=str(entry.get("nodeName") or ""),
        ready=conditions.get("ready") is not False,
        serving=conditions.get("serving") is not False,
        terminating=bool(conditions.get("terminating")),
        zones=frozenset(str(zone["name"]) for zone in hints.get("forZones") or ()),
        nodes=frozenset(str(node["name"]) for node in hints.get("forNodes") or ()),
        slice=slice_name,
        pod=(str(target.get("namespace") or ""), str(target["name"])) if is_pod else None,
    )


def _networks(texts: Sequence[str]) -> tuple[IPv4Network, ...]:
    """Return the IPv4 networks among source ranges; none where every address is allowed."""
    networks: list[IPv4Network] = []
    for text in texts:
        try:
            networks.append(IPv4Network(text.strip(), strict=False))
        except ValueError:
            continue
    return () if any(network.prefixlen == 0 for network in networks) else tuple(networks)


def is_allowed(source: str, networks: Sequence[IPv4Network]) -> bool:
    """Return whether a load balancer's source ranges let an address through."""
    return not networks or any(IPv4Address(source) in network for network in networks)


# -- which of them ------------------------------------------------------------------------------------------------


def usable(port: ServicePort, node: str, zone: str) -> Usable:
    """Return the endpoints of a port that a node in a zone may use (CategorizeEndpoints).

    Ready ones, near ones where hints say so; where none is ready, those that end and still serve.
    """
    ready = [one for one in port.endpoints if one.ready]
    ending = [one for one in port.endpoints if not one.ready and one.serving and one.terminating]
    takes_cluster = not port.internal_local or port.reached_from_outside
    takes_local = port.internal_local or (port.external_local and port.reached_from_outside)
    cluster: list[Endpoint] = []
    if takes_cluster:
        mode = _mode(ready, node, zone)
        cluster = [one for one in ready if _is_near(one, mode, node, zone)] or ending
    local: list[Endpoint] = []
    if takes_local:
        local = [one for one in ready if one.node == node] or [one for one in ending if one.node == node]
    return Usable(tuple(cluster), tuple(local), bool(cluster) or (takes_local and bool(ready or ending)))


def _mode(ready: Sequence[Endpoint], node: str, zone: str) -> Mode:
    """Return what hints mean for a node (topologyModeFromHints): they count where every ready endpoint has one."""
    if all(one.nodes for one in ready) and any(node in one.nodes for one in ready):
        return "node"
    if all(one.zones for one in ready) and any(zone in one.zones for one in ready):
        return "zone"
    return ""


def _is_near(one: Endpoint, mode: Mode, node: str, zone: str) -> bool:
    return mode == "" or (node in one.nodes if mode == "node" else zone in one.zones)
