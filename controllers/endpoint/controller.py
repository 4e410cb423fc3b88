"""Keeps the Endpoints of Services with a selector.

Source: k8s.io/kubernetes/pkg/controller/endpoint/endpoints_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from controllers.endpoint.subsets import MOST, count, packed, truncated
from controllers.kit.interest import NAMESPACE
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
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
from controllers.log.operations import Create, Delete, Result, Update
from scheduler_core.api.document import Document
from scheduler_core.api.errors import conflict

ENDPOINTS: Final = "endpoints"
MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
MANAGER: Final = "endpoint-controller"
OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"
LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
"""Annotation of Endpoints that are a lock: they belong to no Service."""


class EndpointController:
    """Reconciles Services, by namespace and name."""

    NAME: ClassVar[str] = "endpoint"
    RESOURCES: ClassVar[tuple[str, ...]] = (ENDPOINTS, "pods", "services")

    def __init__(self, setup: Setup) -> None:
        """Listen to Services, to their pods and to Endpoints that go."""
        self._services = setup.informers["services"]
        self._pods = setup.informers["pods"]
        self._endpoints = setup.informers[ENDPOINTS]
        self._queue = setup.queue
        self._times = TriggerTimes()
        self._replaced: dict[str, str] = {}
        """Versions that this controller has written over, by key: a copy that still shows one is out of date."""
        self._began = False
        index_selecting(self._services)
        self._pods.add_index("namespace", by_namespace, of=(NAMESPACE,))
        self._services.add_handler(self._service_changed)
        self._pods.add_handler(self._pod_changed, while_any=(self._services, SELECTING))
        self._endpoints.add_handler(self._endpoints_changed)

    def _service_changed(self, old: Document | None, new: Document | None) -> None:
        self._queue.add(key_of(new or old or {}))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        for key in sorted(services_of_change(self._services, old, new)):
            self._queue.add(key)

    def _endpoints_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old or {}
        left_over = not self._began and LEADER not in (document["metadata"].get("annotations") or {})
        if new is None or left_over:
            self._queue.add(key_of(document))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Make, change or remove the Endpoints of one Service."""
        self._began = True
        namespace, name = split_key(key)
        service = self._services.get(namespace, name)
        if service is None:
            self._times.forget(key)
            self._replaced.pop(key, None)
            left = self._endpoints.get(namespace, name)
            reason = "the Service has gone: its Endpoints go too" if left is not None else "the Service has gone"
            work.tell(reason, desired={"serviceStore": None}, actual={"endpoints": _counted(left)})
            if left is not None:
                yield [Delete(ENDPOINTS, namespace, name)]
            return
        if service["spec"].get("type") == "ExternalName" or service["spec"].get("selector") is None:
            work.tell("no selector: its Endpoints are somebody else's", desired={}, actual={})
            return
        pods = pods_of(service, self._pods)
        trigger = self._times.of(service, pods)
        subsets = packed(_entries(service, pods))
        current = self._endpoints.get(namespace, name)
        if current is not None and self._replaced.get(key) == current["metadata"]["resourceVersion"]:
            work.tell("the copy of the Endpoints is out of date: tried again", desired={}, actual={})
            raise conflict(ENDPOINTS, name, "the copy of the object is out of date")
        reason = "resourceVersion 0: created" if current is None else _difference(current, subsets, service)
        work.tell(
            reason or "as asked",
            desired={"podStore": _counted({"subsets": subsets})},
            actual={"endpoints": _counted(current), "resourceVersion": _version(current)},
        )
        if not reason:
            return
        document = _document(service, current, subsets, trigger)
        if current is None:
            (result,) = yield [Create(ENDPOINTS, namespace, document)]
        else:
            (result,) = yield [Update(ENDPOINTS, namespace, name, document)]
        if result.error is not None:
            self._refused(result, service, current is None, work)
        elif current is not None:
            self._replaced[key] = current["metadata"]["resourceVersion"]

    @staticmethod
    def _refused(result: Result, service: Document, created: bool, work: Work) -> None:
        assert result.error is not None, "only what was refused comes here"
        namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
        if created and any(cause.reason == "NamespaceTerminating" for cause in result.error.causes):
            return
        about = {"apiVersion": "v1", "metadata": {"namespace": namespace, "name": name}}
        if created:
            reason, text = "FailedToCreateEndpoint", f"Failed to create endpoint for service {namespace}/{name}"
        else:
            reason, text = "FailedToUpdateEndpoint", f"Failed to update endpoint {namespace}/{name}"
        work.event(about, "Endpoints", reason, f"{text}: {result.error.message}", event_type="Warning")
        raise result.error


def _entries(service: Document, pods: Iterable[Document]) -> Iterable[tuple[Document, Document | None, bool]]:
    """Yield (address, port, whether it is ready) of every pod behind a Service, and each of its ports."""
    spec = service["spec"]
    family = (spec.get("ipFamilies") or ["IPv4"])[0]
    unready_too = bool(spec.get("publishNotReadyAddresses"))
    for pod in pods:
        found = addresses_of(pod, family) if is_listed(pod, ending=unready_too) else []
        if not found:
            continue
        address: Document = {"ip": found[0], "nodeName": pod["spec"].get("nodeName") or "", "targetRef": target_of(pod)}
        hostname = host_name(pod, service)
        if hostname:
            address["hostname"] = hostname
        ready = unready_too or is_ready(pod)
        if not spec.get("ports") and spec.get("clusterIP") == "None":
            yield address, None, ready
        for port in spec.get("ports") or ():
            number = port_number(pod, port)
            if number is not None:
                yield address, _port(port, number), ready


def _port(port: Mapping[str, Any], number: int) -> Document:
    told: Document = {"port": number, "protocol": port.get("protocol", "TCP")}
    for key in ("name", "appProtocol"):
        if port.get(key):
            told[key] = port[key]
    return told


def _counted(document: Document | None) -> Document | None:
    """Return how many addresses Endpoints have, for the panel; None: there are no Endpoints."""
    if document is None:
        return None
    ready, unready = count(document.get("subsets") or [])
    return {"ready": ready, "notReady": unready}


def _version(current: Document | None) -> str:
    """Return the version that is written over; "0" is upstream's for Endpoints that are to be created."""
    return "0" if current is None else str(current["metadata"]["resourceVersion"])


def _difference(current: Document, subsets: list[Document], service: Document) -> str:
    """Return in which part Endpoints are not as they should be; empty: in none."""
    metadata = current["metadata"]
    labels = metadata.get("labels") or {}
    own = {key: value for key, value in labels.items() if key not in (HEADLESS, MANAGED_BY)}
    if labels.get(MANAGED_BY) != MANAGER or own != (service["metadata"].get("labels") or {}):
        return "labels differ: updated"
    known = current.get("subsets") or []
    if sum(count(known)) > MOST or OVER_CAPACITY in (metadata.get("annotations") or {}):
        return "more addresses than are told: updated"
    known_now = packed(_unpacked(known))
    if known_now == subsets:
        return ""
    return "host names differ: updated" if _unnamed(known_now) == _unnamed(subsets) else "subsets differ: updated"


def _unnamed(subsets: list[Document]) -> list[Document]:
    """Return subsets without the host names of their addresses."""
    return [
        {
            **subset,
            **{
                field: [{key: value for key, value in one.items() if key != "hostname"} for one in subset[field]]
                for field in ("addresses", "notReadyAddresses")
                if field in subset
            },
        }
        for subset in subsets
    ]


def _unpacked(subsets: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Document, Document | None, bool]]:
    for subset in subsets:
        for field, ready in (("addresses", True), ("notReadyAddresses", False)):
            for address in subset.get(field) or ():
                target = {k: v for k, v in (address.get("targetRef") or {}).items() if k != "resourceVersion"}
                entry = {**address, "targetRef": target} if target else address
                for port in subset.get("ports") or (None,):
                    yield entry, port, ready


def _document(service: Document, current: Document | None, subsets: list[Document], trigger: str) -> Document:
    metadata = dict((current or {}).get("metadata") or {})
    kept, cut = truncated(subsets)
    annotations = annotated(metadata.get("annotations"), trigger)
    annotations.pop(OVER_CAPACITY, None)
    if cut:
        annotations[OVER_CAPACITY] = "truncated"
    labels = {key: value for key, value in (service["metadata"].get("labels") or {}).items() if key != HEADLESS}
    if not has_address(service):
        labels[HEADLESS] = ""
    metadata |= {"name": service["metadata"]["name"], "labels": {**labels, MANAGED_BY: MANAGER}}
    metadata["annotations"] = annotations
    document: Document = {"metadata": metadata}
    return {**document, "subsets": kept} if kept else document
