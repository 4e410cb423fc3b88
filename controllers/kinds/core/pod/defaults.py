"""Defaults of pods and pod templates, field by field as upstream's SetDefaults functions fill them in.

Source: pkg/apis/core/v1/defaults.go, v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from scheduler_core.api import quantity
from scheduler_core.api.document import Document, child
from scheduler_core.api.quantity import Amount
from scheduler_core.api.requests import is_pod_level

_MILLI_NANO: Final = 10**6

DEFAULT_MODE: Final = 0o644
"""File mode of projected volumes."""

_SOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "hostPath": {"type": ""},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
"""What sources of volumes are filled up with."""

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")


def drop_zeroes(spec: dict[str, Any], *keys: str) -> None:
    """Leave out what upstream's encoder leaves out where it is zero or false."""
    for key in keys:
        if not spec.get(key):
            spec.pop(key, None)


def _drop_what_is_off(spec: Document) -> None:
    """Leave out fields whose feature is off by default in v1.34 (pkg/api/pod, dropDisabledFields)."""
    spec.pop("hostnameOverride", None)
    images = {volume.get("name") for volume in spec.get("volumes") or () if volume.get("image") is not None}
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            container.pop("restartPolicyRules", None)
            if key != "initContainers" or container.get("restartPolicy") != "Always":
                container.pop("restartPolicy", None)
            lifecycle = container.get("lifecycle") or {}
            if lifecycle.pop("stopSignal", None) is not None and not lifecycle:
                del container["lifecycle"]
            for variable in container.get("env") or ():
                (variable.get("valueFrom") or {}).pop("fileKeyRef", None)
            if images:
                mounts = [one for one in container.get("volumeMounts") or () if one.get("name") not in images]
                container["volumeMounts"] = mounts
                drop_zeroes(container, "volumeMounts")
    if images:
        spec["volumes"] = [volume for volume in spec["volumes"] if volume.get("image") is None]
        drop_zeroes(spec, "volumes")
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            source.pop("clusterTrustBundle", None)
            source.pop("podCertificate", None)


def pod_spec(spec: Document) -> None:
    """Fill in what both pods and templates get."""
    _drop_what_is_off(spec)
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    round_resources(spec.get("overhead"))
    round_requirements(spec.get("resources"))


def pod(document: Document) -> None:
    """Fill in what only pods get: requests from limits, and an end within a second where a negative time was asked."""
    spec = child(document, "spec")
    pod_spec(spec)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    spec.setdefault("enableServiceLinks", True)
    for container in all_containers(spec):
        requests_from_limits(container.get("resources"))
        for port in (container.get("ports") or ()) if spec.get("hostNetwork") else ():
            if not port.get("hostPort") and "containerPort" in port:
                port["hostPort"] = port["containerPort"]
    _of_whole_pod(spec)


def settled(document: Document) -> None:
    """Give a pod that limits itself as a whole what admission made its containers ask for."""
    _of_whole_pod(child(document, "spec"))


def all_containers(spec: Document) -> Iterator[Document]:
    """Yield init containers, then containers."""
    for key in ("initContainers", "containers"):
        yield from spec.get(key) or ()


def round_resources(resources: Document | None) -> None:
    """Round quantities up to thousandths, the finest step that is served."""
    for name, text in (resources or {}).items():
        number = quantity.nano(text)
        if number % _MILLI_NANO:
            assert resources is not None
            resources[name] = f"{-(-number // _MILLI_NANO)}m"


def round_requirements(resources: Document | None) -> None:
    """Round the requests and the limits of whatever has them."""
    for key in ("requests", "limits"):
        round_resources((resources or {}).get(key))


def requests_from_limits(resources: Document | None) -> None:
    """Give every limit without a request a request of the same amount."""
    if not resources or not resources.get("limits"):
        return
    requests = dict(resources.get("requests") or {})
    for name, amount in resources["limits"].items():
        requests.setdefault(name, amount)
    resources["requests"] = requests


def _of_whole_pod(spec: Document) -> None:
    """Give a pod that limits itself as a whole what its containers ask for, else what its limits say."""
    resources = spec.get("resources") or {}
    if not resources.get("limits") and not resources.get("requests"):
        return
    limits, asked = dict(resources.get("limits") or {}), resources.get("requests") or {}
    for name, amount in _sums(spec, "limits").items():
        if name.startswith("hugepages-") and name not in asked:
            limits.setdefault(name, amount)
    if not limits:
        return
    resources["limits"] = limits
    requests = dict(asked)
    for name, amount in _sums(spec, "requests").items():
        # What cannot be lent twice (huge pages) is asked for as a whole.
        if name in ("cpu", "memory"):
            requests.setdefault(name, amount)
    for name, amount in limits.items():
        if is_pod_level(name):
            requests.setdefault(name, amount)
    if requests:
        resources["requests"] = requests


def _sums(spec: Document, key: str) -> dict[str, str]:
    """Return what the containers of a pod ask for together, or are limited to."""
    total: dict[str, Amount] = {}
    sidecars: dict[str, Amount] = {}
    peak: dict[str, Amount] = {}
    for container in spec.get("containers") or ():
        _add(total, _amounts(container, key))
    for container in spec.get("initContainers") or ():
        own = _amounts(container, key)
        if container.get("restartPolicy") == "Always":
            _add(total, own)
            _add(sidecars, own)
            own = dict(sidecars)
        else:
            _add(own, sidecars)
        _raise(peak, own)
    _raise(total, peak)
    return {name: str(amount) for name, amount in total.items()}


def _amounts(container: Document, key: str) -> dict[str, Amount]:
    return {name: Amount.read(text) for name, text in ((container.get("resources") or {}).get(key) or {}).items()}


def _add(total: dict[str, Amount], more: Mapping[str, Amount]) -> None:
    for name, amount in more.items():
        total[name] = total[name].plus(amount) if name in total else amount


def _raise(total: dict[str, Amount], least: Mapping[str, Amount]) -> None:
    for name, amount in least.items():
        if name not in total or total[name].nano < amount.nano:
            total[name] = amount


def _container(container: Document) -> None:
    image = container.get("image") or ""
    container.setdefault("imagePullPolicy", "Always" if image_tag(image) == "latest" else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("resources", {})
    round_requirements(container["resources"])
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
        resource = (variable.get("valueFrom") or {}).get("resourceFieldRef")
        if resource is not None:
            resource.setdefault("divisor", "0")
    for key in _PROBES:
        if container.get(key) is not None:
            _probe(container[key])
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _handler(handler)


_HOST: Final = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE: Final = re.compile(
    rf"(?P<name>(?:(?:{_HOST}(?:\.{_HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*)"
    r"(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_IMAGE_NAME_MAX: Final = 255
_ONLY_HEX: Final = re.compile(r"[a-f0-9]{64}", re.ASCII)


def _is_image(text: str) -> bool:
    """Return whether a text names an image (distribution/reference, ParseNormalizedNamed)."""
    match = _IMAGE.fullmatch(text)
    return match is not None and len(match["name"]) <= _IMAGE_NAME_MAX and not _ONLY_HEX.fullmatch(text)


@lru_cache(maxsize=1_024)
def image_tag(image: str) -> str:
    """Return the tag of an image reference: `latest` when it has none, empty when it has only a digest or is none."""
    if not _is_image(image):
        return ""
    name, at_sign, _ = image.partition("@")
    last = name.rpartition("/")[2]
    _, colon, tag = last.partition(":")
    if colon:
        return tag
    return "" if at_sign else "latest"


def _probe(probe: Document) -> None:
    for key, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
        if not probe.get(key):
            probe[key] = value
    _handler(probe)
    if probe.get("grpc") is not None:
        probe["grpc"].setdefault("service", "")


def _handler(handler: Document) -> None:
    get = handler.get("httpGet")
    if get is not None:
        get.setdefault("path", "/")
        get.setdefault("scheme", "HTTP")


def _volume(volume: Document) -> None:
    if not any(key != "name" for key in volume):
        volume["emptyDir"] = {}
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        child(template, "metadata")
        child(template, "spec").setdefault("volumeMode", "Filesystem")
        round_requirements(template["spec"].get("resources"))
    for key in ("secret", "configMap", "downwardAPI", "projected"):
        if volume.get(key) is not None:
            volume[key].setdefault("defaultMode", DEFAULT_MODE)
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None:
            token.setdefault("expirationSeconds", 3600)
        _field_references(source.get("downwardAPI"))
    _field_references(volume.get("downwardAPI"))
    fill_sources(volume)
    claim = ((volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}).get("spec")
    if claim is not None:
        claim.setdefault("volumeMode", "Filesystem")


def fill_sources(holder: Document) -> None:
    """Fill in what the source of a volume leaves out, in a pod's volume or a PersistentVolume's spec."""
    for key, values in _SOURCES.items():
        for name, value in values.items():
            if isinstance(holder.get(key), dict):
                holder[key].setdefault(name, value)


def _field_references(source: Document | None) -> None:
    for item in (source or {}).get("items") or ():
        if item.get("fieldRef") is not None:
            item["fieldRef"].setdefault("apiVersion", "v1")
        if item.get("resourceFieldRef") is not None:
            item["resourceFieldRef"].setdefault("divisor", "0")


def merge_label_keys(spec: Document, labels: Mapping[str, str]) -> None:
    """Write what a pod's terms say of its own labels by their keys alone into the selectors, as a create does."""
    affinity = spec.get("affinity") or {}
    for key in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(key) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        for term in [*terms, *(one.get("podAffinityTerm") or {} for one in preferred)]:
            _merge_keys(term, "matchLabelKeys", "In", labels)
            _merge_keys(term, "mismatchLabelKeys", "NotIn", labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge_keys(constraint, "matchLabelKeys", "In", labels)


def _merge_keys(term: Document, field: str, operator: str, labels: Mapping[str, str]) -> None:
    keys = [key for key in term.get(field) or () if key in labels]
    if keys and term.get("labelSelector") is not None:
        added = [{"key": key, "operator": operator, "values": [labels[key]]} for key in keys]
        selector = term["labelSelector"]
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def quality_of_service(spec: Any) -> str:
    """Return the pod's QoS class: Guaranteed, Burstable or BestEffort, from cpu and memory.

    They are those of the whole pod, where it says any, else those of its containers.
    """
    whole = spec.get("resources")
    asked = [container.get("resources") or {} for container in all_containers(spec)] if whole is None else [whole]
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    guaranteed = True
    for resources in asked:
        limited = set()
        for name, text in (resources.get("requests") or {}).items():
            if name in ("cpu", "memory") and quantity.nano(text) > 0:
                requests[name] = requests.get(name, 0) + quantity.nano(text)
        for name, text in (resources.get("limits") or {}).items():
            if name in ("cpu", "memory") and quantity.nano(text) > 0:
                limited.add(name)
                limits[name] = limits.get(name, 0) + quantity.nano(text)
        guaranteed = guaranteed and len(limited) == 2
    if not requests and not limits:
        return "BestEffort"
    if (
        guaranteed
        and len(requests) == len(limits)
        and all(limits.get(name) == number for name, number in requests.items())
    ):
        return "Guaranteed"
    return "Burstable"
