"""The rules of one node's proxy: what becomes of a connection to an address that it knows.

A proxy looks at what has changed at most once in `iptables-min-sync-period`, and its rules are in force a moment later:
until then the former ones are. Source: pkg/proxy/iptables/proxier.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from controllers.proxy.endpoints import Endpoint, ServicePort, Usable, is_allowed, usable
from controllers.proxy.policies import End
from scheduler_core.api.document import Document

Origin = Literal["pod", "node", "outside"]
"""Who sends, for a node's rules: a pod of the cluster, the node itself, or anybody else."""

STICKY_MAX: Final = 200
"""Clients that a proxy remembers for sessionAffinity; those it has not seen for longest are forgotten."""


SHOWN_MAX: Final = 100
"""Rules of a proxy that are told, and addresses of each."""


class Refusal(NamedTuple):
    """What became of a request that found nobody: `result` is `refused` or `timeout`."""

    result: str
    reason: str
    message: str


class Stuck(NamedTuple):
    """Where a client was sent last, and when."""

    place: str
    at_ms: int


@dataclass(slots=True)
class Route:
    """A connection on its way: `choose` draws below a number.

    `sender` is who NetworkPolicies take it to come from, `is_out` whether those of the sender have let it go.
    """

    source: str
    origin: Origin
    now_ms: int
    choose: Callable[[int], int]
    sender: End
    is_out: bool = False


@dataclass(slots=True)
class Chain:
    """A port with what a node may use of it."""

    port: ServicePort
    usable: Usable


@dataclass(slots=True)
class Rules:
    """One node's rules. `began_ms` is when the proxy began its last sync; `pending` are Services that have changed."""

    node: str
    zone: str = ""
    began_ms: int | None = None
    syncing: dict[str, tuple[ServicePort, ...]] | None = None
    pending: dict[str, None] = field(default_factory=dict)
    stuck: dict[tuple[str, str], Stuck] = field(default_factory=dict)
    _held: dict[str, tuple[ServicePort, ...]] = field(default_factory=dict)
    _by_address: dict[tuple[str, int], Chain] = field(default_factory=dict)
    _by_node_port: dict[int, Chain] = field(default_factory=dict)

    def apply(self, changed: Mapping[str, tuple[ServicePort, ...]]) -> None:
        """Let what is known of Services be in force."""
        for service, ports in changed.items():
            for port in self._held.pop(service, ()):
                for address in (port.address, *port.externals, *port.vips):
                    self._by_address.pop((address, port.port), None)
                self._by_node_port.pop(port.node_port, None)
            if ports:
                self._held[service] = ports
        for service in changed:
            for port in self._held.get(service, ()):
                chain = Chain(port, usable(port, self.node, self.zone))
                for address in (port.address, *port.externals, *port.vips):
                    self._by_address[address, port.port] = chain
                if port.node_port:
                    self._by_node_port[port.node_port] = chain

    def told(self) -> Document:
        """Return the rules that are in force, and which Services have changed since; the first `SHOWN_MAX` of them."""
        chains = [(port, usable(port, self.node, self.zone)) for key in sorted(self._held) for port in self._held[key]][
            :SHOWN_MAX
        ]
        return {
            "node": self.node,
            "zone": self.zone,
            "behind": sorted({*self.pending, *(self.syncing or ())})[:SHOWN_MAX],
            "rules": [
                {
                    "service": port.service,
                    "port": port.name,
                    "address": f"{port.address}:{port.port}",
                    "nodePort": port.node_port or None,
                    "cluster": [one.place for one in may.cluster[:SHOWN_MAX]],
                    "local": [one.place for one in may.local[:SHOWN_MAX]],
                }
                for port, may in chains
            ],
        }

    def knows_address(self, address: str, port: int) -> Chain | None:
        """Return the rules of an address of a Service."""
        return self._by_address.get((address, port))

    def knows_node_port(self, port: int) -> Chain | None:
        """Return the rules of a node port."""
        return self._by_node_port.get(port)

    def pass_through(self, chain: Chain, address: str, route: Route) -> Endpoint | Refusal:
        """Return where a connection goes that was sent to `address`, or to a node port where that is empty."""
        port, may = chain.port, chain.usable
        if address in port.vips and not is_allowed(route.source, port.sources):
            return Refusal("timeout", "SourceRanges", f"{port.title} takes no traffic from {route.source}")
        if not may.exist:
            return Refusal("refused", "NoEndpoints", f"{port.title} has no endpoints")
        if address == port.address:
            chosen = may.local if port.internal_local else may.cluster
        elif port.external_local and route.origin == "outside":
            chosen = may.local
        else:
            # What a pod, or the node itself, sends to an address for the outside is taken as if it had come round.
            chosen = may.cluster
        if not chosen:
            return Refusal("timeout", "NoLocalEndpoints", f"{port.title} has no local endpoints on {self.node}")
        return self._one_of(port, chosen, route)

    def _one_of(self, port: ServicePort, chosen: tuple[Endpoint, ...], route: Route) -> Endpoint:
        if not port.sticky_seconds:
            return chosen[route.choose(len(chosen))]
        key = (port.title, route.source)
        known = self.stuck.pop(key, None)
        endpoint = None
        if known is not None and route.now_ms - known.at_ms <= 1000 * port.sticky_seconds:
            endpoint = next((one for one in chosen if one.place == known.place), None)
        if endpoint is None:
            endpoint = chosen[route.choose(len(chosen))]
        self.stuck[key] = Stuck(endpoint.place, route.now_ms)
        if len(self.stuck) > STICKY_MAX:
            del self.stuck[next(iter(self.stuck))]
        return endpoint
