"""NetworkPolicies: which pods may talk to which.

Source: pkg/apis/networking (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, selector_words
from controllers.registry import addresses, fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_TYPES: Final = ("Ingress", "Egress")
_DIRECTIONS: Final = (("ingress", "from"), ("egress", "to"))


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("podSelector", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for direction, _ in _DIRECTIONS:
        for rule in spec.get(direction) or ():
            for port in rule.get("ports") or ():
                port.setdefault("protocol", "TCP")


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = fields.label_selector("spec.podSelector", spec["podSelector"])
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            where = f"spec.{direction}[{index}]"
            for position, port in enumerate(rule.get("ports") or ()):
                causes += _port(f"{where}.ports[{position}]", port)
            for position, peer in enumerate(rule.get(peers) or ()):
                causes += _peer(f"{where}.{peers}[{position}]", peer)
    types = spec["policyTypes"]
    if len(types) > len(_TYPES):
        return [*causes, fields.bad("spec.policyTypes", types, "may not specify more than two policyTypes")]
    for index, word in enumerate(types):
        if word not in _TYPES:
            causes.append(fields.unsupported(f"spec.policyTypes[{index}]", word, _TYPES, ordered=False))
    return causes


def _port(where: str, port: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    number, end = port.get("port"), port.get("endPort")
    if port["protocol"] not in _PROTOCOLS:
        causes.append(fields.unsupported(f"{where}.protocol", port["protocol"], _PROTOCOLS, ordered=False))
    if isinstance(number, int):
        causes += fields.port_number(f"{where}.port", number)
        if end is not None:
            if end < number:
                causes.append(fields.bad(f"{where}.endPort", number, "must be greater than or equal to `port`"))
            causes += fields.port_number(f"{where}.endPort", end)
    elif end is not None:
        lack = "specified" if number is None else "numeric"
        why = f"may not be specified when `port` is {'not ' if number is None else 'non-'}{lack}"
        causes.append(fields.bad(f"{where}.endPort", end, why))
    if isinstance(number, str):
        causes += fields.port_name(f"{where}.port", number)
    return causes


def _peer(where: str, peer: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for key in ("podSelector", "namespaceSelector"):
        causes += fields.label_selector(f"{where}.{key}", peer.get(key))
    if "ipBlock" in peer:
        causes += _block(f"{where}.ipBlock", peer["ipBlock"])
    named = sum(key in peer for key in ("podSelector", "namespaceSelector", "ipBlock"))
    if not named:
        causes.append(fields.required(where, "must specify a peer"))
    elif named > 1 and "ipBlock" in peer:
        causes.append(fields.not_allowed(where, "may not specify both ipBlock and another peer"))
    return causes


def _block(where: str, block: Mapping[str, Any]) -> list[Cause]:
    text = block.get("cidr") or ""
    if not text:
        return [fields.required(f"{where}.cidr")]
    causes = addresses.block(f"{where}.cidr", text)
    whole = addresses.network(text)
    if whole is None:
        return causes
    for index, inner in enumerate(block.get("except") or ()):
        field = f"{where}.except[{index}]"
        causes += addresses.block(field, inner)
        part = addresses.network(inner)
        if part is None:
            continue
        inside = part.version == whole.version and part.network_address in whole and part.prefixlen > whole.prefixlen
        if not inside:
            causes.append(fields.bad(field, inner, "must be a strict subset of `cidr`"))
    return causes


def _warns(document: Mapping[str, Any]) -> list[str]:
    """Tell of ranges of addresses that say more than they mean (networkPolicyWarnings)."""
    told: list[str] = []
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(document["spec"].get(direction) or ()):
            for position, peer in enumerate(rule.get(peers) or ()):
                block = peer.get("ipBlock") or {}
                field = f"spec.{direction}[{index}].{peers}[{position}].ipBlock"
                told += addresses.block_warnings(f"{field}.cidr", block.get("cidr") or "")
                for place, inner in enumerate(block.get("except") or ()):
                    told += addresses.block_warnings(f"{field}.except[{place}]", inner)
    return told


KIND: Final = Kind(
    "NetworkPolicy",
    "networkpolicies",
    group="networking.k8s.io",
    metadata_looks="wc",
    short_names=("netpol",),
    rank=32,
    generation=True,
    generation_counts_empty=True,
    whole_rules=True,
    defaults=_defaults,
    rule_checks=2,
    warns=_warns,
    validate=_validate,
    columns=(
        NAME,
        Column(
            "Pod-Selector",
            "string",
            "Selects the pods to which this NetworkPolicy object applies.  The array of ingress rules is applied to "
            "any pods selected by this field. Multiple network policies can select the same set of pods.  In this "
            "case, the ingress rules for each are combined additively. This field is NOT optional and follows standard "
            "label selector semantics. An empty podSelector matches all pods in this namespace.",
            lambda doc, age: selector_words(at(doc, "spec", "podSelector") or {}),
        ),
        AGE,
    ),
)
