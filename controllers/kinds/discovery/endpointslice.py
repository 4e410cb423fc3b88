"""EndpointSlices: parts of the addresses behind a Service, each with its conditions.

Source: pkg/apis/discovery (defaults, validation), pkg/registry/discovery/endpointslice, pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, text_of
from controllers.registry import addresses, fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause

ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_OWN_CONTROLLERS: Final = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")
_ADDRESSES_MAX: Final = 100
_PORTS_MAX: Final = 20_000
_ENDPOINTS_MAX: Final = 1_000
_HINTS_MAX: Final = 8
_SHOWN_MAX: Final = 3
"""Addresses and ports that a row of a table shows."""


def _defaults(document: dict[str, Any]) -> None:
    document["endpoints"] = document.get("endpoints") or None
    document.setdefault("ports", None)
    for endpoint in document["endpoints"] or ():
        endpoint.setdefault("conditions", {})
    for port in document["ports"] or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def _validate(document: dict[str, Any]) -> list[Cause]:
    return _head(document) + _endpoints(document.get("endpoints") or (), document.get("addressType") or "")


def _head(document: Mapping[str, Any]) -> list[Cause]:
    causes = fields.one_of("addressType", document.get("addressType") or "", ADDRESS_TYPES, needed=True)
    return causes + _ports(document.get("ports") or ())


def _ports(ports: Any) -> list[Cause]:
    if len(ports) > _PORTS_MAX:
        return [fields.too_many("ports", len(ports), _PORTS_MAX)]
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        where, name = f"ports[{index}]", port["name"]
        if name:
            causes += fields.label_name(f"{where}.name", name)
        if name in seen:
            causes.append(fields.duplicate(f"{where}.name", name))
        seen.add(name)
        if port["protocol"] not in _PROTOCOLS:
            causes.append(fields.unsupported(f"{where}.protocol", port["protocol"], _PROTOCOLS))
        if "appProtocol" in port:
            causes += fields.qualified_name(f"{where}.appProtocol", port["appProtocol"])
    return causes


def _endpoints(endpoints: Any, of: str) -> list[Cause]:
    if len(endpoints) > _ENDPOINTS_MAX:
        return [fields.too_many("endpoints", len(endpoints), _ENDPOINTS_MAX)]
    causes: list[Cause] = []
    for index, endpoint in enumerate(endpoints):
        where = f"endpoints[{index}]"
        causes += _addresses(f"{where}.addresses", endpoint.get("addresses") or (), of)
        if "nodeName" in endpoint:
            causes += fields.subdomain(f"{where}.nodeName", endpoint["nodeName"])
        if "hostname" in endpoint:
            causes += fields.label_name(f"{where}.hostname", endpoint["hostname"])
        causes += _hints(f"{where}.hints", endpoint.get("hints") or {})
    return causes


def _addresses(where: str, listed: Any, of: str) -> list[Cause]:
    causes: list[Cause] = []
    if not listed:
        causes.append(fields.required(where, "must contain at least 1 address"))
    elif len(listed) > _ADDRESSES_MAX:
        causes.append(fields.too_many(where, len(listed), _ADDRESSES_MAX))
    for index, text in enumerate(listed):
        field = f"{where}[{index}]"
        if of == "FQDN":
            causes += _full_name(field, text)
        elif of in ("IPv4", "IPv6"):
            causes += _address(where, field, text, of)
    return causes


def _address(where: str, field: str, text: str, of: str) -> list[Cause]:
    wrong = addresses.legacy(field, text) if of == "IPv4" else addresses.strict(field, text)
    if wrong:
        return wrong
    parsed = addresses.parsed(text)
    is_four = parsed is not None and isinstance(addresses.plain(parsed), IPv4Address)
    # Upstream names the list here, not its item.
    causes = [] if is_four == (of == "IPv4") else [fields.bad(where, text, f"must be an {of} address")]
    return causes + addresses.of_endpoint(field, text)


def _full_name(field: str, text: str) -> list[Cause]:
    if not text:
        return [fields.required(field)]
    text = text.removesuffix(".")
    causes = fields.subdomain(field, text)
    if causes:
        return causes
    if "." not in text:
        return [fields.bad(field, text, "should be a domain with at least two segments separated by dots")]
    return [cause for label in text.split(".") for cause in fields.label_name(field, label)]


def _hints(where: str, hints: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key, check in (("forZones", fields.label_value), ("forNodes", fields.subdomain)):
        listed = hints.get(key) or ()
        if len(listed) > _HINTS_MAX:
            return [*causes, fields.too_many(f"{where}.{key}", len(listed), _HINTS_MAX)]
        seen: set[str] = set()
        for index, hint in enumerate(listed):
            field, name = f"{where}.{key}[{index}].name", hint.get("name") or ""
            if name in seen:
                causes.append(fields.duplicate(field, name))
            seen.add(name)
            causes += check(field, name)
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    kept = (new.get("endpoints") or ()) == (old.get("endpoints") or ())
    causes = _head(new) if kept else _validate(new)
    return causes + fields.immutable("addressType", new.get("addressType") or "", old.get("addressType") or "")


def _is_ours(document: Mapping[str, Any]) -> bool:
    return (document["metadata"].get("labels") or {}).get(MANAGED_BY) in _OWN_CONTROLLERS


def _warns_made(document: Mapping[str, Any]) -> list[str]:
    told = document.get("addressType") == "FQDN" and not _is_ours(document)
    return ["spec.addressType: FQDN endpoints are deprecated"] if told else []


def _warns(document: Mapping[str, Any]) -> list[str]:
    if document.get("addressType") == "FQDN" or _is_ours(document):
        return []
    return [
        text
        for index, endpoint in enumerate(document.get("endpoints") or ())
        for position, address in enumerate(endpoint.get("addresses") or ())
        for text in addresses.warnings(f"endpoints[{index}].addresses[{position}]", address)
    ]


def _first(words: Iterable[str]) -> str:
    """Return the first few words and how many more there are."""
    listed = list(words)
    text = ",".join(listed[:_SHOWN_MAX])
    return f"{text} + {len(listed) - _SHOWN_MAX} more..." if len(listed) > _SHOWN_MAX else text or "<unset>"


def _port_cell(document: Mapping[str, Any], age: Any) -> str:
    return _first(str(port.get("port", port.get("name", "*"))) for port in document.get("ports") or ())


def _endpoint_cell(document: Mapping[str, Any], age: Any) -> str:
    endpoints = document.get("endpoints") or ()
    return _first(address for endpoint in endpoints for address in endpoint.get("addresses") or ())


_STRUCT: Final = "discovery_v1.EndpointSlice"

KIND: Final = Kind(
    "EndpointSlice",
    "endpointslices",
    group="discovery.k8s.io",
    rank=31,
    generation_counts_off=True,
    generation=True,
    generation_counts_labels=True,
    whole_rules=True,
    students=False,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    ratchets=True,
    warns=_warns,
    warns_made=_warns_made,
    metadata_looks="w",
    columns=(
        NAME,
        # The server describes these two in the words of v1beta1, which the models do not carry.
        Column(
            "AddressType",
            "string",
            "addressType specifies the type of address carried by this EndpointSlice. All addresses in this slice must "
            "be the same type. This field is immutable after creation. The following address types are currently "
            "supported: * IPv4: Represents an IPv4 Address. * IPv6: Represents an IPv6 Address. * FQDN: Represents a "
            "Fully Qualified Domain Name.",
            text_of("addressType"),
        ),
        Column(
            "Ports",
            "string",
            "ports specifies the list of network ports exposed by each endpoint in this slice. Each port must have a "
            "unique name. When ports is empty, it indicates that there are no defined ports. When a port is defined "
            'with a nil port value, it indicates "all ports". Each slice may include a maximum of 100 ports.',
            _port_cell,
        ),
        Column("Endpoints", "string", "The first addresses.", _endpoint_cell, source=f"{_STRUCT}#endpoints"),
        AGE,
    ),
)
