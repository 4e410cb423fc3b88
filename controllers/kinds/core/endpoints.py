"""Endpoints: the addresses behind a Service, in sets of equal ports.

Source: pkg/apis/core (ValidateEndpoints), pkg/registry/core/endpoint, pkg/printers (formatEndpoints), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.registry import addresses, fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause

PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
_SHOWN_MAX: Final = 3
"""Addresses that a row of a table shows."""


def _defaults(document: dict[str, Any]) -> None:
    for subset in document.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")
    if not document.get("subsets"):
        document.pop("subsets", None)


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for index, subset in enumerate(document.get("subsets") or ()):
        causes += _subset(f"subsets[{index}]", subset)
    return causes


def _subset(where: str, subset: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        causes.append(fields.required(where, "must specify `addresses` or `notReadyAddresses`"))
    for field, address in _addresses(where, subset):
        causes += _address(field, address)
    ports = subset.get("ports") or ()
    for index, port in enumerate(ports):
        causes += _port(f"{where}.ports[{index}]", port, named=len(ports) > 1)
    return causes


def _addresses(where: str, subset: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in ("addresses", "notReadyAddresses"):
        for index, address in enumerate(subset.get(key) or ()):
            yield f"{where}.{key}[{index}]", address


def _address(where: str, address: Mapping[str, Any]) -> list[Cause]:
    ip = address.get("ip") or ""
    causes = addresses.legacy(f"{where}.ip", ip)
    if address.get("hostname"):
        causes += fields.label_name(f"{where}.hostname", address["hostname"])
    if "nodeName" in address:
        causes += fields.subdomain(f"{where}.nodeName", address["nodeName"])
    return causes + addresses.of_endpoint(f"{where}.ip", ip)


def _port(where: str, port: Mapping[str, Any], *, named: bool) -> list[Cause]:
    name = port.get("name") or ""
    causes = [fields.required(f"{where}.name")] if named and not name else []
    if name:
        causes += fields.label_name(f"{where}.name", name)
    causes += fields.port_number(f"{where}.port", port.get("port") or 0)
    causes += fields.one_of(f"{where}.protocol", port.get("protocol"), PROTOCOLS, needed=True)
    if "appProtocol" in port:
        causes += fields.qualified_name(f"{where}.appProtocol", port["appProtocol"])
    return causes


def _warns(document: Mapping[str, Any]) -> list[str]:
    if (document["metadata"].get("labels") or {}).get(MANAGED_BY) == "endpoint-controller":
        return []
    return [
        text
        for index, subset in enumerate(document.get("subsets") or ())
        for field, address in _addresses(f"subsets[{index}]", subset)
        for text in addresses.warnings(f"{field}.ip", address.get("ip") or "")
    ]


def _shown(document: Mapping[str, Any], age: Any) -> str:
    subsets = document.get("subsets") or ()
    if not subsets:
        return NONE
    listed = []
    for subset in subsets:
        ips = [str(address.get("ip", "")) for address in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        listed += [_joined(ip, port.get("port", 0)) for port in ports for ip in ips] if ports else ips
    text = ",".join(listed[:_SHOWN_MAX])
    return f"{text} + {len(listed) - _SHOWN_MAX} more..." if len(listed) > _SHOWN_MAX else text


def _joined(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


KIND: Final = Kind(
    "Endpoints",
    "endpoints",
    key="services/endpoints",
    singular="endpoints",
    short_names=("ep",),
    rank=31,
    deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    made_by_put=True,
    whole_rules=True,
    students=False,
    defaults=_defaults,
    validate=_validate,
    warns=_warns,
    columns=(
        NAME,
        Column("Endpoints", "string", "The first addresses.", _shown, source="core_v1.Endpoints#subsets"),
        AGE,
    ),
)
