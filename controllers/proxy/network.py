"""The cluster as its network sees it: machines, pods by address, Services with what stands behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from controllers.flags.flag import InForce
from controllers.flags.kubelet import ANNOTATION_PREFIX
from controllers.kinds.coordination.heartbeat import is_running
from controllers.kinds.core.service_names import SERVICE_NAME
from controllers.kit.balancing import is_included
from controllers.kit.informer import Informers
from controllers.kit.manager import key_of, split_key
from controllers.kubelet.orders import Orders, is_off, orders_of
from controllers.log.stamps import unix_ms_of
from controllers.proxy.endpoints import Endpoint, ServicePort, endpoints_of, ports_of
from controllers.proxy.policies import End, Policy, read_policy
from scheduler_core.api.document import Document, at, condition, has_ended

SLICES: Final = "endpointslices.discovery.k8s.io"
POLICIES: Final = "networkpolicies.networking.k8s.io"
WATCHED: Final = (SLICES, "namespaces", POLICIES, "nodes", "pods", "services")
ZONE: Final = "topology.kubernetes.io/zone"


class Network:
    """What is known from watching; `changed` are the keys of Services that have, since it was last emptied."""

    def __init__(self, flags: InForce) -> None:
        """Know nothing yet."""
        self._flags = flags
        self.informers = Informers(WATCHED, identity="kube-proxy")
        self.nodes, self.pods = self.informers["nodes"], self.informers["pods"]
        self._services, self._slices = self.informers["services"], self.informers[SLICES]
        self._namespaces, self._policies = self.informers["namespaces"], self.informers[POLICIES]
        self.nodes.add_index("address", _addresses_of_node)
        self.pods.add_index("address", _address_of_pod)
        self.pods.add_index("host", _node_of_listening)
        self._services.add_index("address", _addresses_of_service)
        self._slices.add_index("service", _service_of)
        self.nodes.add_handler(self._node_changed)
        self.pods.add_handler(self._pod_changed)
        self._services.add_handler(self._service_changed)
        self._slices.add_handler(self._slice_changed)
        self._policies.add_handler(self._policy_changed)
        self.changed: dict[str, None] = {}
        self.unix_ms = 0
        """The present, as the component last said it."""
        self.listed = False
        """Whether it has been: then what is new happens now."""
        self._ends: dict[str, int] = {}
        self._ports: dict[str, tuple[ServicePort, ...]] = {}
        self._behind: dict[str, list[tuple[Endpoint, str]]] = {}
        self._balanced: list[str] | None = None
        self._read_policies: dict[str, list[Policy]] | None = None

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        metadata = pod["metadata"]
        if new is None:
            self._ends.pop(metadata["uid"], None)
        elif "deletionTimestamp" in metadata and metadata["uid"] not in self._ends:
            grace_ms = 1000 * int(metadata.get("deletionGracePeriodSeconds") or 0)
            told_ms = unix_ms_of(metadata["deletionTimestamp"]) - grace_ms
            self._ends[metadata["uid"]] = self.unix_ms if self.listed else told_ms

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        self._balanced = None

    def _service_changed(self, old: Document | None, new: Document | None) -> None:
        self._note(key_of(new or old or {}))

    def _slice_changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            for key in () if document is None else _service_of(document):
                self._note(key)

    def _policy_changed(self, old: Document | None, new: Document | None) -> None:
        self._read_policies = None

    def _note(self, service: str) -> None:
        self.changed[service] = None
        self._ports.pop(service, None)
        self._behind.pop(service, None)

    # -- Services -----------------------------------------------------------------------------------------------

    def service(self, namespace: str, name: str) -> Document | None:
        """Return a Service."""
        return self._services.get(namespace, name)

    @property
    def service_keys(self) -> list[str]:
        """Return the keys of all Services."""
        return [key_of(service) for service in self._services.all()]

    def ports(self, service: str) -> tuple[ServicePort, ...]:
        """Return a Service's ports as they are now."""
        known = self._ports.get(service)
        if known is None:
            slices = self._slices.indexed("service", service)
            known = self._ports[service] = ports_of(self._services.get(*split_key(service)), slices)
        return known

    def behind(self, service: str) -> Sequence[tuple[Endpoint, str]]:
        """Return (endpoint, host name) of each address of a Service's slices."""
        known = self._behind.get(service)
        if known is None:
            known = self._behind[service] = [
                (endpoint, str(entry.get("hostname") or ""))
                for one in self._slices.indexed("service", service)
                for entry in one.get("endpoints") or ()
                for endpoint in endpoints_of([{**one, "endpoints": [entry]}], None)
            ]
        return known

    def of_address(self, address: str) -> list[Document]:
        """Return the Services that have an address, whichever kind of address it is."""
        return self._services.indexed("address", address)

    # -- machines and pods --------------------------------------------------------------------------------------

    def is_running(self, node: str) -> bool:
        """Return whether a machine answers."""
        document = self.nodes.get("", node)
        prefix = self._flags[ANNOTATION_PREFIX]
        return document is not None and not is_off(document, prefix) and is_running(document, self.unix_ms)

    def is_synced(self, node: str) -> bool:
        """Return whether a node's proxy takes what changes: it runs, and nobody has stopped it."""
        document = self.nodes.get("", node) or {"metadata": {}}
        prefix = self._flags[ANNOTATION_PREFIX]
        told = (document["metadata"].get("annotations") or {}).get(f"{prefix}/kube-proxy")
        return self.is_running(node) and told != "off"

    def zone(self, node: str) -> str:
        """Return the zone of a node; empty: it has none."""
        return str(at(self.nodes.get("", node) or {}, "metadata", "labels", ZONE) or "")

    def node_of_address(self, address: str) -> str:
        """Return the name of the node that has an address; empty: none has it."""
        found = self.nodes.indexed("address", address)
        return str(found[0]["metadata"]["name"]) if found else ""

    def address_of_node(self, node: str) -> str:
        """Return a node's own address; empty where it has told none."""
        return next(iter(_addresses_of_node(self.nodes.get("", node) or {})), "")

    def first_running(self) -> str:
        """Return the first of the machines that answer, by name; empty: none does."""
        names = (str(node["metadata"]["name"]) for node in self.nodes.all())
        return next((name for name in names if self.is_running(name)), "")

    def balanced_nodes(self, local_to: Iterable[str] | None) -> list[str]:
        """Return the nodes that a load balancer sends to, in order.

        `local_to`: the nodes that have endpoints of their own, where the Service wants to keep to those.
        """
        if self._balanced is None:
            self._balanced = [
                str(node["metadata"]["name"])
                for node in self.nodes.all()
                if (condition(node, "Ready") or {}).get("status") == "True" and is_included(node)
            ]
        if local_to is None:
            return self._balanced
        wanted = set(local_to)
        return [name for name in self._balanced if name in wanted]

    def pod_of_address(self, address: str) -> Document | None:
        """Return the pod that has an address of its own."""
        found = self.pods.indexed("address", address)
        return found[0] if found else None

    def pods_on(self, node: str) -> list[Document]:
        """Return the pods of a node that take connections to the node's own ports."""
        return self.pods.indexed("host", node)

    # -- NetworkPolicies ----------------------------------------------------------------------------------------

    def has_namespace(self, name: str) -> bool:
        """Return whether there is a namespace."""
        return self._namespaces.get("", name) is not None

    def policies(self, namespace: str | None) -> Sequence[Policy]:
        """Return the NetworkPolicies of a namespace, in order of their names."""
        if self._read_policies is None:
            self._read_policies = {}
            for document in self._policies.all():
                self._read_policies.setdefault(document["metadata"]["namespace"], []).append(read_policy(document))
        return self._read_policies.get(namespace or "", ())

    def end_of_pod(self, pod: Document) -> End:
        """Return a pod as policies see it; one on its machine's network is that machine."""
        spec, metadata = pod["spec"], pod["metadata"]
        node = str(spec.get("nodeName") or "")
        if spec.get("hostNetwork"):
            return self.end_of_node(node)
        ports = {
            str(one["name"]): int(one["containerPort"])
            for container in spec.get("containers") or ()
            for one in container.get("ports") or ()
            if one.get("name")
        }
        address = str((pod.get("status") or {}).get("podIP") or "")
        end = self.end_in(metadata["namespace"], address, node)
        return end._replace(name=metadata["name"], labels=metadata.get("labels") or {}, ports=ports)

    def end_of_node(self, node: str) -> End:
        """Return a machine as policies see it."""
        return End(self.address_of_node(node), node)

    def end_in(self, namespace: str, address: str, node: str) -> End:
        """Return a pod of a namespace that has no name and no labels."""
        found = self._namespaces.get("", namespace) or {"metadata": {}}
        return End(address, node, namespace, namespace_labels=found["metadata"].get("labels") or {})

    # -- pods ---------------------------------------------------------------------------------------------------

    def orders(self, pod: Document) -> Orders:
        """Return what annotations tell of a pod."""
        return orders_of(pod, self._flags[ANNOTATION_PREFIX])

    def ends_unix_ms(self, pod: Document) -> int | None:
        """Return since when a pod is to end; None: it stays."""
        return self._ends.get(pod["metadata"]["uid"])


def _service_of(document: Document) -> Iterable[str]:
    name = (document["metadata"].get("labels") or {}).get(SERVICE_NAME)
    if name:
        yield f"{document['metadata']['namespace']}/{name}"


def _addresses_of_node(node: Document) -> Iterable[str]:
    for entry in at(node, "status", "addresses") or ():
        if entry.get("type") in ("InternalIP", "ExternalIP") and entry.get("address"):
            yield str(entry["address"])


def _addresses_of_service(service: Document) -> Iterable[str]:
    spec = service["spec"]
    found: list[Any] = [spec.get("clusterIP"), *(spec.get("externalIPs") or ())]
    found += [one.get("ip") for one in at(service, "status", "loadBalancer", "ingress") or ()]
    yield from dict.fromkeys(str(address) for address in found if address and address != "None")


def _address_of_pod(pod: Document) -> Iterable[str]:
    address = (pod.get("status") or {}).get("podIP")
    if address and not pod["spec"].get("hostNetwork") and not has_ended(pod):
        yield str(address)


def _node_of_listening(pod: Document) -> Iterable[str]:
    """Index pods with ports on their machine by its name."""
    spec = pod["spec"]
    ports = [port for container in spec.get("containers") or () for port in container.get("ports") or ()]
    if (
        spec.get("nodeName")
        and not has_ended(pod)
        and any(spec.get("hostNetwork") or one.get("hostPort") for one in ports)
    ):
        yield str(spec["nodeName"])
