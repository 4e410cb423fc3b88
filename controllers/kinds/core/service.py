"""Services: an address each, and node ports where their type has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE, pairs
from controllers.kinds.core import service_addresses
from controllers.kinds.core import service_rules as rules
from controllers.kinds.core.proxying import proxy, to_service
from controllers.registry import addresses, fields
from controllers.registry.kind import Column, Kind, Lookup
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause, invalid

_WITH_PORTS: Final = ("LoadBalancer", "NodePort")
_OLD_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_HINTS: Final = "service.kubernetes.io/topology-mode"


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"loadBalancer": {}}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port", 0)
    if spec["type"] == "ExternalName":
        return
    spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer") or (spec["type"] == "ClusterIP" and spec.get("externalIPs")):
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
    _list_address(spec)
    if spec["type"] == "ExternalName":
        return []
    metadata, others = document["metadata"], lookup.list("services")
    causes = rules.cluster_addresses(spec) or service_addresses.families(spec)
    _refuse(
        document,
        causes or service_addresses.allocate(spec, metadata["uid"], others, new=True, dry_run=lookup.dry_run),
    )
    return []


def _refuse(document: Mapping[str, Any], causes: list[Cause]) -> None:
    """Refuse addresses and ports that cannot be given: that is told alone, no rule is asked any more."""
    if causes:
        raise invalid("Service", "", document["metadata"]["name"], causes)


def _drop_what_the_type_has_not(spec: dict[str, Any], before: Mapping[str, Any]) -> None:
    """Let what came with the type before go with it, where it was not changed (dropTypeDependentFields)."""
    gone = []
    if spec["type"] not in ("NodePort", "LoadBalancer") and not (
        spec["type"] == "ClusterIP" and spec.get("externalIPs")
    ):
        gone.append("externalTrafficPolicy")
    if spec["type"] != "LoadBalancer":
        gone += ["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]
    for key in gone:
        if key in spec and spec[key] == before.get(key):
            del spec[key]
    if spec["type"] not in _WITH_PORTS and before.get("type") in _WITH_PORTS and _ports(spec) == _ports(before):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)


def _ports(spec: Mapping[str, Any]) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _admit_update(new: dict[str, Any], old: Mapping[str, Any], lookup: Lookup) -> list[Cause]:
    """Keep addresses and node ports that a replacement leaves out, as long as the type still has them."""
    spec, before = child(new, "spec"), old.get("spec") or {}
    # The list follows the one address before what went with the old type is looked for (normalizeClusterIPs).
    address, listed = spec.get("clusterIP"), spec.get("clusterIPs")
    if address and address != before.get("clusterIP") and listed and listed == before.get("clusterIPs"):
        spec["clusterIPs"] = [address, *listed[1:]]
    _drop_what_the_type_has_not(spec, before)
    if spec["type"] == "ExternalName":
        for key in ("clusterIP", "clusterIPs", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(key) == before.get(key):
                spec.pop(key, None)
        return []
    _list_address(spec)
    if not spec.get("clusterIP") and before.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = before["clusterIP"], before.get("clusterIPs", [before["clusterIP"]])
    if before.get("type") == spec["type"] and before.get("ipFamilyPolicy") and "ipFamilyPolicy" not in spec:
        spec["ipFamilyPolicy"] = before["ipFamilyPolicy"]
    if spec["type"] != "ClusterIP":
        service_addresses.keep_ports(spec, before)
    _refuse(new, rules.cluster_addresses(spec) or service_addresses.families(spec))
    if spec.get("clusterIP") and spec["type"] == "ClusterIP":
        return []
    uid = new["metadata"]["uid"]
    others = [other for other in lookup.list("services") if other["metadata"]["uid"] != uid]
    # What was given back is hardly ever drawn again.
    chance = f"{uid}/{old['metadata'].get('resourceVersion', '')}"
    _refuse(new, service_addresses.allocate(spec, chance, others, new=False, dry_run=lookup.dry_run))
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
    points = at(document, "status", "loadBalancer", "ingress") or () if spec.get("type") == "LoadBalancer" else ()
    told = sorted({str(point.get("ip") or point.get("hostname") or "") for point in points} - {""})
    told += spec.get("externalIPs") or ()
    if told:
        return ",".join(told)
    if not spec.get("type"):
        return "<unknown>"
    return "<pending>" if spec["type"] == "LoadBalancer" else NONE


def _warns(document: Mapping[str, Any]) -> list[str]:
    """Return what of a Service is passed over (upstream's GetWarningsForService)."""
    spec = document["spec"]
    told = []
    if _OLD_HINTS in (document["metadata"].get("annotations") or {}):
        told.append(f"annotation {_OLD_HINTS} is deprecated, please use {_HINTS} instead")
    if spec.get("clusterIP") != "None":
        for index, text in enumerate(spec.get("clusterIPs") or ()):
            told += addresses.warnings(f"spec.clusterIPs[{index}]", text)
    if spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None":
        ignored = {
            "loadBalancerIP": spec.get("loadBalancerIP"),
            "externalIPs": spec.get("externalIPs"),
            "SessionAffinity": spec.get("sessionAffinity", "None") != "None",
        }
        told += [f"spec.{name} is ignored for headless services" for name, given in ignored.items() if given]
    for index, text in enumerate(spec.get("externalIPs") or ()):
        told += addresses.warnings(f"spec.externalIPs[{index}]", text)
    told += addresses.warnings("spec.loadBalancerIP", spec.get("loadBalancerIP") or "")
    for index, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        told += addresses.block_warnings(f"spec.loadBalancerSourceRanges[{index}]", text)
    if spec.get("type") == "ExternalName" and spec.get("externalIPs"):
        told.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec.get("type") != "ExternalName" and spec.get("externalName"):
        told.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    return told


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    """Say how the addresses of a load balancer are reached (SetDefaults_Service)."""
    child(child(document, "status"), "loadBalancer")
    if document["spec"].get("type") != "LoadBalancer":
        return
    for entry in at(document, "status", "loadBalancer", "ingress") or ():
        if entry.get("ip"):
            entry.setdefault("ipMode", "VIP")


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check a status (ValidateLoadBalancerStatus)."""
    before = at(old, "status", "loadBalancer", "ingress") or ()
    kept = {entry.get("ip") for entry in before}
    told = at(document, "status", "loadBalancer", "ingress") or ()
    if told and document["spec"].get("type") != "LoadBalancer":
        why = "may only be used when `spec.type` is 'LoadBalancer'"
        return [fields.not_allowed("status.loadBalancer.ingress", why)]
    causes: list[Cause] = []
    for index, entry in enumerate(told):
        where = f"status.loadBalancer.ingress[{index}]"
        ip, mode, host = entry.get("ip"), entry.get("ipMode"), entry.get("hostname")
        if ip and ip not in kept:
            causes += addresses.legacy(f"{where}.ip", ip)
        if mode is None and ip:
            causes.append(fields.required(f"{where}.ipMode", "must be specified when `ip` is set"))
        elif mode is not None and not ip:
            causes.append(fields.not_allowed(f"{where}.ipMode", "may not be specified when `ip` is not set"))
        elif mode is not None:
            causes += fields.one_of(f"{where}.ipMode", mode, ("Proxy", "VIP"))
        if host:
            causes += fields.subdomain(f"{where}.hostname", host)
            if addresses.parsed(host) is not None:
                causes.append(fields.bad(f"{where}.hostname", host, "must be a DNS name, not an IP address"))
    return causes


_STATUS: Final = replace(STATUS, complete=_complete_status, part_rules=_status_rules)

KIND: Final = Kind(
    "Service",
    "services",
    key="services/specs",
    short_names=("svc",),
    categories=("all",),
    subresources=(_STATUS, proxy("ServiceProxyOptions", to_service)),
    keeper="endpoint",
    rank=10,
    prepare=_prepare,
    warns=_warns,
    defaults=_defaults,
    admit=_admit,
    admit_update=_admit_update,
    validate=rules.validate,
    validate_update=rules.validate_update,
    ratchets=True,
    made_by_put=True,
    whole_rules=True,
    names="service",
    returned_when_deleted=True,
    metadata_looks="c",
    columns=(
        NAME,
        Column("Type", "string", "", lambda doc, age: at(doc, "spec", "type") or "", source="core_v1.ServiceSpec#type"),
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
    page={
        "spec": {
            "type": True,
            "clusterIP": True,
            "externalIPs": True,
            "externalName": True,
            "selector": True,
            "ports": True,
        },
        "status": {"loadBalancer": True},
    },
)
