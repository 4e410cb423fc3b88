"""Shows Endpoints of Services without a selector as EndpointSlices.

Source: k8s.io/kubernetes/pkg/controller/endpointslicemirroring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from controllers.kinds.core.service_names import SERVICE_NAME
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import owner_reference
from controllers.kit.services import TRIGGERED
from controllers.kit.slices import (
    Changes,
    PortsKey,
    endpoint_key,
    equal_beyond_key,
    ordered_ports,
    ports_key,
    renamed,
)
from controllers.log.operations import Create, Delete, Operation, Update
from scheduler_core.api.document import Document

SLICES: Final = "endpointslices.discovery.k8s.io"
ENDPOINTS: Final = "endpoints"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
MANAGER: Final = "endpointslicemirroring-controller.k8s.io"
SKIP: Final = "endpointslice.kubernetes.io/skip-mirror"
LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
SUBSET_MAX: Final = 1_000
"""Addresses of one subset that are shown (mirroring-max-endpoints-per-subset)."""

_Place = tuple[str, PortsKey]


class MirroringController:
    """Reconciles Endpoints, by namespace and name."""

    NAME: ClassVar[str] = "endpointslice-mirroring"
    RESOURCES: ClassVar[tuple[str, ...]] = (ENDPOINTS, SLICES, "services")

    def __init__(self, setup: Setup) -> None:
        """Listen to Endpoints, to their Services and to the slices that were made of them."""
        self._endpoints = setup.informers[ENDPOINTS]
        self._services = setup.informers["services"]
        self._slices = setup.informers[SLICES]
        self._queue = setup.queue
        self._slices.add_index("mirrored", _mirrored)
        self._endpoints.add_handler(self._endpoints_changed)
        self._services.add_handler(self._service_changed)
        self._slices.add_handler(self._slice_changed)

    def _endpoints_changed(self, old: Document | None, new: Document | None) -> None:
        if any(one is not None and _is_shown(one) for one in (old, new)):
            self._queue.add(key_of(new or old or {}))

    def _service_changed(self, old: Document | None, new: Document | None) -> None:
        before, after = (None if one is None else one["spec"].get("selector") is None for one in (old, new))
        if before != after and (before or after or old is not None):
            self._queue.add(key_of(new or old or {}))

    def _slice_changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            for key in () if document is None else _mirrored(document):
                self._queue.add(key)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Bring one object's addresses into slices, or remove these."""
        namespace, name = split_key(key)
        endpoints = self._endpoints.get(namespace, name)
        service = self._services.get(namespace, name)
        existing = self._slices.indexed("mirrored", key)
        shown = endpoints is not None and _is_shown(endpoints)
        if endpoints is None or not shown or service is None or service["spec"].get("selector") is not None:
            changes = Changes(delete=list(existing))
        else:
            changes, skipped = _changes(endpoints, existing)
            changes.recycle(lambda one: True)
            if skipped:
                text = (
                    f"A max of {SUBSET_MAX} addresses can be mirrored to EndpointSlices per Endpoints subset. "
                    f"{skipped} addresses were skipped"
                )
                work.event(endpoints, "Endpoints", "TooManyAddressesToMirror", text, event_type="Warning")
        work.tell(
            "slices differ from the Endpoints" if changes.create or changes.update or changes.delete else "as asked",
            desired={"endpoints": 0 if endpoints is None else len(endpoints.get("subsets") or ())},
            actual={"slices": len(existing)},
        )
        operations: list[Operation] = []
        if endpoints is None or "deletionTimestamp" not in endpoints["metadata"]:
            operations += [Create(SLICES, namespace, one) for one in changes.create]
        operations += [Update(SLICES, namespace, one["metadata"]["name"], one) for one in changes.update]
        operations += [Delete(SLICES, namespace, one["metadata"]["name"]) for one in changes.delete]
        for result in (yield operations):
            error = result.error
            if error is not None and not any(cause.reason == "NamespaceTerminating" for cause in error.causes):
                must(result)


def _changes(endpoints: Document, existing: Iterable[Document]) -> tuple[Changes, int]:
    known: dict[_Place, list[Document]] = {}
    for one in existing:
        known.setdefault((one["addressType"], ports_key(one.get("ports"))), []).append(one)
    ports_of, wanted, skipped = _wanted(endpoints)
    changes = Changes()
    for place, entries in wanted.items():
        slices = known.pop(place, [])
        changes.delete += slices[1:]
        new = _new(endpoints, ports_of[place], place[0], list(entries.values()))
        if not slices:
            changes.create.append(new)
        elif _differs(slices[0], new):
            changes.update.append(_without_prefix(renamed(new, slices[0])))
    changes.delete += [one for slices in known.values() for one in slices]
    return changes, skipped


def _without_prefix(document: Document) -> Document:
    """A slice that is written anew is told its name alone, and loses what that was made from."""
    metadata = {key: value for key, value in document["metadata"].items() if key != "generateName"}
    return {**document, "metadata": metadata}


def _wanted(endpoints: Document) -> tuple[dict[_Place, list[Document]], dict[_Place, dict[Any, Document]], int]:
    """Return the ports and the addresses, each by kind of address and ports, and how many addresses were too many."""
    subsets: dict[PortsKey, tuple[list[Document], dict[Any, Document]]] = {}
    for field, ready in (("addresses", True), ("notReadyAddresses", False)):
        for subset in endpoints.get("subsets") or ():
            ports = ordered_ports(_port(port) for port in subset.get("ports") or ())
            known = subsets.setdefault(ports_key(ports), (ports, {}))[1]
            for address in subset.get(field) or ():
                entry = _endpoint(address, ready)
                known[endpoint_key(entry)] = entry
    ports_of: dict[_Place, list[Document]] = {}
    wanted: dict[_Place, dict[Any, Document]] = {}
    for key, (ports, entries) in subsets.items():
        for one, entry in list(entries.items())[:SUBSET_MAX]:
            place = ("IPv6" if ":" in entry["addresses"][0] else "IPv4", key)
            ports_of[place] = ports
            wanted.setdefault(place, {})[one] = entry
    return ports_of, wanted, sum(max(0, len(entries) - SUBSET_MAX) for _, entries in subsets.values())


def _port(port: Mapping[str, Any]) -> Document:
    told: Document = {"name": port.get("name") or "", "protocol": port.get("protocol", "TCP"), "port": port["port"]}
    return told | ({"appProtocol": port["appProtocol"]} if port.get("appProtocol") else {})


def _endpoint(address: Mapping[str, Any], ready: bool) -> Document:
    entry: Document = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    return entry | {key: address[key] for key in ("hostname", "nodeName", "targetRef") if address.get(key)}


def _new(endpoints: Document, ports: list[Document], family: str, entries: list[Document]) -> Document:
    metadata = endpoints["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key not in (TRIGGERED, _LAST_APPLIED)
    }
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": {**(metadata.get("labels") or {}), SERVICE_NAME: metadata["name"], MANAGED_BY: MANAGER},
            "annotations": annotations,
            "ownerReferences": [owner_reference({"apiVersion": "v1", "kind": "Endpoints", **endpoints})],
        },
        "addressType": family,
        "endpoints": entries,
        "ports": ports or None,
    }


def _differs(old: Document, new: Document) -> bool:
    for key in ("labels", "annotations"):
        if (old["metadata"].get(key) or {}) != new["metadata"][key]:
            return True
    if old["metadata"].get("ownerReferences") != new["metadata"]["ownerReferences"]:
        return True
    before = {endpoint_key(entry): entry for entry in old.get("endpoints") or ()}
    after = {endpoint_key(entry): entry for entry in new["endpoints"]}
    return before.keys() != after.keys() or not all(equal_beyond_key(before[key], after[key]) for key in before)


def _is_shown(endpoints: Document) -> bool:
    metadata = endpoints["metadata"]
    if (metadata.get("labels") or {}).get(SKIP) == "true":
        return False
    return LEADER not in (metadata.get("annotations") or {})


def _mirrored(document: Document) -> Iterable[str]:
    """Index the slices of this controller by the key of the Endpoints that they show."""
    labels = document["metadata"].get("labels") or {}
    if labels.get(MANAGED_BY) == MANAGER and labels.get(SERVICE_NAME):
        yield f"{document['metadata']['namespace']}/{labels[SERVICE_NAME]}"
