"""Addresses with their ports, packed as Endpoints have them.

Source: k8s.io/kubernetes/pkg/api/v1/endpoints/util.go, pkg/controller/endpoint (truncateEndpoints).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import md5
from typing import Any, Final

import msgspec

from controllers.kit.hashing import printed
from scheduler_core.api.document import Document

MOST: Final = 1_000
"""Addresses that one Endpoints object takes (maxCapacity)."""

_NO_PORT: Final = b""


def packed(entries: Iterable[tuple[Document, Document | None, bool]]) -> list[Document]:
    """Return subsets: ports that lead to the same addresses stand together.

    Args:
        entries: (address, port or None, whether it is ready), one a pod and port.
    """
    addresses: dict[tuple[str, str], Document] = {}
    ports: dict[bytes, Document | None] = {}
    led: dict[bytes, dict[tuple[str, str], bool]] = {}
    for address, port, ready in entries:
        key = _key(address)
        addresses.setdefault(key, address)
        port_key = _NO_PORT if port is None else msgspec.json.encode(port, order="sorted")
        ports[port_key] = port
        known = led.setdefault(port_key, {})
        known[key] = ready and known.get(key, True)
    together: dict[tuple[tuple[tuple[str, str], bool], ...], list[Document]] = {}
    for port_key, known in led.items():
        port = ports[port_key]
        together.setdefault(tuple(sorted(known.items())), []).extend([] if port is None else [port])
    subsets = [_subset(addresses, group, listed) for group, listed in together.items()]
    return sorted(subsets, key=lambda one: msgspec.json.encode(one.get("ports"), order="sorted"))


def _subset(
    addresses: Mapping[tuple[str, str], Document],
    group: tuple[tuple[tuple[str, str], bool], ...],
    ports: list[Document],
) -> Document:
    ready = [addresses[key] for key, is_ready in group if is_ready]
    others = [addresses[key] for key, is_ready in group if not is_ready]
    subset: Document = {"addresses": ready} if ready else {}
    if others:
        subset["notReadyAddresses"] = others
    if ports:
        subset["ports"] = sorted(ports, key=_hash_of) if len(ports) > 1 else ports
    return subset


def _hash_of(port: Mapping[str, Any]) -> bytes:
    """Return by what upstream orders the ports of a subset (portsByHash)."""
    return md5(printed("v1.EndpointPort", port).encode(), usedforsecurity=False).digest()


def _key(address: Mapping[str, Any]) -> tuple[str, str]:
    return (address["ip"], (address.get("targetRef") or {}).get("uid") or "")


def count(subsets: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many addresses are ready, and how many are not."""
    listed = list(subsets)
    ready = sum(len(one.get("addresses") or ()) for one in listed)
    return ready, sum(len(one.get("notReadyAddresses") or ()) for one in listed)


def truncated(subsets: list[Document]) -> tuple[list[Document], bool]:
    """Return at most `MOST` addresses, ready ones first and each subset its share; and whether any were left out."""
    ready, others = count(subsets)
    if ready + others <= MOST:
        return subsets, False
    field = "addresses" if ready > MOST else "notReadyAddresses"
    total = ready if ready > MOST else others
    room = most = MOST if ready > MOST else MOST - ready
    cut: list[Document] = []
    for subset in subsets:
        listed = subset.get(field) or []
        share = min(room, -(-len(listed) * most // total) if total else 0)
        kept = {key: value for key, value in subset.items() if ready <= MOST or key != "notReadyAddresses"}
        kept[field] = listed[:share]
        room -= len(kept[field])
        cut.append({key: value for key, value in kept.items() if value})
    return cut, True
