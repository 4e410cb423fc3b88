"""PodInfo and NodeInfo: a pod with its sums worked out once, and one node with the pods on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod, PodStatus
from scheduler_core.api.quantity import int64
from scheduler_core.api.requests import (
    NON_ZERO_DEFAULTS,
    Amounts,
    amounts,
    asks_for_everything_scored,
    non_zero_requests,
    pod_host_ports,
    pod_requests,
    resized,
)
from scheduler_core.snapshot.affinity_terms import NO_TERMS, PodTerms, terms_of
from scheduler_core.snapshot.required_affinity import Required, required_of
from scheduler_core.snapshot.traits import traits_of

HostPort = tuple[str, str, int]
"""(protocol, host IP, port)"""

Kin = tuple[str, frozenset[tuple[str, str]], bool]
"""(namespace, labels, whether deletion has begun): all that counting by labels looks at."""

_PLAIN_MAX: Final = 2**63
"""Sums below it in size are what 64 bits hold; others wrap."""

_encode = msgspec.msgpack.Encoder(order="deterministic").encode


class PodSums(NamedTuple):
    """What pods of one shape ask for, worked out once. Shared: never change its members."""

    requests: Amounts
    """What a pod counts for on a node: resource → millicores or whole units."""
    asked: Amounts
    """What fitting counts for the pod in hand: what its containers were given before does not matter."""
    non_zero: tuple[int, int]
    """(millicores, bytes) that scoring counts for a pod on a node."""
    scoring_requests: Amounts
    """What scoring counts for the pod in hand: as `asked`, with defaults for containers that ask for nothing, and no
    pod-level requests, which upstream's score plugins leave out for the pod being placed."""
    host_ports: tuple[HostPort, ...]
    pair: tuple[int, int]
    """(millicores, bytes) of `requests`."""
    scored_pair: tuple[int, int]
    """(millicores, bytes) of `scoring_requests`."""


SUMS_MAX: Final = 4_096
"""Shapes whose sums are kept; past it all are dropped and worked out again."""

_sums: dict[bytes, PodSums] = {}


def _sums_of(shape: bytes, pod: Pod) -> PodSums:
    """Return the sums of a pod; they follow from its shape alone."""
    found = _sums.get(shape)
    if found is None:
        if len(_sums) >= SUMS_MAX:
            _sums.clear()
        requests = pod_requests(pod)
        if asks_for_everything_scored(pod):
            # No default stands in for anything: scoring counts what fitting counts.
            own = scored = requests
            non_zero = requests.get("cpu", 0), requests.get("memory", 0)
        else:
            own, non_zero = pod_requests(pod, running=False), non_zero_requests(pod)
            scored = pod_requests(pod, NON_ZERO_DEFAULTS, pod_level=False, running=False)
        pairs = ((one.get("cpu", 0), one.get("memory", 0)) for one in (requests, scored))
        found = _sums[shape] = PodSums(requests, own, non_zero, scored, pod_host_ports(pod), *pairs)
    return found


def _shape_of(pod: Pod) -> bytes:
    meta, spec = pod.metadata, pod.spec
    placed = tuple(volume for volume in spec.volumes if volume.is_placed)
    if len(placed) < len(spec.volumes):
        # Admission mounts a volume in each pod whose name is that pod's own.
        spec = msgspec.structs.replace(spec, volumes=placed)
    told: tuple[object, ...] = (pod.namespace, meta.labels, meta.owner_references, spec)
    given = resized(pod)
    if given:
        told = (*told, given, pod.is_resize_infeasible)
    return _encode(told)


class PodInfo:
    """A pod and what scheduling derives from it. Treat it as frozen."""

    __slots__ = (
        "_kept_kin",
        "_kept_required",
        "_kept_sums",
        "_kept_terms",
        "_kept_traits",
        "_shape",
        "pod",
        "priority",
        "uid",
    )

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.uid = pod.uid
        self.priority = pod.priority
        self._shape: bytes | None = None
        self._kept_sums: PodSums | None = None
        self._kept_terms: PodTerms | None = None
        self._kept_required: Required | None = None
        self._kept_kin: Kin | None = None
        self._kept_traits: int = 0

    @classmethod
    def of(cls, document: FrozenDocument) -> PodInfo:
        """Return the info of a Pod document.

        Raises:
            ApiError: 400, the document is no pod.
        """
        return cls(view(document, Pod))

    def bound(self, before: FrozenDocument, document: FrozenDocument) -> PodInfo | None:
        """Return the info of a pod document that differs from this one's in its node, its status and its version alone.

        What documents share is not read again; None: they differ in more, and are to be read.
        """
        old, new = before["spec"], document["spec"]
        name = new.get("nodeName")
        if not isinstance(name, str) or "nodeName" in old or {**old, "nodeName": name} != new:
            return None
        was, meta = before["metadata"], document["metadata"]
        version = meta.get("resourceVersion")
        if self.pod.metadata.resource_version != was.get("resourceVersion", ""):
            return None
        status = document.get("status") or {}
        if not isinstance(version, str) or {**was, "resourceVersion": version} != meta or self._has_told(status):
            return None
        pod = self.pod
        info = PodInfo(
            msgspec.structs.replace(
                pod,
                metadata=msgspec.structs.replace(pod.metadata, resource_version=version),
                spec=msgspec.structs.replace(pod.spec, node_name=name),
                status=view(status, PodStatus),
            )
        )
        info._kept_sums = self.sums
        info._kept_terms = self._kept_terms
        info._kept_kin = self._kept_kin
        info._kept_traits = self._kept_traits
        return info

    def _has_told(self, status: FrozenDocument) -> bool:
        """Return whether statuses of containers, which count for sums, are in this view or in another status."""
        own = self.pod.status
        statuses = own.container_statuses or own.init_container_statuses
        return bool(statuses or status.get("containerStatuses") or status.get("initContainerStatuses"))

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return self.pod.key

    @property
    def shape(self) -> bytes:
        """Return a key that is equal for pods that plugins cannot tell apart.

        Everything is in it but the pod's name, uid, times, volumes that need no place, and what its life added to
        status: pods of one ReplicaSet share a shape. Priority is part of the spec and so of the shape.
        """
        if self._shape is None:
            self._shape = _shape_of(self.pod)
        return self._shape

    @property
    def sums(self) -> PodSums:
        """Return what the pod asks for.

        Raises:
            QuantityError: a quantity cannot be read.
        """
        if self._kept_sums is None:
            self._kept_sums = _sums_of(self.shape, self.pod)
        return self._kept_sums

    @property
    def traits(self) -> int:
        """Return what the pod has at all, as bits of `snapshot.traits`."""
        if not self._kept_traits:
            self._kept_traits = traits_of(self.pod)
        return self._kept_traits

    @property
    def terms(self) -> PodTerms:
        """Return the pod's affinity and anti-affinity terms; `NO_TERMS` itself where it has none."""
        if self._kept_terms is None:
            self._kept_terms = terms_of(self.pod)
        return self._kept_terms

    @property
    def required(self) -> Required:
        """Return what the pod demands of its node; one value for all pods that write the same."""
        if self._kept_required is None:
            self._kept_required = required_of(self.pod)
        return self._kept_required

    @property
    def kin(self) -> Kin:
        """Return a key that is equal for pods that nobody who counts by labels can tell apart."""
        if self._kept_kin is None:
            pod = self.pod
            self._kept_kin = (pod.namespace, frozenset(pod.metadata.labels.items()), pod.is_terminating)
        return self._kept_kin

    @property
    def claims_node(self) -> bool:
        """Return whether the pod takes up room on a node: it runs there, or is nominated."""
        return bool(self.pod.spec.node_name or self.pod.status.nominated_node_name)

    @property
    def requests(self) -> Amounts:
        """Return what the pod counts for on a node: resource → millicores or whole units."""
        return self.sums.requests

    @property
    def asked(self) -> Amounts:
        """Return what fitting counts for the pod."""
        return self.sums.asked

    @property
    def host_ports(self) -> tuple[HostPort, ...]:
        """Return the host ports that the pod takes."""
        return self.sums.host_ports

    def adopt(self, known: PodInfo) -> None:
        """Take over what was worked out for an earlier view of the pod, where nothing that it follows from has changed.

        Most often that is the view without its node: a binding changes no sums.
        """
        pod, before = self.pod, known.pod
        if self._kept_sums is not None or known is self:
            return
        if pod.metadata.labels != before.metadata.labels or pod.is_terminating or before.is_terminating:
            return
        if resized(pod) or resized(before):
            return
        spec = pod.spec
        if before.spec.node_name != spec.node_name:
            spec = msgspec.structs.replace(spec, node_name=before.spec.node_name)
        if spec == before.spec:
            self._kept_sums = known._kept_sums
            self._kept_terms = known._kept_terms
            self._kept_kin = known._kept_kin
            self._kept_traits = known._kept_traits

    def placed(self, node_name: str, start_time: str | None = None) -> PodInfo:
        """Return the pod as it is once it has a node (and a start time); sums are kept, not worked out again."""
        pod = msgspec.structs.replace(self.pod, spec=msgspec.structs.replace(self.pod.spec, node_name=node_name))
        if start_time is not None:
            pod = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, start_time=start_time))
        copy = PodInfo(pod)
        copy._kept_sums = self.sums
        copy._kept_terms = self._kept_terms
        copy._kept_kin = self._kept_kin
        copy._kept_traits = self._kept_traits
        return copy

    def __repr__(self) -> str:
        return f"PodInfo({self.key})"


class NodeInfo:
    """One node, the pods on it (assumed ones included) and their sums.

    `node` is None while pods name a node that is not (or no longer) known. `pods` is an immutable tuple in order of
    arrival, and `requested` is replaced when it changes, so that clones share both; `host_ports` are all of theirs,
    `terms` those of the pods with affinity. `generation` grows with every change, `arrival` is smaller the earlier the
    Node came: both are the cache's to set.
    """

    __slots__ = (
        "allocatable",
        "arrival",
        "generation",
        "host_ports",
        "name",
        "node",
        "non_zero_cpu",
        "non_zero_memory",
        "pods",
        "requested",
        "terms",
    )

    def __init__(self, name: str, node: Node | None = None) -> None:
        self.name = name
        self.node: Node | None = None
        self.pods: tuple[PodInfo, ...] = ()
        self.requested: Amounts = {}
        self.allocatable: Amounts = {}
        self.non_zero_cpu = 0
        self.non_zero_memory = 0
        self.host_ports: frozenset[HostPort] = frozenset()
        self.terms: tuple[PodTerms, ...] = ()
        self.generation = 0
        self.arrival = 0
        if node is not None:
            self.set_node(node)

    def set_node(self, node: Node) -> None:
        """Replace the Node object.

        Raises:
            QuantityError: an allocatable quantity cannot be read.
        """
        self.allocatable = amounts(node.status.allocatable)
        self.node = node

    def add_pod(self, pod: PodInfo) -> None:
        """Count a pod here."""
        self.pods = (*self.pods, pod)
        if pod.terms is not NO_TERMS:
            self.terms = (*self.terms, pod.terms)
        self._count(pod, 1)

    def remove_pod(self, uid: str) -> PodInfo:
        """Stop counting the pod and return it.

        Raises:
            KeyError: it is not here.
        """
        for index, pod in enumerate(self.pods):
            if pod.uid == uid:
                self.pods = self.pods[:index] + self.pods[index + 1 :]
                if pod.terms is not NO_TERMS:
                    place = self.terms.index(pod.terms)
                    self.terms = self.terms[:place] + self.terms[place + 1 :]
                self._count(pod, -1)
                return pod
        raise KeyError(uid)

    def confirm(self, known: PodInfo, pod: PodInfo) -> bool:
        """Count a newer view of a pod in the place of the known one, as the last that came; False: it counts otherwise.

        Most often that is a pod which was assumed here, and is seen here now.
        """
        if known.sums is not pod.sums or known.kin != pod.kin:
            return False
        if known.terms is not NO_TERMS or pod.terms is not NO_TERMS:
            return False
        at = self.pods.index(known)
        self.pods = (*self.pods[:at], *self.pods[at + 1 :], pod)
        return True

    def _count(self, pod: PodInfo, sign: int) -> None:
        # Clones share it.
        requested, sums = dict(self.requested), pod.sums
        for resource, number in sums.requests.items():
            amount = requested.get(resource, 0) + sign * number
            requested[resource] = amount if -_PLAIN_MAX < amount < _PLAIN_MAX else int64(amount)
        self.requested = requested
        cpu, memory = sums.non_zero
        cpu, memory = self.non_zero_cpu + sign * cpu, self.non_zero_memory + sign * memory
        self.non_zero_cpu = cpu if -_PLAIN_MAX < cpu < _PLAIN_MAX else int64(cpu)
        self.non_zero_memory = memory if -_PLAIN_MAX < memory < _PLAIN_MAX else int64(memory)
        if sums.host_ports:
            # A set, as upstream's: should two pods here have one port, it is free again when the first of them goes.
            ports = frozenset(sums.host_ports)
            self.host_ports = self.host_ports | ports if sign > 0 else self.host_ports - ports

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the node's labels, none without a Node object."""
        return self.node.metadata.labels if self.node is not None else {}

    def clone(self) -> NodeInfo:
        """Return a copy that may be changed apart."""
        copy = NodeInfo.__new__(NodeInfo)
        copy.name = self.name
        copy.node = self.node
        copy.pods = self.pods
        copy.requested = self.requested
        copy.allocatable = self.allocatable
        copy.non_zero_cpu = self.non_zero_cpu
        copy.non_zero_memory = self.non_zero_memory
        copy.host_ports = self.host_ports
        copy.terms = self.terms
        copy.generation = self.generation
        copy.arrival = self.arrival
        return copy
