"""One request, from its name to what came back: name, Service, slice, pod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Final, NamedTuple

from controllers.kinds.clustersim.target import Target
from controllers.kinds.core.service_addresses import API_SERVER_ADDRESS, CLUSTER_RANGE, DNS_ADDRESS, NODE_PORTS
from controllers.proxy.endpoints import Endpoint
from controllers.proxy.names import Answer, asks_cluster, find, resolve
from controllers.proxy.network import Network
from controllers.proxy.policies import Direction, End, closed_by, names_of
from controllers.proxy.rules import Origin, Refusal, Route, Rules
from controllers.proxy.serving import Reply, listens_on_host, reply_of
from scheduler_core.api.document import Document

OUTSIDE_ADDRESS: Final = "203.0.113.10"
"""Where requests from outside come from."""

LOOPBACK: Final = "127.0.0.1"

BALANCED_NODES_MAX: Final = 10
"""Nodes that a load balancer sends to."""

DNS_SERVICE: Final = "kube-system/kube-dns"
"""Where pods ask for names; where no such Service is, its address answers."""

DNS_PORT: Final = 53

POD_NETWORK: Final = IPv4Network("10.128.0.0/9")
"""Where pods have their addresses (`controllers.kubelet.machine`)."""


class Source(NamedTuple):
    """Who sends: from which machine (empty: from outside), with which address, and where names are looked up (None:
    not in the cluster). `pod` is the pod that sends, where it is one of the cluster's own.
    """

    origin: Origin
    node: str
    address: str
    namespace: str | None
    pod: Document | None = None


API_SERVER: Final = Source("node", "", API_SERVER_ADDRESS, None)
"""The API server as one who sends: from a machine of its own, past all proxies."""


def source_of(pod: Document) -> Source:
    """Return a pod as one who sends."""
    node, address = str(pod["spec"].get("nodeName") or ""), str((pod.get("status") or {}).get("podIP") or "")
    origin: Origin = "node" if pod["spec"].get("hostNetwork") else "pod"
    return Source(origin, node, address, pod["metadata"]["namespace"] if asks_cluster(pod) else None, pod)


class Absent(NamedTuple):
    """Why nobody sends at present."""

    message: str


@dataclass(slots=True)
class Record:
    """What came of one request; empty where it did not come so far. `client` is who sent it, as the pod sees that."""

    result: str = ""
    code: int = 0
    reason: str = ""
    message: str = ""
    address: str = ""
    service: str = ""
    via: str = ""
    slice: str = ""
    endpoint: str = ""
    pod: str = ""
    node: str = ""
    client: str = ""

    def told(self) -> Document:
        """Return what is known, as it is written."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in found.items() if value}

    def ended(self, reply: Reply | Refusal) -> Record:
        """Take what came back."""
        self.result, self.reason, self.message = reply.result, reply.reason, reply.message
        self.code = reply.code if isinstance(reply, Reply) else 0
        return self


def rules_now(network: Network, node: str) -> Rules:
    """Return the rules of a node's proxy that has heard of everything."""
    rules = Rules(node, network.zone(node))
    rules.apply({key: network.ports(key) for key in network.service_keys})
    return rules


class Exchange:
    """Sends requests through a network. `rules_of` returns the rules of a node's proxy."""

    def __init__(self, network: Network, rules_of: Callable[[str], Rules]) -> None:
        """Send nothing yet."""
        self._network, self._rules_of = network, rules_of

    def source(self, place: str, namespace: str, home: str = "") -> Source | Absent:
        """Return who sends for a client.

        Args:
            place: what its `from` says.
            namespace: that of the pod that sends.
            home: where a pod of the client's own is; empty: nowhere yet.
        """
        kind, _, name = place.partition("/")
        network = self._network
        if kind == "outside":
            return Source("outside", "", OUTSIDE_ADDRESS, None)
        if kind == "node":
            if not network.is_running(name):
                return Absent(f"node {name} does not run")
            return Source("node", name, network.address_of_node(name), None)
        if kind == "pod":
            return self._source_of_pod(namespace, name)
        node = home if home and network.is_running(home) else network.first_running()
        return Source("pod", node, "", namespace) if node else Absent("no node runs that a pod could send from")

    def _source_of_pod(self, namespace: str, name: str) -> Source | Absent:
        pod = self._network.pods.get(namespace, name)
        if pod is None:
            return Absent(f"there is no pod {namespace}/{name}")
        status = pod.get("status") or {}
        running = any((one.get("state") or {}).get("running") for one in status.get("containerStatuses") or ())
        if not running or not self._network.is_running(str(pod["spec"].get("nodeName") or "")):
            return Absent(f"pod {namespace}/{name} does not run")
        return source_of(pod)

    def send(self, source: Source, target: Target, choose: Callable[[str, int], int]) -> Record:
        """Return what comes of a request. `choose`: (what for, below) → a draw."""
        record = Record()
        sender = self._sender(source)
        address = self._address(source, sender, target, choose, record)
        if not address:
            return record
        record.address = address
        now_ms = self._network.unix_ms
        route = Route(source.address, source.origin, now_ms, lambda below: choose("endpoint", below), sender)
        if source.origin == "outside":
            return self._from_outside(address, target.port, route, choose, record)
        chain = self._rules_of(source.node).knows_address(address, target.port)
        if chain is not None:
            return self._through(source.node, address, target.port, route, record)
        node = self._network.node_of_address(address)
        if node:
            return self._to_node(node, source.node, target.port, route, record)
        return self._deliver(address, target.port, route, record)

    def within(self, pod: Document, port: int) -> Record:
        """Return what comes of a connection that a kubelet opens to a port of a pod from inside of it."""
        node = str(pod["spec"].get("nodeName") or "")
        record = Record(address=LOOPBACK, pod=_name(pod), node=node, client=LOOPBACK)
        if not self._network.is_running(record.node):
            return record.ended(_silent(record.node))
        return self._answered(pod, port, record)

    def look_up(self, source: Source, host: str) -> tuple[str, Answer] | None:
        """Return (the whole name, what it means) as the name service tells who asks; None: there is no such name."""
        return None if self._is_deaf(self._sender(source), Record()) else find(self._network, host, source.namespace)

    def _sender(self, source: Source) -> End:
        if source.pod is not None:
            return self._network.end_of_pod(source.pod)
        if source.origin == "pod":
            return self._network.end_in(source.namespace or "", source.address, source.node)
        return End(source.address, source.node)

    # -- names --------------------------------------------------------------------------------------------------

    def _address(
        self, source: Source, sender: End, target: Target, choose: Callable[[str, int], int], record: Record
    ) -> str:
        """Return where to; empty where the name leads nowhere."""
        if target.is_address:
            return target.host
        if source.namespace is not None and self._is_deaf(sender, record):
            return ""
        answer = resolve(self._network, target.host, source.namespace)
        if answer is None:
            if self._network.nodes.get("", target.host) is not None:
                return self._network.address_of_node(target.host)
            why = "is no name of the cluster"
            if source.namespace is None:
                why = "is no node, and only pods ask the cluster for names"
            record.ended(Refusal("unresolved", "NoSuchName", f"{target.host} {why}"))
            return ""
        record.service = answer.service
        if answer.alias:
            text = f"{answer.service} is another name of {answer.alias}, which lies outside"
            record.ended(Refusal("outside", "LeftTheCluster", text))
            return ""
        return answer.addresses[choose("name", len(answer.addresses))]

    def _is_deaf(self, sender: End, record: Record) -> bool:
        """Return whether policies keep a pod from asking for names."""
        servers = [endpoint.address for endpoint, _ in self._network.behind(DNS_SERVICE)] or [DNS_ADDRESS]
        for address in dict.fromkeys(servers):
            server = self._end_of_address(address)
            closed = closed_by(self._network.policies(sender.namespace), "egress", sender, server, "UDP", DNS_PORT)
            if not closed:
                return False
        text = f"{sender.title} is isolated by {names_of(closed)}: nothing lets it ask for names (UDP {DNS_PORT})"
        record.ended(Refusal("unresolved", "NetworkPolicy", text))
        return True

    # -- ways ---------------------------------------------------------------------------------------------------

    def _through(self, node: str, address: str, port: int, route: Route, record: Record) -> Record:
        """Let a node's rules decide; an empty address means a node port."""
        rules = self._rules_of(node)
        chain = rules.knows_address(address, port) if address else rules.knows_node_port(port)
        assert chain is not None, "only what rules are about is sent through them"
        record.via, record.service = node, chain.port.service
        found = rules.pass_through(chain, address, route)
        if isinstance(found, Refusal):
            return record.ended(found)
        record.slice, record.endpoint = found.slice, found.place
        if address != chain.port.address and not (chain.port.external_local and route.origin == "outside"):
            # What comes by an address for the outside goes on with that of the machine, or its answer would go astray.
            route.sender, route.is_out = self._network.end_of_node(node), True
        return self._deliver(found.address, found.port, route, record, found)

    def _to_node(self, node: str, sender: str, port: int, route: Route, record: Record) -> Record:
        """Reach a port of a machine: a node port, or a pod that listens there."""
        record.node = node
        if self._is_kept("egress", route, self._network.end_of_node(node), port, record):
            return record
        if not self._network.is_running(node):
            return record.ended(_silent(node))
        if self._rules_of(node).knows_node_port(port) is not None:
            if node != sender and route.origin != "outside":
                # From elsewhere it comes with the address of the machine that it left.
                route.origin = "outside"
            return self._through(node, "", port, route, record)
        return self._on_host(node, port, route, record)

    def _from_outside(
        self, address: str, port: int, route: Route, choose: Callable[[str, int], int], record: Record
    ) -> Record:
        node = self._network.node_of_address(address)
        if node:
            return self._to_node(node, "", port, route, record)
        for service in self._network.of_address(address):
            if service["spec"].get("clusterIP") != address:
                return self._balanced(service, address, port, route, choose, record)
        text = f"{address} is an address inside of the cluster" if is_inside(address) else f"nobody has {address}"
        return record.ended(Refusal("timeout", "NoWayIn" if is_inside(address) else "NobodyThere", text))

    def _balanced(
        self,
        service: Document,
        address: str,
        port: int,
        route: Route,
        choose: Callable[[str, int], int],
        record: Record,
    ) -> Record:
        """Let a load balancer, or whatever leads an external address to the nodes, choose a node."""
        key = f"{service['metadata']['namespace']}/{service['metadata']['name']}"
        record.service = key
        ports = [one for one in self._network.ports(key) if one.port == port]
        if not ports:
            return record.ended(Refusal("timeout", "NoRule", f"{key} has no port {port}"))
        ready = {one.node for one in ports[0].endpoints if one.ready}
        nodes = self._network.balanced_nodes(ready if ports[0].external_local else None)[:BALANCED_NODES_MAX]
        if not nodes:
            return record.ended(Refusal("timeout", "NoNode", f"no node answers for {key}"))
        node = nodes[choose("node", len(nodes))]
        record.node = node
        if not self._network.is_running(node):
            return record.ended(_silent(node))
        if self._rules_of(node).knows_address(address, port) is None:
            return record.ended(Refusal("timeout", "NoRule", f"the proxy of {node} has no rule for {address}:{port}"))
        return self._through(node, address, port, route, record)

    # -- arriving -----------------------------------------------------------------------------------------------

    def _deliver(
        self, address: str, port: int, route: Route, record: Record, endpoint: Endpoint | None = None
    ) -> Record:
        """Arrive at an address that is no Service's."""
        network = self._network
        if self._is_kept("egress", route, self._end_of_address(address), port, record):
            return record
        pod = network.pod_of_address(address)
        if pod is not None:
            record.node = str(pod["spec"].get("nodeName") or "")
            if not network.is_running(record.node):
                record.pod = _name(pod)
                return record.ended(_silent(record.node))
            return self._to_pod(pod, port, route, record)
        node = network.node_of_address(address)
        if node:
            record.node = node
            if not network.is_running(node):
                return record.ended(_silent(node))
            return self._on_host(node, port, route, record)
        if address == API_SERVER_ADDRESS:
            return record.ended(Reply("ok", 200, "", "the API server answers"))
        if IPv4Address(address) in CLUSTER_RANGE:
            return record.ended(Refusal("timeout", "NoRule", f"no rule is about {address}:{port}"))
        if is_inside(address) or endpoint is None:
            return record.ended(Refusal("timeout", "NobodyThere", f"nobody has {address}"))
        return record.ended(Refusal("outside", "LeftTheCluster", f"{address} lies outside of the cluster"))

    def _on_host(self, node: str, port: int, route: Route, record: Record) -> Record:
        for pod in self._network.pods_on(node):
            inner = listens_on_host(pod, port)
            if inner is not None:
                return self._to_pod(pod, inner, route, record)
        what = "no Service has this node port" if port in NODE_PORTS else "nothing listens there"
        return record.ended(Refusal("refused", "NotListening", f"port {port} of {node}: {what}"))

    def _to_pod(self, pod: Document, port: int, route: Route, record: Record) -> Record:
        network = self._network
        record.pod = _name(pod)
        if self._is_kept("ingress", route, network.end_of_pod(pod), port, record):
            return record
        record.client = route.sender.address
        return self._answered(pod, port, record)

    def _answered(self, pod: Document, port: int, record: Record) -> Record:
        network = self._network
        return record.ended(reply_of(pod, port, network.orders(pod), network.unix_ms, network.ends_unix_ms(pod)))

    # -- NetworkPolicies ----------------------------------------------------------------------------------------

    def _is_kept(self, direction: Direction, route: Route, receiver: End, port: int, record: Record) -> bool:
        """Return whether policies keep a connection from leaving its sender, or from coming in to its receiver."""
        sender = route.sender
        if direction == "egress":
            if route.is_out:
                return False
            route.is_out = True
        own, other = (sender, receiver) if direction == "egress" else (receiver, sender)
        closed = closed_by(self._network.policies(own.namespace), direction, own, other, "TCP", port)
        if closed:
            what = f"it out to {other.title}" if direction == "egress" else f"{other.title} in"
            text = f"{own.title} is isolated by {names_of(closed)}: nothing lets {what} on port {port}"
            record.ended(Refusal("timeout", "NetworkPolicy", text))
        return bool(closed)

    def _end_of_address(self, address: str) -> End:
        pod = self._network.pod_of_address(address)
        if pod is not None:
            return self._network.end_of_pod(pod)
        return End(address, self._network.node_of_address(address))


def _name(pod: Document) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _silent(node: str) -> Refusal:
    return Refusal("timeout", "NodeSilent", f"node {node} does not answer")


def is_inside(address: str) -> bool:
    """Return whether an address is one of Services or pods."""
    where = IPv4Address(address)
    return where in CLUSTER_RANGE or where in POD_NETWORK
