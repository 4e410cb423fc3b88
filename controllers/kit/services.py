"""What every controller of addresses asks: which pods are behind a Service, by which port, and since when.

Source: k8s.io/endpointslice/util (controller_utils.go, trigger_time_tracker.go), k8s.io/endpointslice (FindPort).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controllers.kit.informer import Lister
from controllers.kit.manager import key_of
from controllers.kit.pods import ready_since_ms
from scheduler_core.api.document import Document, condition, has_ended

TRIGGERED: Final = "endpoints.kubernetes.io/last-change-trigger-time"
"""Annotation: when the change happened that made the addresses change."""

HEADLESS: Final = "service.kubernetes.io/headless"
"""Label of the addresses of a Service without one of its own."""

Labels = Mapping[str, str]


def by_namespace(document: Document) -> Iterable[str]:
    """Index objects by their namespace."""
    yield document["metadata"].get("namespace", "")


SELECTING: Final = "selecting"
"""The index of Services that select pods, by namespace."""


def index_selecting(services: Lister) -> None:
    """Keep the index `SELECTING`."""
    services.add_index(SELECTING, _selecting)


def _selecting(service: Document) -> Iterable[str]:
    if (service.get("spec") or {}).get("selector") is not None:
        yield from by_namespace(service)


def selects(service: Mapping[str, Any], labels: Labels) -> bool:
    """Return whether a Service's selector takes labels; without a selector it takes none."""
    selector = (service.get("spec") or {}).get("selector")
    return selector is not None and selector.items() <= labels.items()


def pods_of(service: Document, pods: Lister) -> list[Document]:
    """Return the pods that a Service selects, in order of name; `pods` is indexed by namespace."""
    found = pods.indexed("namespace", service["metadata"]["namespace"])
    return [pod for pod in found if selects(service, _labels(pod))]


def services_of_change(services: Lister, old: Document | None, new: Document | None) -> set[str]:
    """Return the keys of the Services that a change of a pod may matter to; see `index_selecting`."""
    if not services.has_indexed(SELECTING, (new or old or {})["metadata"]["namespace"]):
        return set()
    if old is None or new is None:
        return _services(services, new or old or {})
    changed = _address_facts(old) != _address_facts(new)
    moved = _name_facts(old) != _name_facts(new)
    if not changed and not moved:
        return set()
    after = _services(services, new)
    if not moved:
        return after
    before = _services(services, old)
    return before | after if changed else before ^ after


def has_address(service: Mapping[str, Any]) -> bool:
    """Return whether a Service has an address of its own."""
    return (service.get("spec") or {}).get("clusterIP") not in ("None", "", None)


def is_listed(pod: Mapping[str, Any], *, ending: bool) -> bool:
    """Return whether a pod can be an address: it has one and has not finished; `ending` takes those that end."""
    status = pod.get("status") or {}
    if has_ended(pod) or not (status.get("podIP") or status.get("podIPs")):
        return False
    return ending or "deletionTimestamp" not in pod["metadata"]


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod's Ready condition is true."""
    return ready_since_ms(pod) is not None


def addresses_of(pod: Mapping[str, Any], family: str) -> list[str]:
    """Return a pod's addresses of a family, `IPv4` or `IPv6`."""
    status = pod.get("status") or {}
    listed = [str(entry.get("ip") or "") for entry in status.get("podIPs") or ()] or [str(status.get("podIP") or "")]
    return [ip for ip in listed if ip and (":" in ip) == (family == "IPv6")]


def host_name(pod: Mapping[str, Any], service: Mapping[str, Any]) -> str:
    """Return the name under which a pod is found below a Service's name; empty: it has none."""
    spec = pod["spec"]
    return str(spec.get("hostname") or "") if spec.get("subdomain") == service["metadata"]["name"] else ""


def target_of(pod: Mapping[str, Any]) -> Document:
    """Return the reference to a pod that an address carries."""
    metadata = pod["metadata"]
    return {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}


def port_number(pod: Mapping[str, Any], port: Mapping[str, Any]) -> int | None:
    """Return the number of a Service's port in a pod; None: the pod has no port of that name."""
    target = port.get("targetPort")
    if not isinstance(target, str):
        return int(target or port["port"])
    spec = pod["spec"]
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    for container in (*(spec.get("containers") or ()), *sidecars):
        for own in container.get("ports") or ():
            if own.get("name") == target and own.get("protocol", "TCP") == port.get("protocol", "TCP"):
                return int(own["containerPort"])
    return None


class TriggerTimes:
    """When the changes happened that a Service's addresses follow. It may be forgotten at any time."""

    def __init__(self) -> None:
        """Begin without memory."""
        self._known: dict[str, tuple[str, dict[str, str]]] = {}

    def of(self, service: Document, pods: Iterable[Document]) -> str:
        """Return the earliest change since the last call as a wire time; empty: there was none."""
        created: str = service["metadata"]["creationTimestamp"]
        times = {pod["metadata"]["name"]: since for pod in pods if (since := _ready_changed(pod))}
        known = self._known.get(key_of(service))
        self._known[key_of(service)] = (created, times)
        if known is None:
            return created
        changed = [since for name, since in times.items() if since > known[1].get(name, "")]
        return min([*changed, *([created] if created > known[0] else [])], default="")

    def forget(self, key: str) -> None:
        """The Service is gone."""
        self._known.pop(key, None)


def annotated(annotations: Labels | None, trigger: str) -> dict[str, str]:
    """Return annotations with the time of the change that they tell of, without it where there was none."""
    kept = {key: value for key, value in (annotations or {}).items() if key != TRIGGERED}
    return {**kept, TRIGGERED: trigger} if trigger else kept


def _ready_changed(pod: Document) -> str:
    ready = condition(pod, "Ready")
    return "" if ready is None else str(ready.get("lastTransitionTime") or "")


def _services(services: Lister, pod: Mapping[str, Any]) -> set[str]:
    found = services.indexed(SELECTING, pod["metadata"]["namespace"])
    return {key_of(service) for service in found if selects(service, _labels(pod))}


def _labels(document: Mapping[str, Any]) -> Labels:
    labels: Labels = document["metadata"].get("labels") or {}
    return labels


def _name_facts(pod: Mapping[str, Any]) -> tuple[object, ...]:
    return (_labels(pod), pod["spec"].get("hostname"), pod["spec"].get("subdomain"))


def _address_facts(pod: Mapping[str, Any]) -> tuple[object, ...]:
    # The phase is not among them: a kubelet that ends a pod takes its readiness, too (podEndpointsChanged).
    status = pod.get("status") or {}
    return (pod["metadata"].get("deletionTimestamp"), is_ready(pod), status.get("podIP"), status.get("podIPs"))
