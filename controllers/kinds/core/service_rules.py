"""Rules of Services.

Source: pkg/apis/core/validation (validateService, ValidateServiceClusterIPsRelatedFields), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.registry import addresses, fields, internal
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_POLICIES: Final = ("Cluster", "Local")
_AFFINITY_SECONDS_MAX: Final = 86400
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_ONLY_BALANCED: Final = "may only be used when `type` is 'LoadBalancer'"

Spec = Mapping[str, Any]


def is_headless(spec: Spec) -> bool:
    """Return whether a Service has no address on purpose."""
    return spec.get("clusterIPs") == ["None"]


def validate(document: Mapping[str, Any]) -> list[Cause]:
    """Check a Service, in upstream's order."""
    spec, annotations = document["spec"], document["metadata"].get("annotations") or {}
    kind, ports = spec.get("type") or "", spec.get("ports") or ()
    causes: list[Cause] = []
    if _MODE in annotations and _HINTS in annotations and annotations[_MODE] != annotations[_HINTS]:
        why = f"must match annotations[{_HINTS}] when both are specified"
        causes.append(fields.bad(f"metadata.annotations[{_MODE}]", annotations[_MODE], why))
    if not ports and not is_headless(spec) and kind != "ExternalName":
        causes.append(fields.required("spec.ports"))
    causes += _of_type(spec, kind)
    names: set[str] = set()
    for index, port in enumerate(ports):
        causes += _port(f"spec.ports[{index}]", port, names, needs_name=len(ports) > 1)
    causes += fields.labels("spec.selector", spec.get("selector"))
    causes += _affinity(spec)
    causes += [] if kind == "ExternalName" else cluster_addresses(spec)
    for index, text in enumerate(spec.get("externalIPs") or ()):
        where = f"spec.externalIPs[{index}]"
        causes += addresses.legacy(where, text) or addresses.of_endpoint(where, text)
    causes += fields.one_of("spec.type", kind, _TYPES, needed=True)
    causes += _numbers(ports, kind)
    causes += _source_ranges(spec, kind, annotations)
    return causes + _balancer(spec, kind) + _traffic(spec, kind)


def _of_type(spec: Spec, kind: str) -> list[Cause]:
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        why = f"may not be set to 'None' for {kind} services"
        return [fields.bad("spec.clusterIPs[0]", "None", why)]
    if kind != "ExternalName":
        return []
    why = "may not be set for ExternalName services"
    # Where only `clusterIP` was changed with the type, upstream lets it stand.
    held = ["clusterIPs"] if spec.get("clusterIPs") else []
    held += ["ipFamilies"] if spec.get("ipFamilies") else []
    held += ["ipFamilyPolicy"] if spec.get("ipFamilyPolicy") is not None else []
    name = (spec.get("externalName") or "").removesuffix(".")
    wrong = fields.subdomain("spec.externalName", name) if name else [fields.required("spec.externalName")]
    return [fields.not_allowed(f"spec.{key}", why) for key in held] + wrong


def _port(where: str, port: Mapping[str, Any], names: set[str], *, needs_name: bool) -> list[Cause]:
    causes: list[Cause] = []
    name = port.get("name") or ""
    if name:
        causes += fields.label_name(f"{where}.name", name)
        causes += [fields.duplicate(f"{where}.name", name)] if name in names else []
        names.add(name)
    elif needs_name:
        causes.append(fields.required(f"{where}.name"))
    causes += fields.port_number(f"{where}.port", port.get("port") or 0)
    causes += fields.one_of(f"{where}.protocol", port.get("protocol"), _PROTOCOLS, needed=True)
    causes += fields.port_or_name(f"{where}.targetPort", port.get("targetPort"))
    protocol = port.get("appProtocol")
    return causes + ([] if protocol is None else fields.qualified_name(f"{where}.appProtocol", protocol))


def _affinity(spec: Spec) -> list[Cause]:
    told: str = spec.get("sessionAffinity") or ""
    config: Any = spec.get("sessionAffinityConfig")
    causes = fields.one_of("spec.sessionAffinity", told, ("ClientIP", "None"), needed=True)
    where = "spec.sessionAffinityConfig"
    if told == "None" and config is not None:
        causes.append(fields.not_allowed(where, "must not be set when session affinity is None"))
    if told != "ClientIP":
        return causes
    why = "when session affinity type is ClientIP"
    for key in ("", "clientIP", "timeoutSeconds"):
        where, config = (f"{where}.{key}", (config or {}).get(key)) if key else (where, config)
        if config is None:
            return [*causes, fields.required(where, why)]
    if config is not None and not 0 < config <= _AFFINITY_SECONDS_MAX:
        why = f"must be greater than 0 and less than {_AFFINITY_SECONDS_MAX}"
        causes.append(fields.bad(where, config, why))
    return causes


def cluster_addresses(spec: Spec) -> list[Cause]:
    """Check the addresses of a Service, and of which families they are (ValidateServiceClusterIPsRelatedFields)."""
    first, listed = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    field = "spec.clusterIPs"
    causes: list[Cause] = []
    if first and not listed:
        causes.append(fields.required(field))
    elif first and listed[0] != first:
        causes.append(fields.bad(field, listed, "first value must match `clusterIP`"))
    elif listed and not first:
        causes.append(fields.bad(field, listed, "must be empty when `clusterIP` is not specified"))
    families = spec.get("ipFamilies") or []
    for index, family in enumerate(families):
        where = f"spec.ipFamilies[{index}]"
        causes += fields.set_one_of(where, family, ("IPv4", "IPv6"))
        causes += [fields.duplicate(where, family)] if family in families[:index] else []
    policies = ("PreferDualStack", "RequireDualStack", "SingleStack")
    causes += fields.set_one_of("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), policies)
    wrong: list[Cause] = []
    for index, text in enumerate(listed):
        if index == 0 and text == "None":
            if len(listed) > 1:
                wrong.append(fields.bad(field, listed, "'None' must be the first and only value"))
            continue
        wrong += addresses.legacy(f"{field}[{index}]", text)
    causes += wrong
    if len(listed) > 2:
        causes.append(fields.bad(field, listed, "may only hold up to 2 values"))
    return causes if wrong else causes + _versions(field, listed, families)


def _versions(field: str, listed: Sequence[str], families: Sequence[str]) -> list[Cause]:
    if list(listed) == ["None"]:
        return []
    versions = [addresses.plain(found).version for text in listed if (found := addresses.parsed(text)) is not None]
    causes: list[Cause] = []
    if len(versions) > 1 and len(set(versions)) != 2:
        causes.append(fields.bad(field, listed, "may specify no more than one IP for each IP family"))
    for index, (text, version, family) in enumerate(zip(listed, versions, families, strict=False)):
        if family in ("IPv4", "IPv6") and family != f"IPv{version}":
            why = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            causes.append(fields.bad(f"{field}[{index}]", text, why))
    return causes


def _numbers(ports: Sequence[Mapping[str, Any]], kind: str) -> list[Cause]:
    causes: list[Cause] = []
    if kind == "ClusterIP":
        why = "may not be used when `type` is 'ClusterIP'"
        causes += [
            fields.not_allowed(f"spec.ports[{index}].nodePort", why)
            for index, port in enumerate(ports)
            if port.get("nodePort")
        ]
    nodes: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        pair = (port.get("protocol") or "", port.get("nodePort") or 0)
        if pair[1] and pair in nodes:
            causes.append(fields.duplicate(f"spec.ports[{index}].nodePort", pair[1]))
        nodes.add(pair)
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        pair = (port.get("protocol") or "", port.get("port") or 0)
        if pair in seen:
            shown = internal.shown({"protocol": pair[0], "port": pair[1]}, "core.ServicePort")
            causes.append(fields.duplicate(f"spec.ports[{index}]", shown))
        seen.add(pair)
    return causes


def _source_ranges(spec: Spec, kind: str, annotations: Mapping[str, str]) -> list[Cause]:
    listed = spec.get("loadBalancerSourceRanges") or ()
    if listed:
        where = "spec.LoadBalancerSourceRanges"
        causes = [] if kind == "LoadBalancer" else [fields.not_allowed(where, _ONLY_BALANCED)]
        for index, text in enumerate(listed):
            causes += addresses.block(f"{where}[{index}]", text.strip())
        return causes
    if _RANGES not in annotations:
        return []
    where = f"metadata.annotations[{_RANGES}]"
    causes = [] if kind == "LoadBalancer" else [fields.not_allowed(where, _ONLY_BALANCED)]
    told = annotations[_RANGES].strip()
    for text in told.split(",") if told else ():
        causes += addresses.block(where, text.strip())
    return causes


def _balancer(spec: Spec, kind: str) -> list[Cause]:
    causes: list[Cause] = []
    ports = spec.get("allocateLoadBalancerNodePorts")
    if ports is not None and kind != "LoadBalancer":
        causes.append(fields.not_allowed("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCED))
    if ports is None and kind == "LoadBalancer":
        causes.append(fields.required("allocateLoadBalancerNodePorts"))
    return causes + _class(spec, kind)


def _class(spec: Spec, kind: str) -> list[Cause]:
    name = spec.get("loadBalancerClass")
    if name is None:
        return []
    if kind != "LoadBalancer":
        return [fields.not_allowed("spec.loadBalancerClass", _ONLY_BALANCED)]
    return fields.qualified_name("spec.loadBalancerClass", name)


def _traffic(spec: Spec, kind: str) -> list[Cause]:
    policy, field = spec.get("externalTrafficPolicy") or "", "spec.externalTrafficPolicy"
    outside = kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    causes: list[Cause] = []
    if outside:
        causes += fields.one_of(field, policy, _POLICIES, needed=True)
    elif policy:
        causes.append(fields.bad(field, policy, "may only be set for externally-accessible services"))
    number, field = spec.get("healthCheckNodePort") or 0, "spec.healthCheckNodePort"
    if kind == "LoadBalancer" and policy == "Local":
        causes += fields.port_number(field, number) if number else [fields.required(field)]
    elif number:
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        causes.append(fields.bad(field, number, why))
    inside, field = spec.get("internalTrafficPolicy"), "spec.internalTrafficPolicy"
    if inside is None and kind in ("ClusterIP", "LoadBalancer", "NodePort"):
        causes.append(fields.required(field))
    causes += fields.set_one_of(field, inside, _POLICIES)
    told = spec.get("trafficDistribution")
    return causes + fields.set_one_of("spec.trafficDistribution", told, _DISTRIBUTIONS, ordered=False)


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check what a change of a Service keeps: its addresses, their families, its class."""
    spec, before = new["spec"], old.get("spec") or {}
    causes: list[Cause] = []
    if spec.get("type") != "ExternalName" and (wrong := cluster_addresses(spec)):
        # Upstream looks at these before all else, and tells of nothing more.
        return wrong
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        causes += _kept(spec, before, "clusterIPs", "primary clusterIP can not be unset", "secondary clusterIP")
        if not is_headless(spec) and not is_headless(before):
            causes += _kept(spec, before, "ipFamilies", "primary ipFamily can not be unset", "secondary ipFamily")
    if spec.get("type") == before.get("type") == "LoadBalancer":
        now, was = spec.get("loadBalancerClass"), before.get("loadBalancerClass")
        causes += [] if now == was else [fields.bad("spec.loadBalancerClass", now, "may not change once set")]
        checked = [one.get("externalTrafficPolicy") == "Local" for one in (spec, before)]
        if all(checked) and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
            causes.append(fields.not_allowed("spec.healthCheckNodePort", "field is immutable"))
    # Upstream looks at the class once more with each change.
    return causes + _class(spec, spec.get("type") or "") + validate(new)


def _kept(spec: Spec, before: Spec, key: str, unset: str, released: str) -> list[Cause]:
    """Check a list of which the second entry alone may come and go."""
    now, was, field = spec.get(key) or [], before.get(key) or [], f"spec.{key}"
    if key == "clusterIPs" and is_headless(spec) and is_headless(before):
        return []
    change = "may not change once set"
    if len(now) == len(was):
        place = (lambda index: index) if key == "clusterIPs" else (lambda index: 0)
        changed = [index for index, (one, other) in enumerate(zip(now, was, strict=True)) if one != other]
        return [fields.bad(f"{field}[{place(index)}]", now, change) for index in changed]
    causes: list[Cause] = []
    if not now:
        causes.append(fields.bad(f"{field}[0]", None, unset))
    if now and was and now[0] != was[0]:
        causes.append(fields.bad(f"{field}[0]", now, change))
    if len(was) > len(now) == 1 and at(spec, "ipFamilyPolicy") != "SingleStack":
        why = f"must be set to 'SingleStack' when releasing the {released}"
        causes.append(fields.bad("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), why))
    return causes
