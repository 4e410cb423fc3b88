"""Keeps the EndpointSlices of Services with a selector.

Source: k8s.io/kubernetes/pkg/controller/endpointslice/endpointslice_controller.go, k8s.io/endpointslice/reconciler.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from controllers.endpointslice import topology
from controllers.endpointslice.topology import ZONE
from controllers.kinds.core.service_names import SERVICE_NAME
from controllers.kit.expectations import Expectations
from controllers.kit.interest import NAMESPACE
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.kit.pods import owner_reference
from controllers.kit.services import (
    HEADLESS,
    SELECTING,
    TriggerTimes,
    addresses_of,
    annotated,
    by_namespace,
    has_address,
    host_name,
    index_selecting,
    is_listed,
    is_ready,
    pods_of,
    port_number,
    services_of_change,
    target_of,
)
from controllers.kit.slices import Changes, PortsKey, distribute, ordered_ports, ports_key
from controllers.log.operations import Create, Delete, Operation, Update
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

SLICES: Final = "endpointslices.discovery.k8s.io"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
MANAGER: Final = "endpointslice-controller.k8s.io"
ENDPOINTS_MAX: Final = 100
"""Addresses that one slice takes (max-endpoints-per-slice)."""

_RESERVED: Final = (HEADLESS, MANAGED_BY, SERVICE_NAME)
_CLOSE: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")


class EndpointSliceController:
    """Reconciles Services, by namespace and name."""

    NAME: ClassVar[str] = "endpointslice"
    RESOURCES: ClassVar[tuple[str, ...]] = (SLICES, "nodes", "pods", "services")

    def __init__(self, setup: Setup) -> None:
        """Listen to Services, to their pods and slices, and to zones of nodes."""
        self._services = setup.informers["services"]
        self._pods = setup.informers["pods"]
        self._nodes = setup.informers["nodes"]
        self._slices = setup.informers[SLICES]
        self._queue = setup.queue
        self._times = TriggerTimes()
        self._zones = topology.Zones()
        self._zones_known = False
        self._expectations = Expectations()
        self._written: dict[str, dict[str, int]] = {}
        """Key → name of a slice → its version when it was last changed here."""
        index_selecting(self._services)
        self._pods.add_index("namespace", by_namespace, of=(NAMESPACE,))
        self._slices.add_index("service", _service_of)
        self._services.add_handler(self._service_changed)
        self._pods.add_handler(self._pod_changed, while_any=(self._services, SELECTING))
        self._nodes.add_handler(self._node_changed)
        self._slices.add_handler(self._slice_changed)

    def _service_changed(self, old: Document | None, new: Document | None) -> None:
        self._queue.add(key_of(new or old or {}))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        for key in sorted(services_of_change(self._services, old, new)):
            self._queue.add(key)

    def _slice_changed(self, old: Document | None, new: Document | None) -> None:
        for key in () if new is None else _service_of(new):
            if old is None:
                self._expectations.created(key)
            self._queue.add(key)
        for key in () if old is None else _service_of(old):
            if new is None:
                self._expectations.deleted(key, old["metadata"]["uid"] if old else "")
            self._queue.add(key)

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if topology.counts_in(old) == topology.counts_in(new):
            return
        self._zones_known = False
        if self._zones.is_used():
            for key in self._known_zones().overloaded():
                self._queue.add(key)

    def _known_zones(self) -> topology.Zones:
        """Return the zones' shares; nodes are looked at only where some Service asks."""
        if not self._zones_known:
            self._zones.set_nodes(self._nodes.all())
            self._zones_known = True
        return self._zones

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Bring the addresses of one Service into its slices."""
        namespace, name = split_key(key)
        service = self._services.get(namespace, name)
        if service is None:
            self._times.forget(key)
            self._expectations.forget(key)
            self._written.pop(key, None)
            return
        spec = service["spec"]
        if spec.get("type") == "ExternalName" or spec.get("selector") is None:
            return
        if not self._expectations.satisfied(key, work.now_ms):
            # What it wrote last is not seen yet: it would be written twice.
            return
        existing = [one for one in self._slices.indexed("service", key) if "deletionTimestamp" not in one["metadata"]]
        written = self._written.pop(key, {})
        if any(_version(one) < written.get(one["metadata"]["name"], 0) for one in existing):
            # Its own change is not seen yet, and would be met by the next; the watch wakes it.
            self._written[key] = written
            return
        pods = pods_of(service, self._pods)
        trigger = self._times.of(service, pods)
        families: list[str] = spec.get("ipFamilies") or ["IPv4"]
        changes = Changes(delete=[one for one in existing if one["addressType"] not in families])
        for one in changes.delete:
            self._zones.forget(key, one["addressType"])
        told_of_hints: list[tuple[str, str]] = []
        for family in families:
            there = [one for one in existing if one["addressType"] == family]
            asked = self._changes(service, pods, there, family)
            told_of_hints += self._hint(service, family, asked, there)
            changes.add(asked)
        parts = (("created", changes.create), ("updated", changes.update), ("deleted", changes.delete))
        told = ", ".join(f"{len(part)} {what}" for what, part in parts if part)
        work.tell(
            f"slices {told}" if told else "as asked",
            desired={"podStore": {"pods": sum(1 for pod in pods if is_listed(pod, ending=True))}},
            actual={"endpointslices": {"slices": len(existing), "endpoints": _length(existing)}},
        )
        error = None if spec.get("publishNotReadyAddresses") else self._homeless(service, pods)
        operations = _operations(service, changes, trigger)
        gone = [one.uid or "" for one in operations if isinstance(one, Delete)]
        made = sum(1 for one in operations if isinstance(one, Create))
        self._expectations.expect(key, made, gone, work.now_ms)
        for result in (yield operations):
            if result.error is None:
                if isinstance(result.operation, Update) and result.object is not None:
                    self._written.setdefault(key, {})[result.operation.name] = _version(result.object)
                continue
            if isinstance(result.operation, Create):
                self._expectations.created(key)
            elif isinstance(result.operation, Delete):
                self._expectations.deleted(key, result.operation.uid or "")
            if not _is_over(result.error):
                error = result.error
        for reason, text in told_of_hints:
            kind = "Normal" if reason == "TopologyAwareHintsEnabled" else "Warning"
            work.event(service, "Service", reason, text, event_type=kind)
        if error is not None:
            text = f"Error updating Endpoint Slices for Service {namespace}/{name}: {error.message}"
            work.event(service, "Service", "FailedToUpdateEndpointSlices", text, event_type="Warning")
            raise error

    def _homeless(self, service: Document, pods: Sequence[Document]) -> ApiError | None:
        """Return what is wrong where pods are left out since their node is not known; they are tried again."""
        told = [
            f"skipping Pod {pod['metadata']['name']} for Service {key_of(service)}: "
            f"Node {pod['spec'].get('nodeName') or ''} Not Found"
            for pod in pods
            if is_listed(pod, ending=True) and self._nodes.get("", pod["spec"].get("nodeName") or "") is None
        ]
        if not told:
            return None
        return ApiError(404, "NotFound", told[0] if len(told) == 1 else f"[{', '.join(told)}]")

    def _changes(
        self, service: Document, pods: Sequence[Document], existing: Sequence[Document], family: str
    ) -> Changes:
        uid = service["metadata"]["uid"]
        changes = Changes(delete=[one for one in existing if not _is_owned(one, uid)])
        by_ports: dict[PortsKey, list[Document]] = {}
        for one in existing:
            if _is_owned(one, uid):
                by_ports.setdefault(ports_key(one.get("ports")), []).append(one)
        ports_of: dict[PortsKey, list[Document]] = {}
        wanted: dict[PortsKey, list[Document]] = {}
        for pod in pods:
            if not is_listed(pod, ending=True):
                continue
            ports = _ports(service, pod)
            ports_of.setdefault(ports_key(ports), ports)
            entry = self._endpoint(service, pod, family)
            wanted.setdefault(ports_key(ports), []).extend([] if entry is None else [entry])
        labels = _labels(service)
        for key, entries in wanted.items():
            empty = _new(service, ports_of[key], family)
            changes.add(distribute(by_ports.get(key, []), entries, labels, empty, ENDPOINTS_MAX))
        changes.delete += [one for key, group in by_ports.items() if key not in wanted for one in group]
        if len(existing) == len(changes.delete) and not changes.create:
            _keep_one(changes, _new(service, [], family), uid)
        return changes

    def _hint(
        self, service: Document, family: str, changes: Changes, existing: Sequence[Document]
    ) -> list[tuple[str, str]]:
        """Say for whom addresses are; return what is told of it."""
        key = key_of(service)
        if topology.is_asked(service["metadata"].get("annotations")):
            return self._known_zones().hint(key, family, changes, _untouched(changes, existing))
        had = self._zones.forget(key, family)
        _keep_near(changes, existing, service)
        text = f"Topology Aware Hints has been disabled, addressType: {family}"
        return [("TopologyAwareHintsDisabled", text)] if had else []

    def _endpoint(self, service: Document, pod: Document, family: str) -> Document | None:
        place = pod["spec"].get("nodeName") or ""
        node = self._nodes.get("", place)
        unready_too = bool(service["spec"].get("publishNotReadyAddresses"))
        addresses = addresses_of(pod, family)
        if not addresses or (node is None and not unready_too):
            return None
        serving, ending = is_ready(pod), "deletionTimestamp" in pod["metadata"]
        entry: Document = {
            "addresses": addresses,
            "conditions": {
                "ready": unready_too or (serving and not ending),
                "serving": serving,
                "terminating": ending,
            },
            "targetRef": target_of(pod),
        }
        zone = ((node or {}).get("metadata", {}).get("labels") or {}).get(ZONE)
        told = {"nodeName": place, "zone": zone, "hostname": host_name(pod, service)}
        return entry | {key: value for key, value in told.items() if value}


def _service_of(document: Document) -> Iterable[str]:
    """Index the slices of this controller by the key of their Service."""
    labels = document["metadata"].get("labels") or {}
    if labels.get(MANAGED_BY) == MANAGER and labels.get(SERVICE_NAME):
        yield f"{document['metadata']['namespace']}/{labels[SERVICE_NAME]}"


def _version(document: Document) -> int:
    return int(document["metadata"]["resourceVersion"])


def _length(slices: Sequence[Document]) -> int:
    return sum(len(one.get("endpoints") or ()) for one in slices)


def _is_owned(document: Document, uid: str) -> bool:
    references = document["metadata"].get("ownerReferences") or ()
    return any(one["uid"] == uid and one["kind"] == "Service" and one["apiVersion"] == "v1" for one in references)


def _is_over(error: ApiError) -> bool:
    """Return whether a write was refused because its namespace ends."""
    return any(cause.reason == "NamespaceTerminating" for cause in error.causes)


def _labels(service: Document) -> dict[str, str]:
    own = service["metadata"].get("labels") or {}
    labels = {key: value for key, value in own.items() if key not in _RESERVED}
    if not has_address(service):
        labels[HEADLESS] = ""
    return labels | {SERVICE_NAME: service["metadata"]["name"], MANAGED_BY: MANAGER}


def _ports(service: Document, pod: Document) -> list[Document]:
    ports: list[Document] = []
    for port in service["spec"].get("ports") or ():
        number = port_number(pod, port)
        if number is None:
            continue
        told: Document = {"name": port.get("name") or "", "protocol": port.get("protocol", "TCP"), "port": number}
        if port.get("appProtocol"):
            told["appProtocol"] = port["appProtocol"]
        ports.append(told)
    return ordered_ports(ports)


def _new(service: Document, ports: list[Document], family: str) -> Document:
    metadata = service["metadata"]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": _labels(service),
            "ownerReferences": [owner_reference({"apiVersion": "v1", "kind": "Service", **service})],
        },
        "addressType": family,
        "endpoints": None,
        "ports": ports or None,
    }


def _keep_one(changes: Changes, empty: Document, uid: str) -> None:
    """A Service without addresses has one slice without any; the one that there is stays as it is."""
    if len(changes.delete) == 1:
        (known,) = changes.delete
        same = (known["metadata"].get("labels") or {}) == empty["metadata"]["labels"] and _is_owned(known, uid)
        if same and not known.get("endpoints") and not known.get("ports"):
            changes.delete.clear()
            return
    changes.create.append(empty)


def _untouched(changes: Changes, existing: Sequence[Document]) -> list[Document]:
    touched = {one["metadata"].get("name") for one in (*changes.update, *changes.delete)}
    return [one for one in existing if one["metadata"]["name"] not in touched]


def _keep_near(changes: Changes, existing: Sequence[Document], service: Document) -> None:
    """Say of every ready address which zone, or which node, it is for, where the Service wants traffic to stay near."""
    wish = service["spec"].get("trafficDistribution") or ""
    for one in _untouched(changes, existing):
        if _hinted(one, wish) != one.get("endpoints"):
            changes.update.append(one)
    for part in (changes.update, changes.create):
        part[:] = [{**one, "endpoints": _hinted(one, wish)} for one in part]


def _hinted(document: Document, wish: str) -> list[Document] | None:
    entries: list[Document] | None = document.get("endpoints")
    return None if entries is None else [_with_hint(entry, wish) for entry in entries]


def _with_hint(entry: Mapping[str, Any], wish: str) -> Document:
    plain = {key: value for key, value in entry.items() if key != "hints"}
    if wish not in _CLOSE or not (entry.get("conditions") or {}).get("ready"):
        return plain
    hints: Document = {"forZones": [{"name": entry["zone"]}]} if entry.get("zone") else {}
    if wish == "PreferSameNode" and entry.get("nodeName"):
        hints["forNodes"] = [{"name": entry["nodeName"]}]
    return plain | ({"hints": hints} if hints else {})


def _operations(service: Document, changes: Changes, trigger: str) -> list[Operation]:
    """Return the writes: places that would go are used again for what is new."""
    changes.recycle(lambda one: _is_owned(one, service["metadata"]["uid"]))
    namespace = service["metadata"]["namespace"]
    operations: list[Operation] = []
    if "deletionTimestamp" not in service["metadata"]:
        operations += [Create(SLICES, namespace, _annotated(one, trigger)) for one in changes.create]
    for one in changes.update:
        operations.append(Update(SLICES, namespace, one["metadata"]["name"], _annotated(one, trigger)))
    for one in changes.delete:
        operations.append(Delete(SLICES, namespace, one["metadata"]["name"], uid=one["metadata"]["uid"]))
    return operations


def _annotated(document: Document, trigger: str) -> Document:
    metadata = document["metadata"]
    annotations = annotated(metadata.get("annotations"), trigger)
    return {**document, "metadata": {**metadata, "annotations": annotations}}
