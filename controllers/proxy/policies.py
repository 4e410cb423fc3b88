"""NetworkPolicies as a network that obeys them reads them: which pods are isolated, and what is let through.

A pod that some policy selects for a direction is isolated in it: only what a rule of one of these policies allows goes
through. What a pod sends to itself, and what comes from the machine that it runs on, is always let through.
Source: staging/src/k8s.io/api/networking/v1/types.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Any, Final, Literal, NamedTuple

import msgspec

from scheduler_core.api.selectors import LabelSelector, Selector, read_selector, selects

Direction = Literal["ingress", "egress"]

SHOWN_MAX: Final = 5
"""Policies that a sentence names."""


class End(NamedTuple):
    """One end of a connection: a pod (of a namespace, which has labels), or an address of something else.

    `node` is the machine that it is on, empty where it is on none. `ports` are the pod's ports by name.
    """

    address: str
    node: str = ""
    namespace: str | None = None
    name: str = ""
    labels: Mapping[str, str] = {}
    namespace_labels: Mapping[str, str] = {}
    ports: Mapping[str, int] = {}

    @property
    def title(self) -> str:
        """Return how a sentence names it."""
        if self.is_pod:
            return f"{self.namespace}/{self.name}" if self.name else f"a pod of {self.namespace}"
        return f"node {self.node}" if self.node else self.address

    @property
    def is_pod(self) -> bool:
        """Return whether policies may select it."""
        return self.namespace is not None

    def is_same(self, other: End) -> bool:
        """Return whether both ends are one pod."""
        return self.is_pod and bool(self.name) and (self.namespace, self.name) == (other.namespace, other.name)


class Block(NamedTuple):
    """A range of addresses without some in it."""

    whole: IPv4Network
    without: tuple[IPv4Network, ...]

    def holds(self, address: str) -> bool:
        """Return whether an address lies in it; one that nobody knows lies in the range of all."""
        try:
            where = IPv4Address(address)
        except AddressValueError:
            return self.whole.prefixlen == 0 and not self.without
        return where in self.whole and not any(where in one for one in self.without)


class Peer(NamedTuple):
    """Who is meant: pods by their labels (of the policy's namespace, or of those selected), or addresses."""

    pods: Selector | None
    namespaces: Selector | None
    block: Block | None

    def is_met(self, own_namespace: str, other: End) -> bool:
        """Return whether the other end is meant."""
        if self.block is not None:
            return self.block.holds(other.address)
        if not other.is_pod:
            return False
        if self.namespaces is None:
            if other.namespace != own_namespace:
                return False
        elif not selects(self.namespaces, other.namespace_labels):
            return False
        return self.pods is None or selects(self.pods, other.labels)


class Port(NamedTuple):
    """Ports that are meant: all of a protocol, one by its number or by the name that the receiver gives it, a range."""

    protocol: str
    port: int | str | None
    end: int

    def is_met(self, protocol: str, port: int, receiver: End) -> bool:
        """Return whether a port of the receiver is meant."""
        if protocol != self.protocol:
            return False
        if self.port is None:
            return True
        if isinstance(self.port, str):
            return receiver.ports.get(self.port) == port
        return self.port <= port <= max(self.port, self.end)


class Rule(NamedTuple):
    """What is let through; without peers from or to everybody, without ports on all of them."""

    peers: tuple[Peer, ...]
    ports: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """One NetworkPolicy; None for the rules of a direction in which it isolates nobody."""

    namespace: str
    name: str
    pods: Selector
    ingress: tuple[Rule, ...] | None
    egress: tuple[Rule, ...] | None

    def rules(self, direction: Direction) -> tuple[Rule, ...] | None:
        """Return its rules of a direction."""
        return self.ingress if direction == "ingress" else self.egress


def read_policy(document: Mapping[str, Any]) -> Policy:
    """Return what a stored NetworkPolicy says."""
    spec, metadata = document["spec"], document["metadata"]
    types = spec.get("policyTypes") or ()
    return Policy(
        metadata["namespace"],
        metadata["name"],
        _selector(spec.get("podSelector") or {}),
        _rules(spec.get("ingress"), "from") if "Ingress" in types else None,
        _rules(spec.get("egress"), "to") if "Egress" in types else None,
    )


def closed_by(
    policies: Sequence[Policy], direction: Direction, own: End, other: End, protocol: str, port: int
) -> tuple[Policy, ...]:
    """Return the policies that isolate a pod, where none of them lets a connection through; empty: it goes through.

    Args:
        policies: those of the pod's namespace.
        direction: `ingress` where the pod receives, `egress` where it sends.
        own: the pod.
        other: who sends to it, or who it sends to.
        protocol: TCP, UDP or SCTP.
        port: that of the receiver.
    """
    if not own.is_pod or own.is_same(other):
        return ()
    if direction == "ingress" and not other.is_pod and other.node and other.node == own.node:
        return ()
    isolating = [one for one in policies if one.rules(direction) is not None and selects(one.pods, own.labels)]
    receiver = own if direction == "ingress" else other
    for policy in isolating:
        for rule in policy.rules(direction) or ():
            if (not rule.ports or any(one.is_met(protocol, port, receiver) for one in rule.ports)) and (
                not rule.peers or any(one.is_met(policy.namespace, other) for one in rule.peers)
            ):
                return ()
    return tuple(isolating)


def names_of(policies: Sequence[Policy]) -> str:
    """Return policies as a sentence names them."""
    names = [f"{one.namespace}/{one.name}" for one in policies[:SHOWN_MAX]]
    return ", ".join(names) + (" …" if len(policies) > SHOWN_MAX else "")


def _selector(written: Mapping[str, Any]) -> Selector:
    return read_selector(msgspec.convert(written, LabelSelector))


def _rules(written: Sequence[Mapping[str, Any]] | None, peers: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            tuple(_peer(one) for one in rule.get(peers) or ()),
            tuple(Port(one["protocol"], one.get("port"), one.get("endPort") or 0) for one in rule.get("ports") or ()),
        )
        for rule in written or ()
    )


def _peer(written: Mapping[str, Any]) -> Peer:
    pods, namespaces, block = (written.get(key) for key in ("podSelector", "namespaceSelector", "ipBlock"))
    return Peer(
        None if pods is None else _selector(pods),
        None if namespaces is None else _selector(namespaces),
        None if block is None else Block(_network(block["cidr"]), tuple(map(_network, block.get("except") or ()))),
    )


def _network(text: str) -> IPv4Network:
    """Return a range; one of the other family holds nobody here."""
    try:
        return IPv4Network(text, strict=False)
    except ValueError:
        return NOBODY


NOBODY: Final = IPv4Network("255.255.255.255/32")
"""A range that no end of a connection lies in."""
