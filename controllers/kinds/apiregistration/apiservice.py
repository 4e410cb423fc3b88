"""APIServices: one for each group and version that is served here, computed; what else is written acts on nothing.

Source: k8s.io/kube-aggregator (validation, registry/apiservice), cmd/kube-apiserver/app/aggregator.go, v1.34.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry import fields
from controllers.registry.computed import Computed, Facts
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind
from controllers.registry.standing import standing
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause

GROUP: Final = "apiregistration.k8s.io"

METRICS: Final = "metrics.k8s.io"
"""Served while there is a node to be measured: the group of an extension, which no API server has by itself."""

LOCAL: Final = {
    ("", "v1"): (18000, 1),
    ("apps", "v1"): (17800, 15),
    ("events.k8s.io", "v1"): (17750, 15),
    ("authentication.k8s.io", "v1"): (17700, 15),
    ("authorization.k8s.io", "v1"): (17600, 15),
    ("autoscaling", "v1"): (17500, 15),
    ("autoscaling", "v2"): (17500, 30),
    ("batch", "v1"): (17400, 15),
    ("certificates.k8s.io", "v1"): (17300, 15),
    ("networking.k8s.io", "v1"): (17200, 15),
    ("policy", "v1"): (17100, 15),
    ("rbac.authorization.k8s.io", "v1"): (17000, 15),
    ("storage.k8s.io", "v1"): (16800, 15),
    ("admissionregistration.k8s.io", "v1"): (16700, 15),
    ("apiextensions.k8s.io", "v1"): (16700, 15),
    ("scheduling.k8s.io", "v1"): (16600, 15),
    ("coordination.k8s.io", "v1"): (16500, 15),
    ("node.k8s.io", "v1"): (16300, 15),
    ("discovery.k8s.io", "v1"): (16200, 15),
    ("resource.k8s.io", "v1"): (16200, 21),
    ("flowcontrol.apiserver.k8s.io", "v1"): (16100, 21),
    (METRICS, "v1beta1"): (100, 100),
    (CLUSTERSIM_GROUP, "v1"): (100, 15),
}
"""(group, version) that is served → upstream's priorities of group and version. The group itself is not among them."""


def name_of(group: str, version: str) -> str:
    """Return what the APIService of a group and version is called: `v1.apps`, `v1.`."""
    return f"{version}.{group}"


def _local(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
    """Yield those of what this server serves itself."""
    began = wire_time(facts.epoch_ms)
    for (group, version), (group_priority, version_priority) in LOCAL.items():
        own = name_of(group, version)
        if name not in ("", own) or (group == METRICS and not facts.stored("nodes")):
            continue
        spec: Document = {
            "version": version,
            "groupPriorityMinimum": group_priority,
            "versionPriority": version_priority,
        }
        document = {
            "kind": "APIService",
            "apiVersion": f"{GROUP}/v1",
            "metadata": {"name": own, "labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"}},
            "spec": {"group": group, **spec} if group else spec,
            "status": {"conditions": [_available_at(began)]},
        }
        yield standing(facts, f"apiservices.{GROUP}", document)


def _available_at(began: str) -> Document:
    return {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": began,
        "reason": "Local",
        "message": "Local APIServices are always available",
    }


def _prepare(document: Document) -> None:
    local = at(document, "spec", "service") is None
    began = document["metadata"]["creationTimestamp"]
    document["status"] = {"conditions": [_available_at(began)]} if local else {}


def _defaults(document: Document) -> None:
    service = child(document, "spec").get("service")
    if service is not None and service.get("port") is None:
        service["port"] = 443


def _validate(document: Document) -> list[Cause]:
    spec = document["spec"]
    group, version = spec.get("group") or "", spec.get("version") or ""
    causes: list[Cause] = []
    why = f'must be `spec.version+"."+spec.group`: "{name_of(group, version)}"'
    for key in ("generateName", "name"):
        text = document["metadata"].get(key) or ""
        if text and text != name_of(group, version) and not fields.path_segment("", text):
            causes.append(fields.bad(f"metadata.{key}", text, why))
    if not group and version != "v1":
        why = "only v1 may have an empty group and it better be legacy kube"
        causes.append(fields.required("spec.group", why))
    if group:
        causes += fields.subdomain("spec.group", group)
    causes += fields.service_name("spec.version", version)
    for field, most in (("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)):
        value = spec.get(field) or 0
        if not 0 < value <= most:
            causes.append(fields.bad(f"spec.{field}", value, f"must be positive and less than {most}"))
    return causes + _service(spec)


def _service(spec: Mapping[str, Any]) -> list[Cause]:
    service, bundle = spec.get("service"), spec.get("caBundle")
    insecure = bool(spec.get("insecureSkipTLSVerify"))
    causes: list[Cause] = []
    if service is None:
        if bundle:
            shown = f"{len(b64decode(bundle))} bytes"
            causes.append(fields.bad("spec.caBundle", shown, "local APIServices may not have a caBundle"))
        if insecure:
            why = "local APIServices may not have insecureSkipTLSVerify"
            causes.append(fields.bad("spec.insecureSkipTLSVerify", True, why))
        return causes
    causes += [fields.required(f"spec.service.{key}") for key in ("namespace", "name") if not service.get(key)]
    if not 0 < service["port"] < 65_536:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        causes.append(fields.bad("spec.service.port", service["port"], why))
    if insecure and bundle:
        causes.append(fields.bad("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present"))
    return causes


def _where(document: Mapping[str, Any], age: Any) -> str:
    service = at(document, "spec", "service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(document: Mapping[str, Any], age: Any) -> str:
    for condition in at(document, "status", "conditions") or ():
        if condition.get("type") == "Available":
            status = str(condition.get("status"))
            return status if status == "True" else f"{status} ({condition.get('reason', '')})"
    return "Unknown"


KIND: Final = Kind(
    "APIService",
    "apiservices",
    group=GROUP,
    namespaced=False,
    categories=("api-extensions",),
    subresources=(STATUS_ONLY,),
    names="path",
    whole_rules=True,
    any_finalizers=True,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    computed=Computed(_local, "the APIService {name} is computed from what this server serves and cannot be written"),
    unconditional=False,
    columns=(
        NAME,
        Column("Service", "string", "The reference to the service that hosts this API endpoint.", _where),
        Column("Available", "string", "Whether this service is available.", _available),
        AGE,
    ),
)
