"""Ingresses: which Service answers for which host and path.

Source: pkg/apis/networking/validation, pkg/registry/networking/ingress, pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.kinds.networking.references import local_object
from controllers.registry import addresses, fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

CLASS: Final = "kubernetes.io/ingress.class"
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_IN_PATHS: Final = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_THE_END: Final = ("/..", "/.")
_HOSTS_SHOWN_MAX: Final = 3
"""Hosts that a row of a table shows."""


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"loadBalancer": {}}


def _defaults(document: dict[str, Any]) -> None:
    child(document, "spec")
    for rule in document["spec"].get("rules") or ():
        for path in at(rule, "http", "paths") or ():
            if path.get("path") == "":
                del path["path"]


def _validate_new(document: dict[str, Any]) -> list[Cause]:
    named, wanted = at(document, "metadata", "annotations", CLASS), at(document, "spec", "ingressClassName")
    if named is None or wanted is None or named == wanted:
        return []
    return [fields.bad(f"annotations.{CLASS}", named, "must match `ingressClassName` when both are specified")]


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    backend = spec.get("defaultBackend")
    if not spec.get("rules") and backend is None:
        causes.append(fields.bad("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        causes += _backend("spec.defaultBackend", backend)
    for index, rule in enumerate(spec.get("rules") or ()):
        causes += _rule(f"spec.rules[{index}]", rule)
    for index, tls in enumerate(spec.get("tls") or ()):
        where = f"spec.tls[{index}]"
        for position, host in enumerate(tls.get("hosts") or ()):
            causes += _host(f"{where}.hosts[{position}]", host)
        if tls.get("secretName"):
            causes += fields.subdomain(f"{where}.secretName", tls["secretName"])
    if "ingressClassName" in spec:
        causes += fields.subdomain("spec.ingressClassName", spec["ingressClassName"])
    return causes + _status(at(document, "status", "loadBalancer", "ingress") or ())


def _host(field: str, host: str) -> list[Cause]:
    return fields.wildcard_subdomain(field, host) if "*" in host else fields.subdomain(field, host)


def _no_address(field: str, host: str) -> list[Cause]:
    if addresses.parsed(host) is None:
        return []
    return [fields.bad(field, host, "must be a DNS name, not an IP address")]


def _rule(where: str, rule: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    if rule.get("host"):
        causes += _no_address(f"{where}.host", rule["host"]) + _host(f"{where}.host", rule["host"])
    if "http" in rule:
        paths = rule["http"].get("paths") or ()
        if not paths:
            causes.append(fields.required(f"{where}.http.paths"))
        for index, path in enumerate(paths):
            causes += _path(f"{where}.http.paths[{index}]", path)
    return causes


def _path(where: str, path: Mapping[str, Any]) -> list[Cause]:
    of, text, field = path.get("pathType"), path.get("path") or "", f"{where}.path"
    if of is None:
        return [fields.required(f"{where}.pathType", "pathType must be specified")]
    causes: list[Cause] = []
    if of not in _PATH_TYPES:
        causes.append(fields.unsupported(f"{where}.pathType", of, _PATH_TYPES))
    elif not text.startswith("/") and (text or of != "ImplementationSpecific"):
        causes.append(fields.bad(field, text, "must be an absolute path"))
    if of in ("Exact", "Prefix"):
        causes += [fields.bad(field, text, f"must not contain '{part}'") for part in _NOT_IN_PATHS if part in text]
        ends = [end for end in _NOT_AT_THE_END if text.endswith(end)]
        causes += [fields.bad(field, text, f"cannot end with '{end}'") for end in ends]
    return causes + _backend(f"{where}.backend", path.get("backend") or {})


def _backend(where: str, backend: Mapping[str, Any]) -> list[Cause]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [fields.bad(where, "", "cannot set both resource and service backends")]
    if resource is not None:
        return local_object(f"{where}.resource", resource)
    if service is None:
        return [fields.bad(where, "", "resource or service backend is required")]
    name = service.get("name") or ""
    field = f"{where}.service.name"
    causes = fields.service_name(field, name) if name else [fields.required(field)]
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        causes.append(fields.bad(where, "", "cannot set both port name & port number"))
    elif port.get("name"):
        causes += fields.port_name(f"{where}.service.port.name", port["name"])
    elif port.get("number"):
        causes += fields.port_number(f"{where}.service.port.number", port["number"])
    else:
        causes.append(fields.required(where, "port name or number is required"))
    return causes


def _status(points: Any) -> list[Cause]:
    causes: list[Cause] = []
    for index, point in enumerate(points):
        where = f"status.loadBalancer.ingress[{index}]"
        if point.get("ip"):
            causes += addresses.legacy(f"{where}.ip", point["ip"])
        if point.get("hostname"):
            causes += fields.subdomain(f"{where}.hostname", point["hostname"])
            causes += _no_address(f"{where}.hostname", point["hostname"])
    return causes


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    child(child(document, "status"), "loadBalancer")


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return _status(at(document, "status", "loadBalancer", "ingress") or ())


def _hosts(document: Mapping[str, Any], age: Any) -> str:
    rules = document["spec"].get("rules") or ()
    listed = [rule["host"] for rule in rules if rule.get("host")]
    if not listed:
        return "*"
    text = ",".join(listed[:_HOSTS_SHOWN_MAX])
    more = len(rules) - _HOSTS_SHOWN_MAX
    return f"{text} + {more} more..." if more > 0 and len(listed) >= _HOSTS_SHOWN_MAX else text


def _points(document: Mapping[str, Any], age: Any) -> str:
    points = at(document, "status", "loadBalancer", "ingress") or ()
    return ",".join(sorted({str(point.get("ip") or point.get("hostname") or "") for point in points} - {""}))


def _warns(document: Mapping[str, Any]) -> list[str]:
    if CLASS not in (document["metadata"].get("annotations") or {}):
        return []
    return [f"annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"]


KIND: Final = Kind(
    "Ingress",
    "ingresses",
    key="ingress",
    group="networking.k8s.io",
    short_names=("ing",),
    subresources=(replace(STATUS, complete=_complete_status, part_rules=_status_rules),),
    rank=32,
    generation=True,
    whole_rules=True,
    prepare=_prepare,
    defaults=_defaults,
    validate_new=_validate_new,
    warns_made=_warns,
    validate=_validate,
    columns=(
        NAME,
        Column(
            "Class",
            "string",
            "The name of the IngressClass resource that should be used for additional configuration",
            lambda doc, age: at(doc, "spec", "ingressClassName") or NONE,
        ),
        Column("Hosts", "string", "Hosts that incoming requests are matched against before the ingress rule", _hosts),
        Column("Address", "string", "Address is a list containing ingress points for the load-balancer", _points),
        Column(
            "Ports",
            "string",
            "Ports of TLS configurations that open",
            lambda doc, age: "80, 443" if doc["spec"].get("tls") else "80",
        ),
        AGE,
    ),
)
