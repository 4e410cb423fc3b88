"""Services: an address each, and node ports where their type has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE, pairs
from controllers.kinds.core import service_addresses
from controllers.registry import fields
from controllers.registry.kind import Column, Kind, Lookup
from controllers.registry.subresources import STATUS_AND_METADATA
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"loadBalancer": {}}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "ClientIP":
        spec.setdefault("sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 10800}})
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if not port.get("targetPort") and "port" in port:
            port["targetPort"] = port["port"]
    if spec["type"] == "ExternalName":
        return
    spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _list_address(spec: dict[str, Any]) -> None:
    """Name the one address that was asked for in the list of addresses, too."""
    if spec.get("clusterIP") and "clusterIPs" not in spec:
        spec["clusterIPs"] = [spec["clusterIP"]]


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    """Give the Service its cluster address and node ports."""
    spec = child(document, "spec")
    if spec["type"] == "ExternalName":
        return []
    _list_address(spec)
    causes = service_addresses.families(spec)
    return causes or service_addresses.allocate(spec, document["metadata"]["uid"], lookup.list("services"))


def _admit_update(new: dict[str, Any], old: Mapping[str, Any], lookup: Lookup) -> list[Cause]:
    """Keep addresses and node ports that a replacement leaves out, as long as the type still has them."""
    spec, before = child(new, "spec"), old.get("spec") or {}
    if spec["type"] == "ExternalName":
        for key in ("clusterIP", "clusterIPs"):
            spec.pop(key, None)
        return []
    _list_address(spec)
    if not spec.get("clusterIP") and before.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = before["clusterIP"], before.get("clusterIPs", [before["clusterIP"]])
    if before.get("type") == spec["type"] and before.get("ipFamilyPolicy") and "ipFamilyPolicy" not in spec:
        spec["ipFamilyPolicy"] = before["ipFamilyPolicy"]
    if spec["type"] != "ClusterIP":
        service_addresses.keep_ports(spec, before)
    elif before.get("type") != "ClusterIP":
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    causes = service_addresses.families(spec)
    if causes or (spec.get("clusterIP") and spec["type"] == "ClusterIP"):
        return causes
    uid = new["metadata"]["uid"]
    others = [other for other in lookup.list("services") if other["metadata"]["uid"] != uid]
    return service_addresses.allocate(spec, uid, others)


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = fields.one_of("spec.type", spec.get("type"), _TYPES, needed=True)
    causes += fields.one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"), needed=True)
    causes += fields.labels("spec.selector", spec.get("selector"))
    if spec.get("type") == "ExternalName":
        name = spec.get("externalName") or ""
        return causes + (
            fields.subdomain("spec.externalName", name) if name else [fields.required("spec.externalName")]
        )
    ports = spec.get("ports") or ()
    if not ports and spec.get("clusterIP") != "None":
        causes.append(fields.required("spec.ports"))
    names: set[str] = set()
    triples: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        causes += _port(f"spec.ports[{index}]", port, names, triples, needs_name=len(ports) > 1)
        node_port = port.get("nodePort")
        if node_port and spec.get("type") == "ClusterIP":
            why = "may not be used when `type` is 'ClusterIP'"
            causes.append(fields.not_allowed(f"spec.ports[{index}].nodePort", why))
        elif node_port and node_port not in service_addresses.NODE_PORTS:
            why = "provided port is not in the valid range. The range of valid ports is 30000-32767"
            causes.append(fields.bad(f"spec.ports[{index}].nodePort", node_port, why))
    return causes


def _port(
    where: str, port: Mapping[str, Any], names: set[str], pairs_seen: set[tuple[str, int]], *, needs_name: bool
) -> list[Cause]:
    causes: list[Cause] = []
    name = port.get("name") or ""
    if name:
        causes += fields.label_name(f"{where}.name", name)
        if name in names:
            causes.append(fields.duplicate(f"{where}.name", name))
        names.add(name)
    elif needs_name:
        causes.append(fields.required(f"{where}.name"))
    number = port.get("port") or 0
    causes += fields.port_number(f"{where}.port", number)
    causes += fields.one_of(f"{where}.protocol", port.get("protocol"), ("SCTP", "TCP", "UDP"), needed=True)
    target = port.get("targetPort")
    if isinstance(target, int):
        causes += fields.port_number(f"{where}.targetPort", target)
    elif isinstance(target, str):
        causes += fields.port_name(f"{where}.targetPort", target)
    pair = (port.get("protocol") or "TCP", number)
    if pair in pairs_seen:
        causes.append(fields.duplicate(where, f"{pair[0]}/{pair[1]}"))
    pairs_seen.add(pair)
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    before, after = at(old, "spec", "clusterIP"), at(new, "spec", "clusterIP")
    stays = at(new, "spec", "type") != "ExternalName" and at(old, "spec", "type") != "ExternalName"
    if stays and before and after != before:
        return [fields.bad("spec.clusterIPs[0]", after, "may not change once set")]
    return []


def _ports_text(document: Mapping[str, Any], age: Any) -> str:
    texts = []
    for port in at(document, "spec", "ports") or ():
        middle = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port.get('port')}{middle}/{port.get('protocol', 'TCP')}")
    return ",".join(texts) or NONE


def _external(document: Mapping[str, Any], age: Any) -> str:
    spec = document["spec"]
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName"))
    addresses = list(spec.get("externalIPs") or ())
    addresses += [entry.get("ip", "") for entry in at(document, "status", "loadBalancer", "ingress") or ()]
    if addresses:
        return ",".join(addresses)
    return "<pending>" if spec.get("type") == "LoadBalancer" else NONE


KIND: Final = Kind(
    "Service",
    "services",
    key="services/specs",
    short_names=("svc",),
    categories=("all",),
    subresources=(STATUS_AND_METADATA,),
    keeper="endpoint",
    rank=10,
    prepare=_prepare,
    defaults=_defaults,
    admit=_admit,
    admit_update=_admit_update,
    validate=_validate,
    validate_update=_validate_update,
    names="service",
    returned_when_deleted=True,
    columns=(
        NAME,
        Column("Type", "string", "", lambda doc, age: at(doc, "spec", "type"), source="core_v1.ServiceSpec#type"),
        Column(
            "Cluster-IP",
            "string",
            "",
            lambda doc, age: at(doc, "spec", "clusterIP") or NONE,
            source="core_v1.ServiceSpec#clusterIP",
        ),
        Column("External-IP", "string", "", _external, source="core_v1.ServiceSpec#externalIPs"),
        Column("Port(s)", "string", "", _ports_text, source="core_v1.ServiceSpec#ports"),
        AGE,
        Column(
            "Selector",
            "string",
            "",
            lambda doc, age: pairs(at(doc, "spec", "selector")),
            1,
            source="core_v1.ServiceSpec#selector",
        ),
    ),
    selectable={
        "spec.clusterIP": lambda doc: at(doc, "spec", "clusterIP") or "",
        "spec.type": lambda doc: at(doc, "spec", "type") or "",
    },
    page={"spec": {"type": True, "clusterIP": True, "selector": True, "ports": True}},
)
