"""Gives Services of type LoadBalancer a balancer of the cloud, with an address, and takes it back.

The cloud is hollow, as its machines are: making a balancer takes a moment, and its addresses are those that are kept
for examples (RFC 5737). What it was asked for is remembered here alone, as upstream does it: whoever leads next asks
again, and the address stays.

Source: k8s.io/cloud-provider/controllers/service/controller.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import chain
from typing import Any, ClassVar, Final

from controllers.kit.balancing import is_balanced, is_included
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.log.operations import Patch
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import ApiError

FINALIZER: Final = "service.kubernetes.io/load-balancer-cleanup"
"""Holds a Service until its balancer is taken back."""

MAKES_MS: Final = 2_000
"""How long the cloud takes to make a balancer, in simulated milliseconds."""

ADDRESSES: Final = (IPv4Network("203.0.113.0/24"), IPv4Network("198.51.100.0/24"))
"""What balancers are given addresses from, the lowest that is free first."""

_ASKED: Final = (
    "loadBalancerSourceRanges", "ports", "sessionAffinity", "sessionAffinityConfig", "loadBalancerIP", "externalIPs",
    "externalTrafficPolicy", "healthCheckNodePort", "ipFamilies",
)  # fmt: skip
"""Fields of a Service by which a cloud makes its balancer (needsUpdate)."""


@dataclass(slots=True)
class _Balancer:
    """One balancer of the cloud."""

    asked: tuple[Any, ...]
    """What the Service asked for when it was made."""
    due_ms: int
    """When it is there, in simulated milliseconds."""
    address: str
    nodes: frozenset[str]
    """Names of the nodes that it sends to."""
    is_there: bool = False


class ServiceController:
    """Reconciles Services, by key."""

    NAME: ClassVar[str] = "service-lb"
    RESOURCES: ClassVar[tuple[str, ...]] = ("services", "nodes")

    def __init__(self, setup: Setup) -> None:
        """Listen to Services, and to nodes for whom balancers send to."""
        self._services = setup.informers["services"]
        self._nodes = setup.informers["nodes"]
        self._queue = setup.queue
        self._balancers: dict[str, _Balancer] = {}
        self._services.add_handler(self._changed)
        self._nodes.add_handler(self._node_changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is None:
            if old is not None:
                self._balancers.pop(key_of(old), None)
        elif _is_to_go(new) or (_is_wanted(new) and (old is None or not _is_wanted(old) or _asked(old) != _asked(new))):
            self._queue.add(key_of(new))

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if self._balancers and (old is None or new is None or is_included(old) != is_included(new)):
            for key in self._balancers:
                self._queue.add(key)

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Move one Service's balancer toward what it asks for."""
        service = self._services.get(*split_key(key))
        if service is None:
            return
        try:
            if _is_wanted(service) and not _is_to_go(service):
                yield from self._ensure(key, service, work)
            elif FINALIZER in (service["metadata"].get("finalizers") or ()):
                yield from self._take_back(key, service, work)
        except ApiError as error:
            text = f"Error syncing load balancer: {error.message}"
            work.event(service, "Service", "SyncLoadBalancerFailed", text, event_type="Warning")
            raise

    def _ensure(self, key: str, service: Document, work: Work) -> Reconcile:
        balancer = self._balancers.get(key)
        nodes = self._balanced()
        if balancer is None or balancer.asked != _asked(service):
            yield from self._begin(key, service, nodes, work)
            return
        _tell(service, balancer.address if balancer.is_there else "", "as asked", work)
        if not balancer.is_there:
            yield from self._finish(key, service, balancer, work)
        elif balancer.nodes != nodes:
            balancer.nodes = nodes
            if nodes:
                work.event(service, "Service", "UpdatedLoadBalancer", "Updated load balancer with new hosts")
            else:
                _tell_no_nodes(service, work)

    def _begin(self, key: str, service: Document, nodes: frozenset[str], work: Work) -> Reconcile:
        """Have the cloud make a balancer, or change the one that it has made."""
        known = _address(service)
        work.event(service, "Service", "EnsuringLoadBalancer", "Ensuring load balancer")
        if FINALIZER not in (service["metadata"].get("finalizers") or ()):
            _tell(service, known, "it is held until its balancer is taken back", work)
            yield from _write(service, {"metadata": {"finalizers": [FINALIZER]}}, "add load balancer cleanup finalizer")
        if not nodes:
            _tell_no_nodes(service, work)
        address = str(service["spec"].get("loadBalancerIP") or "") or known or self._free_address()
        due_ms = work.now_ms + (0 if known else MAKES_MS)
        self._balancers[key] = balancer = _Balancer(_asked(service), due_ms, address, nodes)
        _tell(service, known, "the cloud makes a balancer", work)
        yield from self._finish(key, service, balancer, work)

    def _finish(self, key: str, service: Document, balancer: _Balancer, work: Work) -> Reconcile:
        """Tell the address once the balancer is there."""
        if work.now_ms < balancer.due_ms:
            work.queue.add_at(key, balancer.due_ms)
            return
        balancer.is_there = True
        work.event(service, "Service", "EnsuredLoadBalancer", "Ensured load balancer")
        if _address(service) != balancer.address:
            told = {"loadBalancer": {"ingress": [{"ip": balancer.address, "ipMode": "VIP"}]}}
            yield from _write(service, {"status": told}, "update load balancer status", "status")

    def _take_back(self, key: str, service: Document, work: Work) -> Reconcile:
        """Have the cloud take a balancer back, then let the Service go."""
        made = self._balancers.pop(key, None)
        address = _address(service) or (made.address if made is not None else "")
        _tell(service, address, "a balancer is taken back", work)
        if address:
            work.event(service, "Service", "DeletingLoadBalancer", "Deleting load balancer")
        gone = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
        yield from _write(service, gone, "remove load balancer cleanup finalizer")
        work.event(service, "Service", "DeletedLoadBalancer", "Deleted load balancer")
        if _address(service) and not service["metadata"].get("deletionTimestamp"):
            yield from _write(service, {"status": {"loadBalancer": None}}, "update load balancer status", "status")

    # -- the cloud ----------------------------------------------------------------------------------------------

    def _balanced(self) -> frozenset[str]:
        """Return the nodes that balancers send to; whether they are ready each balancer finds out."""
        return frozenset(str(node["metadata"]["name"]) for node in self._nodes.all() if is_balanced(node))

    def _free_address(self) -> str:
        """Return the lowest address that no Service has.

        Raises:
            ApiError: all are given out.
        """
        taken = {balancer.address for balancer in self._balancers.values()}
        taken.update(chain.from_iterable(map(_addresses, self._services.all())))
        free = (str(address) for network in ADDRESSES for address in network.hosts() if str(address) not in taken)
        found = next(free, "")
        if not found:
            raise ApiError(503, "ServiceUnavailable", "failed to ensure load balancer: no address is left")
        return found


def _write(service: Document, patch: Document, what: str, subresource: str = "") -> Reconcile:
    """Patch a Service, if it is still the same one; one that is gone needs nothing."""
    metadata = service["metadata"]
    same = {**patch, "metadata": {**patch.get("metadata", {}), "uid": metadata["uid"]}}
    (result,) = yield [Patch("services", metadata["namespace"], metadata["name"], same, "strategic", subresource)]
    if result.error is not None and result.error.code != 404:
        raise ApiError(result.error.code, result.error.reason, f"failed to {what}: {result.error.message}")


def _tell(service: Document, address: str, reason: str, work: Work) -> None:
    work.tell(reason, desired={"spec.type": service["spec"].get("type")}, actual={"address": address or None})


def _tell_no_nodes(service: Document, work: Work) -> None:
    text = "There are no available nodes for LoadBalancer"
    work.event(service, "Service", "UnAvailableLoadBalancer", text, event_type="Warning")


def _is_wanted(service: Mapping[str, Any]) -> bool:
    """Return whether a Service asks for a balancer of this cloud (wantsLoadBalancer)."""
    spec = service["spec"]
    return spec.get("type") == "LoadBalancer" and spec.get("loadBalancerClass") is None


def _is_to_go(service: Mapping[str, Any]) -> bool:
    """Return whether a Service's balancer is to be taken back (needsCleanup)."""
    metadata = service["metadata"]
    if FINALIZER not in (metadata.get("finalizers") or ()):
        return False
    return bool(metadata.get("deletionTimestamp")) or service["spec"].get("type") != "LoadBalancer"


def _asked(service: Mapping[str, Any]) -> tuple[Any, ...]:
    metadata, spec = service["metadata"], service["spec"]
    return (metadata["uid"], metadata.get("annotations") or {}, *(spec.get(field) for field in _ASKED))


def _addresses(service: Mapping[str, Any]) -> Iterable[str]:
    points = at(service, "status", "loadBalancer", "ingress") or ()
    return [str(point["ip"]) for point in points if point.get("ip")]


def _address(service: Mapping[str, Any]) -> str:
    return next(iter(_addresses(service)), "")
